/* Route controller under random findings, statistics, times and pauses: a restored one continues
 * identically, a canary only adds queries, and the version changes with the treatment of lists. */
#include "base/rng.h"
#include "plan/route_controller.h"
#include "tests/check.h"
#include "tests/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 3, WORLDS = 30, TURNS = 1500, MINUTE = 60000, BUCKETS = 6 };
static const int BUCKET[BUCKETS] = {0, 499, 500, 2400, 6000, 9999};

struct side {
    struct ek_controller *control;
    struct ek_buf told; /* decisions, one byte each */
};

struct world {
    struct ek_rng r;
    struct ek_manifest *manifest;
    struct ek_rules *rules;
    struct side through, stopped;
    struct ek_rollout_stats figures;
    int64_t now;
    uint64_t query;
    int changes, steps, loads;
};

static int dimension_of(void *context, int cell)
{
    (void)context;
    return cell ? 0 : -1;
}

static int decided(void *context, const struct ek_decision_record *d)
{
    const uint8_t what = (uint8_t)d->kind;
    return ek_buf_add(&((struct side *)context)->told, &what, 1);
}

static struct world *the_world; /* source of the statistics callback */

static bool get_stats(void *context, int feature, int cell, struct ek_rollout_stats *out)
{
    (void)context;
    (void)feature;
    (void)cell;
    *out = the_world->figures;
    return true;
}

static struct ek_controller *new_control(struct world *w, struct side *side)
{
    struct ek_controller *c;
    const struct ek_controller_setup setup = {
        .manifest = w->manifest,
        .rules = w->rules,
        .means = {.model = true},
        .cells = {.dimension_of = dimension_of},
        .callbacks = {.decided = decided, .get_stats = get_stats, .context = side}};
    ck_assert_int_eq(ek_controller_new(&c, &setup, NULL), EK_OK);
    return c;
}

static void open_world(struct world *w, uint64_t seed)
{
    static const char *const rules[] = {
        "version: 1\ndefaults: {mode: canary, min_duration: 5m, max_duration: 20m, canary: "
        "{initial_percent: 5, step_percent: "
        "19, step_interval: 2m, min_lists: 50}}\n",
        "version: 1\ndefaults: {mode: enforce, min_duration: 5m}\nlimits: {max_routed_features: "
        "1}\n",
        "version: 1\ndefaults: {mode: canary}\nfeatures: {price: {mode: shadow}}\n"
        "limits: {max_routed_features: 1, on_limit: keep}\n"};
    const char *text = rules[seed % 3];
    memset(w, 0, sizeof *w);
    the_world = w;
    ek_rng_seed(&w->r, seed);
    w->manifest = stream_manifest();
    ck_assert_int_eq(ek_rules_parse(&w->rules, w->manifest, "rules", text, strlen(text), NULL),
                     EK_OK);
    ek_buf_init(&w->through.told, 0);
    ek_buf_init(&w->stopped.told, 0);
    w->through.control = new_control(w, &w->through);
    w->stopped.control = new_control(w, &w->stopped);
    w->now = 1000 * MINUTE;
}

static void close_world(struct world *w)
{
    ek_controller_free(w->through.control);
    ek_controller_free(w->stopped.control);
    ek_buf_release(&w->through.told);
    ek_buf_release(&w->stopped.told);
    ek_rules_free(w->rules);
    ek_manifest_free(w->manifest);
}

static void write(struct world *w, struct ek_controller *c, struct ek_buf *out)
{
    struct ek_serialize s = {.out = out};
    ek_buf_clear(out);
    ek_controller_desired_serialize(c, &s, w->manifest->item_count, CELLS);
    ek_controller_serialize(c, &s, w->manifest->item_count, CELLS);
    ck_assert_int_eq(s.rc, EK_OK);
}

/* Serialize the controller and continue with a restored one. */
static void stop(struct world *w)
{
    struct ek_buf state;
    ek_buf_init(&state, 0);
    write(w, w->stopped.control, &state);
    ek_controller_free(w->stopped.control);
    w->stopped.control = new_control(w, &w->stopped);
    struct ek_serialize s = {.at = state.data, .end = state.data + state.length};
    ek_controller_desired_serialize(w->stopped.control, &s, w->manifest->item_count, CELLS);
    ek_controller_serialize(w->stopped.control, &s, w->manifest->item_count, CELLS);
    ck_assert(!s.rc && s.at == s.end);
    ek_controller_restored(w->stopped.control, w->now);
    ek_buf_release(&state);
    w->loads++;
}

static struct ek_finding random_finding(struct world *w)
{
    static const enum ek_finding_state state[] = {EK_CONFIRMED, EK_UPDATED,   EK_CONFIRMED,
                                                  EK_RECOVERED, EK_DISMISSED, EK_UPDATED};
    int cell = (int)ek_rng_uniform_int(&w->r, CELLS);
    return (struct ek_finding){.state = state[ek_rng_uniform_int(&w->r, 6)],
                               .feature = (int)ek_rng_uniform_int(&w->r, 2),
                               .cell = cell,
                               .class = EK_SCALE,
                               .factor = 100,
                               .factor_low = 99,
                               .factor_high = 101,
                               .share = ek_rng_uniform(&w->r) < .1 ? .01 : 1,
                               .query_feature = -1};
}

static void random_figures(struct world *w)
{
    uint64_t tried = ek_rng_uniform_int(&w->r, 200);
    w->figures = (struct ek_rollout_stats){.compared = tried,
                                           .acted = tried,
                                           .failed = ek_rng_uniform(&w->r) < .02 ? tried / 2 : 0,
                                           .dead_rate_elsewhere = (double)NAN,
                                           .rank_change_p95 = (double)NAN,
                                           .latency_p99_ms = (double)NAN,
                                           .latency_before_ms = (double)NAN};
}

/* Actions by segment and bucket. */
struct treated {
    enum ek_action acts[CELLS][BUCKETS][8];
};

static void treat(struct world *w, struct treated *out)
{
    struct ek_treatment acts[8], would[8];
    memset(out, 0, sizeof *out);
    for (int cell = 0; cell < CELLS; cell++)
        for (int b = 0; b < BUCKETS; b++) {
            const int16_t cells[] = {0, (int16_t)(cell ? cell : -1)};
            struct ek_plan_list l = {cells, 2, BUCKET[b], true};
            struct ek_plan_routing r = {.acts = acts, .would = would};
            ek_plan_treat(ek_controller_plan(w->through.control), &l, w->manifest->routable_of_item,
                          w->manifest->routable_count, &r);
            for (int k = 0; k < w->manifest->routable_count && r.desired; k++)
                out->acts[cell][b][k] = acts[k].action;
        }
}

/* Check an entry that continues. */
static void assert_only_more(struct world *w, const struct ek_plan *was)
{
    const struct ek_plan *is = ek_controller_plan(w->through.control);
    for (int i = 0; i < is->count; i++)
        for (int j = 0; j < was->count; j++)
            if (is->entry[i].feature == was->entry[j].feature &&
                is->entry[i].cell == was->entry[j].cell) {
                ck_assert_int_ge(is->entry[i].percent, was->entry[j].percent);
                w->steps += is->entry[i].percent > was->entry[j].percent;
            }
}

static bool turn(struct world *w)
{
    struct side *const sides[] = {&w->through, &w->stopped};
    bool changed[2], found = ek_rng_uniform(&w->r) < .3;
    struct ek_finding f = random_finding(w);
    w->now += (int64_t)ek_rng_uniform_int(&w->r, 2 * MINUTE);
    w->query += ek_rng_uniform_int(&w->r, 40);
    random_figures(w);
    for (int i = 0; i < 2; i++) {
        if (found)
            ek_controller_add_finding(sides[i]->control, &f, w->now);
        ck_assert_int_eq(ek_controller_update(sides[i]->control, w->now, w->query, &changed[i]),
                         EK_OK);
    }
    ck_assert(changed[0] == changed[1] && ek_controller_reached_limit(w->through.control) ==
                                              ek_controller_reached_limit(w->stopped.control));
    return changed[0];
}

static void assert_alike(struct world *w, struct ek_buf *a, struct ek_buf *b)
{
    write(w, w->through.control, a);
    write(w, w->stopped.control, b);
    ck_assert(a->length == b->length && !memcmp(a->data, b->data, a->length));
    ck_assert(w->through.told.length == w->stopped.told.length &&
              !memcmp(w->through.told.data, w->stopped.told.data, w->through.told.length));
}

START_TEST(one_that_is_loaded_goes_on_and_versions_and_percentages_only_rise)
{
    static struct world w;
    static struct treated before, after;
    static struct ek_plan was;
    int changes = 0, steps = 0, loads = 0;
    struct ek_buf a, b;
    ek_buf_init(&a, 0);
    ek_buf_init(&b, 0);
    for (uint64_t seed = 0; seed < WORLDS; seed++) {
        open_world(&w, 7000 + seed);
        treat(&w, &before);
        for (int i = 0; i < TURNS; i++) {
            was = *ek_controller_plan(w.through.control);
            bool changed = turn(&w);
            ck_assert_uint_eq(ek_controller_plan(w.through.control)->version,
                              was.version + changed);
            treat(&w, &after);
            ck_assert(changed || !memcmp(&before, &after, sizeof before));
            before = after;
            assert_only_more(&w, &was);
            assert_alike(&w, &a, &b);
            w.changes += changed;
            if (ek_rng_uniform(&w.r) < .1)
                stop(&w);
        }
        changes += w.changes;
        steps += w.steps;
        loads += w.loads;
        close_world(&w);
    }
    ek_buf_release(&a);
    ek_buf_release(&b);
    ck_assert_msg(changes > 1000 && steps > 100 && loads > 1000, "%d %d %d", changes, steps, loads);
}
END_TEST

Suite *suite_controller(void)
{
    return ek_suite("control", one_that_is_loaded_goes_on_and_versions_and_percentages_only_rise);
}
