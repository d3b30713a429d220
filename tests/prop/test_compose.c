/* Plans composed of random rules, pins and findings equal a naive evaluation of the rules for each
 * list, and the version increases with each change. */
#include "base/rng.h"
#include "plan/plan_compose.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Segments: all traffic, arm A and B, app 1 and 2. A list has or lacks an arm and an app. */
enum { ALL, ARM_A, ARM_B, APP_1, APP_2, CELLS };
enum { FEATURES = 4, WORLDS = 300, TURNS = 40, LISTS = 9, BUCKETS = 4, UNSET = -1 };

static const int16_t CELLS_OF[LISTS][3] = {
    {ALL, ARM_A, APP_1}, {ALL, ARM_A, APP_2}, {ALL, ARM_A, -1},
    {ALL, ARM_B, APP_1}, {ALL, ARM_B, APP_2}, {ALL, ARM_B, -1},
    {ALL, -1, APP_1},    {ALL, -1, APP_2},    {ALL, -1, -1}};
static const int BUCKET[BUCKETS] = {0, 499, 500, EK_PERCENT_WHOLE - 1};
static const int ROUTABLE_OF_ITEM[FEATURES] = {0, 1, 2, 3};

struct world {
    struct ek_rng r;
    struct ek_rules rules;
    struct ek_canary canary;
    /* modes of a feature and of `defaults`, by segment (0: unsegmented); UNSET */
    int own[FEATURES][CELLS], defaults[CELLS];
    int pin[2][FEATURES][CELLS]; /* actions pinned by operators and by rules; UNSET */
    struct ek_plan desired, now, next;
    struct ek_rollouts rollouts;
    bool paused, was_limited;
    int changes, limited, told[5]; /* counts; lists by outcome */
};

/* Treatment of every list by the naive evaluation. */
struct reading {
    enum ek_action acts[LISTS][BUCKETS][FEATURES], would[LISTS][BUCKETS][FEATURES];
};

/* ---------------------------------------------------------- naive evaluation */

static bool in_cell(int list, int cell)
{
    for (int i = 0; i < 3; i++)
        if (CELLS_OF[list][i] == cell)
            return true;
    return false;
}

/* Return the most careful mode for the segments of a list, or UNSET. */
static int careful(const int *said, int list)
{
    int mode = UNSET;
    for (int cell = 1; cell < CELLS; cell++)
        if (said[cell] != UNSET && in_cell(list, cell))
            mode = mode == UNSET || said[cell] < mode ? said[cell] : mode;
    return mode;
}

static int mode_of_list(const struct world *w, int feature, int list)
{
    int mode = careful(w->own[feature], list);
    if (mode == UNSET)
        mode = w->own[feature][0];
    if (mode == UNSET)
        mode = careful(w->defaults, list);
    return mode == UNSET ? w->defaults[0] : mode;
}

static int pin_at(const struct world *w, int feature, int cell)
{
    int of_person = w->pin[0][feature][cell];
    return of_person != UNSET ? of_person : w->pin[1][feature][cell];
}

/* Return the pin of the most specific segment of a list, or UNSET. */
static int pin_of_list(const struct world *w, int feature, int list)
{
    int found = UNSET;
    for (int i = 0; i < 3; i++)
        if (CELLS_OF[list][i] >= 0 && pin_at(w, feature, CELLS_OF[list][i]) != UNSET)
            found = pin_at(w, feature, CELLS_OF[list][i]);
    return found;
}

static const struct ek_plan_entry *wanted_at(const struct world *w, int feature, int cell)
{
    for (int i = 0; i < w->desired.count; i++)
        if (w->desired.entry[i].feature == feature && w->desired.entry[i].cell == cell)
            return &w->desired.entry[i];
    return NULL;
}

/* Return whether the desired action may apply to some list: not pinned, not rolled back. */
static bool may_act(struct world *w, int feature, int cell)
{
    if (!wanted_at(w, feature, cell) || pin_at(w, feature, cell) != UNSET ||
        pin_at(w, feature, ALL) != UNSET ||
        !ek_rollout_may_act(ek_rollout_find(&w->rollouts, feature, cell)))
        return false;
    for (int list = 0; list < LISTS; list++)
        if (in_cell(list, cell) && mode_of_list(w, feature, list) >= EK_MODE_CANARY)
            return true;
    return false;
}

static int features_that_act(struct world *w)
{
    int features = 0;
    for (int f = 0; f < FEATURES; f++) {
        bool any = false;
        for (int cell = 0; cell < CELLS; cell++)
            any |= may_act(w, f, cell);
        features += any;
    }
    return features;
}

static bool is_limited(struct world *w)
{
    return features_that_act(w) > w->rules.max_routed_features;
}

/* With `keep`, return whether a feature is among the first allowed ones. */
static bool is_kept(struct world *w, int feature)
{
    int before = 0;
    bool seen[FEATURES] = {false};
    for (int i = 0; i < w->desired.count; i++) {
        const struct ek_plan_entry *e = &w->desired.entry[i];
        if (!may_act(w, e->feature, e->cell) || seen[e->feature])
            continue;
        if (e->feature == feature)
            return before < w->rules.max_routed_features;
        seen[e->feature] = true;
        before++;
    }
    return true;
}

static bool is_let(struct world *w, int feature, int cell)
{
    if (!may_act(w, feature, cell))
        return true;
    if (w->rules.on_limit == EK_LIMIT_OBSERVE)
        return !w->was_limited && !is_limited(w);
    return is_kept(w, feature);
}

/* Return the desired entry of the most specific active finding of a list, or NULL. */
static const struct ek_plan_entry *found_for(struct world *w, int feature, int list)
{
    const struct ek_plan_entry *found = NULL;
    for (int i = 0; i < 3; i++) {
        int cell = CELLS_OF[list][i];
        const struct ek_plan_entry *e = cell < 0 ? NULL : wanted_at(w, feature, cell);
        if (e && ek_rollout_may_act(ek_rollout_find(&w->rollouts, feature, cell)) &&
            is_let(w, feature, cell))
            found = e;
    }
    return found;
}

static void read_list(struct world *w, int feature, int list, struct reading *out)
{
    int pin = w->paused ? UNSET : pin_of_list(w, feature, list);
    const struct ek_plan_entry *e = w->paused ? NULL : found_for(w, feature, list);
    int mode = mode_of_list(w, feature, list);
    for (int b = 0; b < BUCKETS; b++) {
        enum ek_action acts = EK_ACT_NONE, would = EK_ACT_NONE;
        if (pin != UNSET) {
            acts = would = (enum ek_action)pin;
        } else if (e && mode != EK_MODE_OBSERVE) {
            int percent = ek_rollout_find(&w->rollouts, feature, e->cell)->percent;
            bool in = mode == EK_MODE_ENFORCE || (mode == EK_MODE_CANARY && BUCKET[b] < percent);
            would = e->treatment.action;
            acts = in ? would : EK_ACT_NONE;
        }
        out->acts[list][b][feature] = acts;
        out->would[list][b][feature] = would;
    }
}

static void read_all(struct world *w, struct reading *out)
{
    memset(out, 0, sizeof *out);
    for (int list = 0; list < LISTS; list++)
        for (int f = 0; f < FEATURES; f++)
            read_list(w, f, list, out);
}

/* ---------------------------------------------------------- composed plan */

static enum ek_mode mode_of(void *context, int feature, int cell)
{
    const struct world *w = context;
    int said = cell ? w->own[feature][cell] : UNSET;
    said = said == UNSET ? w->own[feature][0] : said;
    said = said == UNSET ? w->defaults[cell] : said;
    return (enum ek_mode)(said == UNSET ? w->defaults[0] : said);
}

static int dimension_of(void *context, int cell)
{
    (void)context;
    return cell == ALL ? -1 : cell > ARM_B;
}

static int modes_of(const struct world *w, struct ek_plan_mode *mode)
{
    int count = 0;
    for (int f = 0; f < FEATURES; f++)
        for (int cell = 1; cell < CELLS; cell++) {
            if (w->own[f][cell] != UNSET)
                mode[count++] = (struct ek_plan_mode){f, cell, (enum ek_mode)w->own[f][cell], true};
            if (w->own[f][0] == UNSET && w->defaults[cell] != UNSET)
                mode[count++] =
                    (struct ek_plan_mode){f, cell, (enum ek_mode)w->defaults[cell], false};
        }
    return count;
}

static int pins_of(const struct world *w, struct ek_pinned *pin)
{
    int count = 0;
    for (int by = 1; by >= 0; by--)
        for (int f = 0; f < FEATURES; f++)
            for (int cell = 0; cell < CELLS; cell++)
                if (w->pin[by][f][cell] != UNSET)
                    pin[count++] = (struct ek_pinned){f,
                                                      cell,
                                                      {(enum ek_action)w->pin[by][f][cell], 0},
                                                      by ? EK_BY_RULES : EK_BY_OPERATOR};
    return count;
}

static void compose(struct world *w, struct ek_composed *said)
{
    struct ek_plan_mode mode[2 * FEATURES * CELLS];
    struct ek_pinned pin[2 * FEATURES * CELLS];
    struct ek_composing c = {.rules = &w->rules,
                             .desired = &w->desired,
                             .rollouts = &w->rollouts,
                             .pin = pin,
                             .pins = pins_of(w, pin),
                             .mode = mode,
                             .modes = modes_of(w, mode),
                             .paused = w->paused,
                             .was_limited = w->was_limited,
                             .mode_of = mode_of,
                             .dimension_of = dimension_of,
                             .context = w};
    ek_plan_compose(&w->next, &w->now, &c, said);
}

/* ---------------------------------------------------------- random inputs */

static int maybe(struct ek_rng *r, double chance, int below)
{
    int value = (int)ek_rng_uniform_int(r, (uint64_t)below);
    return ek_rng_uniform(r) < chance ? value : UNSET;
}

static void open_world(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    ek_rng_seed(&w->r, seed);
    w->rules.max_routed_features = 1 + (int)ek_rng_uniform_int(&w->r, FEATURES);
    w->rules.max_routed_share = 1;
    w->rules.on_limit = ek_rng_uniform(&w->r) < .5 ? EK_LIMIT_KEEP : EK_LIMIT_OBSERVE;
    w->rules.min_duration_ms = w->rules.max_duration_ms = 1000;
    w->canary = (struct ek_canary){
        .initial_percent = 5, .step_percent = 5, .max_percent = 100, .min_lists = 1};
    for (int cell = 0; cell < CELLS; cell++) {
        w->defaults[cell] = maybe(&w->r, cell ? .2 : 1, EK_MODE_COUNT);
        for (int f = 0; f < FEATURES; f++) {
            w->own[f][cell] = maybe(&w->r, cell ? .15 : .5, EK_MODE_COUNT);
            w->pin[0][f][cell] = maybe(&w->r, .03, 3);
            w->pin[1][f][cell] = maybe(&w->r, .03, 3);
            for (int by = 0; by < 2; by++) /* none, or an active one */
                if (w->pin[by][f][cell] > 0)
                    w->pin[by][f][cell] = EK_ACT_ROUTE + w->pin[by][f][cell];
        }
    }
}

static void change_something(struct world *w)
{
    static const enum ek_action action[] = {EK_ACT_ROUTE, EK_ACT_BLANK};
    int f = (int)ek_rng_uniform_int(&w->r, FEATURES), cell = (int)ek_rng_uniform_int(&w->r, CELLS);
    double kind = ek_rng_uniform(&w->r);
    struct ek_rollout *r = ek_rollout_find(&w->rollouts, f, cell);
    if (kind < .45) {
        ek_plan_set(&w->desired, f, cell,
                    (struct ek_treatment){action[ek_rng_uniform_int(&w->r, 2)], kind}, 0);
        ek_rollout_begin(&w->rollouts, f, cell, &w->rules, &w->canary, 0);
    } else if (kind < .6) {
        ek_plan_remove(&w->desired, f, cell);
        ek_rollout_end(&w->rollouts, f, cell, 0);
    } else if (kind < .75 && r) {
        r->percent = ek_rng_uniform(&w->r) < .3 ? EK_PERCENT_WHOLE : r->percent + 1;
    } else if (kind < .82 && r) {
        r->rolled_back = r->rolled_back ? EK_GUARDRAIL_NONE : EK_GUARDRAIL_RANKS;
    } else if (kind < .88) {
        w->pin[ek_rng_uniform_int(&w->r, 2)][f][cell] = maybe(&w->r, .5, 2) == UNSET ? UNSET : 2;
    } else if (kind < .92) {
        w->paused = !w->paused;
    } else if (kind < .96) {
        w->was_limited = !w->was_limited;
    }
}

/* Check that the current plan treats each list like the naive evaluation. */
static void assert_as_read(struct world *w, const struct reading *read)
{
    struct ek_treatment acts[FEATURES], would[FEATURES];
    for (int list = 0; list < LISTS; list++)
        for (int b = 0; b < BUCKETS; b++) {
            struct ek_plan_list l = {CELLS_OF[list], 3, BUCKET[b], true};
            struct ek_plan_routing out = {.acts = acts, .would = would};
            int acted = 0, desired = 0;
            ek_plan_treat(&w->now, &l, ROUTABLE_OF_ITEM, FEATURES, &out);
            for (int f = 0; f < FEATURES; f++) {
                enum ek_action a = read->acts[list][b][f], v = read->would[list][b][f];
                ck_assert_int_eq(w->now.count ? acts[f].action : EK_ACT_NONE, a);
                ck_assert_int_eq(w->now.count ? would[f].action : EK_ACT_NONE, v);
                acted += a != EK_ACT_NONE;
                desired += v != EK_ACT_NONE;
            }
            ck_assert_int_eq(out.acted, acted);
            ck_assert_int_eq(out.desired, desired);
            ck_assert_int_eq(out.entries, desired);
            ck_assert(acted ? out.outcome == EK_LIST_CANARY || out.outcome == EK_LIST_ROUTED
                            : out.outcome != EK_LIST_CANARY && out.outcome != EK_LIST_ROUTED);
            ck_assert(w->paused == (out.outcome == EK_LIST_PAUSED));
            w->told[out.outcome]++;
        }
}

START_TEST(lists_are_treated_as_a_naive_reading_has_it_and_the_version_says_when)
{
    static struct world w;
    static struct reading before, after;
    int changes = 0, silent = 0, limited = 0, told[5] = {0};
    for (uint64_t seed = 0; seed < WORLDS; seed++) {
        open_world(&w, 9000 + seed);
        memset(&before, 0, sizeof before);
        for (int turn = 0; turn < TURNS; turn++) {
            struct ek_composed said;
            change_something(&w);
            compose(&w, &said);
            bool same = ek_plan_same(&w.next, &w.now);
            ck_assert_int_eq(said.changed, !same);
            ck_assert_uint_eq(w.next.version, w.now.version + !same);
            ck_assert_int_eq(said.limited,
                             !w.paused && is_limited(&w) ? EK_EXCEEDS_FEATURES : EK_EXCEEDS_NONE);
            ck_assert_int_eq(said.features, w.paused ? 0 : features_that_act(&w));
            w.now = w.next;
            read_all(&w, &after);
            assert_as_read(&w, &after);
            if (memcmp(&before, &after, sizeof before) != 0)
                ck_assert(said.changed);
            changes += said.changed;
            silent += !said.changed;
            limited += said.limited != EK_EXCEEDS_NONE;
            before = after;
            compose(&w, &said); /* unchanged inputs */
            ck_assert(!said.changed && ek_plan_same(&w.next, &w.now));
        }
        for (int i = 0; i < 5; i++)
            told[i] += w.told[i];
    }
    ck_assert_msg(changes > 200 && silent > 200 && limited > 200, "%d %d %d", changes, silent,
                  limited);
    for (int i = 0; i < 5; i++)
        ck_assert_msg(told[i] > 1000, "%s: %d", ek_list_outcome_name((enum ek_list_outcome)i),
                      told[i]);
}
END_TEST

Suite *suite_compose(void)
{
    return ek_suite("compose",
                    lists_are_treated_as_a_naive_reading_has_it_and_the_version_says_when);
}
