/* A limit on the affected fraction keeps the same entries as a plain walk over the lists, in any
 * query order, and add followed by remove leaves no trace. */
#include "base/rng.h"
#include "plan/plan_compose.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Segments: all traffic, four values of each of two dimensions. */
enum { VALUES = 4, CELLS = 1 + 2 * VALUES, PER_LIST = 3, FEATURES = 6, LISTS = 300, WORLDS = 400 };

struct world {
    struct ek_rng r;
    struct ek_rules rules;
    struct ek_canary canary;
    int16_t list[LISTS][PER_LIST];
    int lists;
    enum ek_mode mode[FEATURES][CELLS];
    struct ek_plan_mode words[FEATURES];
    int said;
    struct ek_plan desired, none, plan[2];
    struct ek_rollouts rollouts;
    struct ek_route_coverage *reach;
};

static enum ek_mode mode_of(void *context, int feature, int cell)
{
    return ((struct world *)context)->mode[feature][cell];
}

static int dimension_of(void *context, int cell)
{
    (void)context;
    return cell ? (cell - 1) / VALUES : -1;
}

static double share_of(void *context, const int *cell, int count)
{
    const struct world *w = context;
    int in = 0;
    for (int l = 0; l < w->lists; l++) {
        bool inside = false;
        for (int i = 0; i < count * PER_LIST; i++)
            inside |= w->list[l][i % PER_LIST] == cell[i / PER_LIST];
        in += inside;
    }
    return w->lists ? (double)in / w->lists : count > 0;
}

static int below(struct world *w, int n)
{
    return (int)ek_rng_uniform_int(&w->r, (uint64_t)n);
}

static void draw_lists(struct world *w)
{
    w->lists = below(w, 20) ? below(w, LISTS) + 1 : 0;
    for (int l = 0; l < w->lists; l++) {
        w->list[l][0] = 0;
        for (int d = 0; d < 2; d++)
            w->list[l][1 + d] = (int16_t)(below(w, 9) ? 1 + d * VALUES + below(w, VALUES) : -1);
        ek_route_coverage_list(w->reach, w->list[l], PER_LIST);
    }
}

static void draw_wanted(struct world *w)
{
    static const enum ek_mode modes[] = {EK_MODE_SHADOW, EK_MODE_CANARY, EK_MODE_CANARY,
                                         EK_MODE_ENFORCE};
    for (int n = below(w, 30); n > 0; n--) {
        int f = below(w, FEATURES), cell = below(w, CELLS);
        w->mode[f][cell] = modes[below(w, 4)];
        ek_plan_set(&w->desired, f, cell, (struct ek_treatment){EK_ACT_ROUTE, 0}, 0);
        struct ek_rollout *r = ek_rollout_begin(&w->rollouts, f, cell, &w->rules, &w->canary, 0);
        r->percent = 1 + below(w, EK_PERCENT_WHOLE);
    }
    for (int f = 0; f < FEATURES; f++)
        if (!below(w, 4))
            w->words[w->said++] =
                (struct ek_plan_mode){f, 1 + below(w, CELLS - 1), modes[below(w, 4)], true};
}

/* The limit is irrational, so that no fraction of so few lists equals it. */
static void open_world(struct world *w, uint64_t seed)
{
    struct ek_route_coverage *reach = w->reach;
    memset(w, 0, sizeof *w);
    w->reach = reach;
    ek_route_coverage_clear(reach);
    ek_rng_seed(&w->r, seed);
    w->rules.max_routed_features = 1 + below(w, FEATURES);
    w->rules.max_routed_share = ek_rng_uniform(&w->r) * .9 + 1e-7 * M_PI;
    w->rules.on_limit = EK_LIMIT_KEEP;
    w->canary = (struct ek_canary){
        .initial_percent = 5, .step_percent = 5, .max_percent = 100, .min_lists = 1};
    draw_lists(w);
    draw_wanted(w);
}

static void compose(struct world *w, bool by_lists, struct ek_composed *said)
{
    const struct ek_composing c = {.rules = &w->rules,
                                   .desired = &w->desired,
                                   .rollouts = &w->rollouts,
                                   .mode = w->words,
                                   .modes = w->said,
                                   .mode_of = mode_of,
                                   .dimension_of = dimension_of,
                                   .share_of = share_of,
                                   .reach = by_lists ? w->reach : NULL,
                                   .context = w};
    ek_plan_compose(&w->plan[by_lists], &w->none, &c, said);
}

START_TEST(a_limit_of_shares_keeps_what_a_plain_walk_keeps)
{
    struct world *w = calloc(1, sizeof *w);
    int limited = 0, kept = 0, left_out = 0;
    ck_assert_int_eq(ek_route_coverage_new(&w->reach), EK_OK);
    for (uint64_t seed = 0; seed < WORLDS; seed++) {
        struct ek_composed plain, said;
        open_world(w, 500 + seed);
        compose(w, false, &plain);
        compose(w, true, &said);
        ck_assert_int_eq(said.limited, plain.limited);
        ck_assert_int_eq(said.features, plain.features);
        ck_assert_double_eq_tol(said.share, plain.share, 1e-12);
        ck_assert_int_eq(w->plan[1].count, w->plan[0].count);
        for (int i = 0; i < w->plan[0].count; i++) {
            ck_assert_int_eq(w->plan[1].entry[i].feature, w->plan[0].entry[i].feature);
            ck_assert_int_eq(w->plan[1].entry[i].cell, w->plan[0].entry[i].cell);
            ck_assert_int_eq(w->plan[1].entry[i].percent, w->plan[0].entry[i].percent);
        }
        limited += said.limited == EK_EXCEEDS_SHARE;
        kept += said.limited == EK_EXCEEDS_SHARE && w->plan[0].count;
        left_out += said.limited == EK_EXCEEDS_SHARE && w->plan[0].count < w->desired.count;
    }
    ck_assert_msg(limited > 50 && kept > 50 && left_out > 50, "%d %d %d", limited, kept, left_out);
    ek_route_coverage_free(w->reach);
    free(w);
}
END_TEST

Suite *suite_route_coverage(void)
{
    return ek_suite("reach", a_limit_of_shares_keeps_what_a_plain_walk_keeps);
}
