/* From findings to the active plan: growing minimum durations, limits, canaries, modes of segments.
 */
#include "plan/route_controller.h"

#include "base/buf.h"
#include "base/serialize.h"
#include "tests/check.h"
#include "tests/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Segments: all traffic, arm A and B. */
enum { ALL, ARM_A, ARM_B, ARM_C, CELLS, MINUTE = 60000, TOLD_MAX = 64 };

struct scene {
    struct ek_manifest *manifest;
    struct ek_rules *rules;
    struct ek_controller *control;
    struct ek_rollout_stats figures;
    bool has_figures, has_room;
    struct ek_means means;
    int begun; /* statistics due for a reset */
    int64_t now;
    uint64_t query;
    bool changed;
    int told;
    enum ek_decision_kind did[TOLD_MAX];
    char why[TOLD_MAX][300];
    double share[CELLS];
};

static int dimension_of(void *context, int cell)
{
    (void)context;
    return cell == ALL ? -1 : 0;
}

static const char *name_of(void *context, int cell)
{
    (void)context;
    return cell == ALL ? NULL : "arm";
}

static const char *value_of(void *context, int cell)
{
    (void)context;
    return cell == ALL ? NULL : cell == ARM_A ? "A" : cell == ARM_B ? "B" : "C";
}

/* A third value gets a cell only if one is free. */
static int give(void *context, const char *dimension, const char *value)
{
    const struct scene *s = context;
    ck_assert_str_eq(dimension, "arm");
    return !strcmp(value, "A") ? ARM_A : !strcmp(value, "B") ? ARM_B : s->has_room ? ARM_C : -1;
}

static double share_of(void *context, const int *cell, int count)
{
    const struct scene *s = context;
    double share = 0;
    for (int i = 0; i < count; i++)
        share += s->share[cell[i]];
    return fmin(share, 1);
}

static int decided(void *context, const struct ek_decision_record *d)
{
    struct scene *s = context;
    ck_assert_int_lt(s->told, TOLD_MAX);
    s->did[s->told] = d->kind;
    snprintf(s->why[s->told++], sizeof s->why[0], "%s", d->reason);
    return EK_OK;
}

static bool get_stats(void *context, int feature, int cell, struct ek_rollout_stats *out)
{
    const struct scene *s = context;
    (void)feature;
    (void)cell;
    *out = s->figures;
    return s->has_figures;
}

static void reset_stats(void *context, int feature, int cell)
{
    (void)feature;
    (void)cell;
    ((struct scene *)context)->begun++;
}

static struct ek_controller *new_control(struct scene *s)
{
    struct ek_controller *c;
    const struct ek_controller_setup setup = {
        .manifest = s->manifest,
        .rules = s->rules,
        .means = s->means,
        .cells = {.dimension_of = dimension_of,
                  .name_of = name_of,
                  .value_of = value_of,
                  .assign = give,
                  .share_of = share_of,
                  .context = s},
        .callbacks = {
            .decided = decided, .get_stats = get_stats, .reset_stats = reset_stats, .context = s}};
    ck_assert_int_eq(ek_controller_new(&c, &setup, NULL), EK_OK);
    return c;
}

static struct scene *new_scene(const char *rules)
{
    static const char head[] = "version: 1\nsegments: [arm]\n";
    struct ek_error e;
    char text[1000];
    struct scene *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    s->manifest = stream_manifest();
    snprintf(text, sizeof text, "%s%s", head, rules);
    int rc = ek_rules_parse(&s->rules, s->manifest, "rules", text, strlen(text), &e);
    ck_assert_msg(!rc, "%s", e.message);
    s->means = (struct ek_means){.model = true};
    s->control = new_control(s);
    s->figures = (struct ek_rollout_stats){.dead_rate_elsewhere = (double)NAN,
                                           .rank_change_p95 = (double)NAN,
                                           .latency_p99_ms = (double)NAN,
                                           .latency_before_ms = (double)NAN};
    s->share[ALL] = 1;
    s->share[ARM_A] = s->share[ARM_B] = .5;
    s->now = 100 * MINUTE;
    return s;
}

static void free_scene(struct scene *s)
{
    ek_controller_free(s->control);
    ek_rules_free(s->rules);
    ek_manifest_free(s->manifest);
    free(s);
}

static struct ek_finding finding(enum ek_finding_state state, int feature, int cell)
{
    return (struct ek_finding){.state = state,
                               .episode = 7,
                               .feature = feature,
                               .cell = cell,
                               .dimension = cell ? "arm" : NULL,
                               .value = cell ? value_of(NULL, cell) : NULL,
                               .class = EK_SCALE,
                               .factor = 100,
                               .factor_low = 99,
                               .factor_high = 101,
                               .share = 1,
                               .query_feature = -1};
}

/* Process all work due now and at each list since. */
static bool settle(struct scene *s)
{
    s->query += 32 - s->query % 32; /* a list at which rollouts are evaluated */
    ck_assert_int_eq(ek_controller_update(s->control, s->now, s->query, &s->changed), EK_OK);
    return s->changed;
}

static bool found(struct scene *s, enum ek_finding_state state, int feature, int cell)
{
    struct ek_finding f = finding(state, feature, cell);
    ek_controller_add_finding(s->control, &f, s->now);
    return settle(s);
}

static const struct ek_plan_entry *entry_of(const struct scene *s, int feature, int cell)
{
    const struct ek_plan *p = ek_controller_plan(s->control);
    for (int i = 0; i < p->count; i++)
        if (p->entry[i].feature == feature && p->entry[i].cell == cell)
            return &p->entry[i];
    return NULL;
}

/* Return the outcome of a list of arm A or B. */
static enum ek_list_outcome word_of(const struct scene *s, int arm, int bucket)
{
    struct ek_treatment acts[8], would[8];
    const int16_t cells[] = {ALL, (int16_t)arm};
    struct ek_plan_list l = {cells, 2, bucket, true};
    struct ek_plan_routing r = {.acts = acts, .would = would};
    ek_plan_treat(ek_controller_plan(s->control), &l, s->manifest->routable_of_item,
                  s->manifest->routable_count, &r);
    return r.outcome;
}

static int count_did(const struct scene *s, enum ek_decision_kind what)
{
    int count = 0;
    for (int i = 0; i < s->told; i++)
        count += s->did[i] == what;
    return count;
}

/* Return the minutes from the end of the fault to the end of the route. */
static int hold_of(struct scene *s)
{
    int minutes = 0;
    found(s, EK_CONFIRMED, 0, ALL);
    ck_assert_ptr_nonnull(entry_of(s, 0, ALL));
    found(s, EK_RECOVERED, 0, ALL);
    while (entry_of(s, 0, ALL)) {
        s->now += MINUTE;
        minutes++;
        settle(s);
    }
    return minutes;
}

START_TEST(a_hold_grows_with_each_relapse_and_is_forgiven)
{
    struct scene *s =
        new_scene("defaults: {mode: enforce, min_duration: 10m, max_duration: 35m}\n");
    ck_assert_int_eq(hold_of(s), 10);
    s->now += 230 * MINUTE; /* 24 minimum durations are 240 */
    ck_assert_int_eq(hold_of(s), 20);
    ck_assert_int_eq(hold_of(s), 30);
    ck_assert_int_eq(hold_of(s), 35); /* max_duration */
    ck_assert_int_eq(hold_of(s), 35);
    ck_assert_int_eq(count_did(s, EK_DECIDED_RELAPSE), 4);
    ck_assert_ptr_nonnull(strstr(s->why[s->told - 2], "holds 35 min"));
    s->now += 241 * MINUTE;
    ck_assert_int_eq(hold_of(s), 10);
    ck_assert_int_eq(count_did(s, EK_DECIDED_ROUTE), 2);
    ck_assert_int_eq(count_did(s, EK_DECIDED_END), 6);
    free_scene(s);
}
END_TEST

/* Prices per stay are divided by the nights of any list, hundredfold ones only where they occur. */
START_TEST(a_repair_that_damages_healthy_lists_ends_with_the_fault)
{
    struct ek_baseline baseline[8] = {{.sd = .1f, .log_sd = .1f}};
    const struct ek_profile profile = {.baseline = baseline};
    struct scene *s = new_scene("defaults: {mode: enforce, min_duration: 10m}\n");
    ek_controller_free(s->control);
    s->means = (struct ek_means){.features = true, .profile = &profile};
    s->control = new_control(s);
    ck_assert_int_eq(hold_of(s), 10); /* by list */
    s->now += 500 * MINUTE;
    struct ek_finding f = finding(EK_CONFIRMED, 0, ARM_A);
    f.query_feature = 0;
    ek_controller_add_finding(s->control, &f, s->now);
    settle(s);
    ck_assert_int_eq(entry_of(s, 0, ARM_A)->repair.by, EK_REPAIR_QUERY_FEATURE);
    f.state = EK_RECOVERED;
    ek_controller_add_finding(s->control, &f, s->now);
    settle(s);
    ck_assert_ptr_null(entry_of(s, 0, ARM_A));
    free_scene(s);
}
END_TEST

START_TEST(what_no_longer_asks_for_a_route_lets_it_end_by_its_hold)
{
    struct scene *s = new_scene("defaults: {mode: enforce, min_duration: 10m}\n");
    struct ek_finding f = finding(EK_UPDATED, 0, ALL);
    found(s, EK_CONFIRMED, 0, ALL);
    f.share = .01; /* below action_min_fraction */
    ek_controller_add_finding(s->control, &f, s->now);
    ck_assert(!settle(s) && entry_of(s, 0, ALL));
    s->now += 5 * MINUTE;
    found(s, EK_UPDATED, 0, ALL); /* desired again */
    s->now += 20 * MINUTE;
    ck_assert(!settle(s) && entry_of(s, 0, ALL));
    ck_assert(found(s, EK_DISMISSED, 0, ALL) && !entry_of(s, 0, ALL)); /* at once */
    free_scene(s);
}
END_TEST

START_TEST(a_route_goes_on_while_the_factor_itself_is_beyond_the_threshold)
{
    struct scene *s = new_scene("defaults: {mode: enforce, min_duration: 10m}\n");
    struct ek_finding f = finding(EK_CONFIRMED, 0, ALL);
    f.factor = 1.35;
    f.factor_low = 1.24; /* action_threshold is 1.25 */
    f.factor_high = 1.46;
    ek_controller_add_finding(s->control, &f, s->now);
    ck_assert(!ek_plan_has(ek_controller_desired(s->control), 0, ALL)); /* too uncertain to begin */
    f.state = EK_UPDATED;
    f.factor_low = 1.26;
    ek_controller_add_finding(s->control, &f, s->now);
    ck_assert(settle(s) && entry_of(s, 0, ALL));
    f.factor_low = 1.24;
    ek_controller_add_finding(s->control, &f, s->now);
    s->now += 30 * MINUTE;
    ck_assert(!settle(s) && entry_of(s, 0, ALL));
    f.factor = 1.2;
    ek_controller_add_finding(s->control, &f, s->now);
    s->now += 30 * MINUTE;
    ck_assert(settle(s) && !entry_of(s, 0, ALL));
    free_scene(s);
}
END_TEST

START_TEST(beyond_the_limit_nothing_acts_and_it_shouts_each_time)
{
    struct scene *s = new_scene("defaults: {mode: enforce, min_duration: 10m}\n"
                                "limits: {max_routed_features: 1}\n");
    struct ek_finding second = finding(EK_CONFIRMED, 1, ALL);
    for (int trip = 0; trip < 2; trip++) {
        found(s, EK_CONFIRMED, 0, ALL);
        ck_assert(entry_of(s, 0, ALL) && !ek_controller_reached_limit(s->control));
        ck_assert(found(s, EK_CONFIRMED, 1, ALL));
        ck_assert_int_eq(ek_controller_reached_limit(s->control), EK_BOUND_ROUTED);
        ck_assert_int_eq(ek_controller_plan(s->control)->count, 0);
        struct ek_decision d = ek_controller_decide(s->control, &second);
        ck_assert(d.limited == EK_BOUND_ROUTED && d.mode == EK_MODE_OBSERVE);
        ck_assert(!settle(s) && !ek_controller_reached_limit(s->control)); /* the same violation */
        found(s, EK_DISMISSED, 1, ALL);
        s->now += 9 * MINUTE; /* a minimum duration from now, unless a limit is exceeded again */
        ck_assert(!settle(s) && !entry_of(s, 0, ALL));
        found(s, EK_CONFIRMED, 1, ALL);
        ck_assert(!ek_controller_reached_limit(s->control));
        found(s, EK_DISMISSED, 1, ALL);
        s->now += 10 * MINUTE;
        ck_assert(settle(s) && entry_of(s, 0, ALL));
    }
    ck_assert_int_eq(count_did(s, EK_DECIDED_LIMIT), 2);
    free_scene(s);
}
END_TEST

START_TEST(what_acted_first_is_kept_where_the_rules_say_so)
{
    struct scene *s = new_scene("defaults: {mode: enforce}\n"
                                "limits: {max_routed_features: 1, on_limit: keep}\n");
    found(s, EK_CONFIRMED, 0, ALL);
    ck_assert(!found(s, EK_CONFIRMED, 1, ALL));
    ck_assert_int_eq(ek_controller_reached_limit(s->control), EK_BOUND_ROUTED);
    ck_assert(entry_of(s, 0, ALL) && !entry_of(s, 1, ALL));
    free_scene(s);
}
END_TEST

START_TEST(a_share_of_the_traffic_is_a_limit_too)
{
    struct scene *s = new_scene("defaults: {mode: enforce}\nlimits: {max_routed_share: 0.6}\n");
    found(s, EK_CONFIRMED, 0, ARM_B);
    ck_assert_ptr_nonnull(entry_of(s, 0, ARM_B));
    found(s, EK_CONFIRMED, 0, ARM_A);
    ck_assert_int_eq(ek_controller_reached_limit(s->control), EK_BOUND_SHARE);
    ck_assert_int_eq(ek_controller_plan(s->control)->count, 0);
    free_scene(s);
}
END_TEST

static const char CANARY[] =
    "defaults: {mode: canary, canary: {initial_percent: 5, step_percent: 20, step_interval: 10m, "
    "max_percent: 40, min_lists: 200}}\n";

START_TEST(a_canary_grows_when_its_time_and_its_lists_have_come)
{
    struct scene *s = new_scene(CANARY);
    found(s, EK_CONFIRMED, 0, ALL);
    ck_assert(entry_of(s, 0, ALL)->percent == 500 && entry_of(s, 0, ALL)->mode == EK_MODE_CANARY);
    ck_assert(word_of(s, ARM_A, 499) == EK_LIST_CANARY && word_of(s, ARM_A, 500) == EK_LIST_PASSED);
    s->now += 60 * MINUTE; /* no comparisons so far */
    ck_assert(!settle(s));
    s->has_figures = true;
    s->figures.compared = s->figures.acted = 199;
    ck_assert(!settle(s));
    s->figures.compared = 200;
    uint64_t version = ek_controller_plan(s->control)->version;
    ck_assert(settle(s) && entry_of(s, 0, ALL)->percent == 2500);
    ck_assert_uint_eq(ek_controller_plan(s->control)->version, version + 1);
    ck_assert_int_eq(s->begun, 1);
    ck_assert(!settle(s)); /* `every` from now */
    s->now += 10 * MINUTE;
    ck_assert(settle(s) && entry_of(s, 0, ALL)->percent == 4000);
    s->now += 100 * MINUTE;
    ck_assert(!settle(s)); /* `max` */
    ck_assert_int_eq(count_did(s, EK_DECIDED_STEP), 2);
    ck_assert_ptr_nonnull(strstr(s->why[1], "from 5% to 25% of the lists: 200 lists"));
    free_scene(s);
}
END_TEST

/* Return the percentage of a route's segment after statistics that allow full growth. */
static int grown(const char *rules, int cell)
{
    struct scene *s = new_scene(rules);
    found(s, EK_CONFIRMED, 0, cell);
    s->has_figures = true;
    s->figures.compared = s->figures.acted = 200;
    for (int step = 0; step < 6; step++) {
        s->now += 10 * MINUTE;
        settle(s);
    }
    int percent = entry_of(s, 0, cell)->percent;
    free_scene(s);
    return percent;
}

START_TEST(lists_that_wait_for_a_canary_have_its_steps_whatever_mode_others_have)
{
    static const char canary[] =
        "canary: {initial_percent: 10, step_percent: 30, step_interval: 10m, min_lists: 200}";
    static const struct {
        const char *in; /* modes of values */
        int cell;
    } scene[] = {{"A: shadow", ARM_B},
                 {"A: enforce", ARM_B},
                 {"B: enforce", ALL},
                 {"A: shadow, B: enforce", ALL}};
    for (size_t i = 0; i < sizeof scene / sizeof *scene; i++) {
        char rules[300];
        snprintf(rules, sizeof rules, "defaults: {mode: canary, %s, mode_in: {arm: {%s}}}\n",
                 canary, scene[i].in);
        int percent = grown(rules, scene[i].cell);
        ck_assert_msg(percent == EK_PERCENT_WHOLE, "%s: %d", scene[i].in, percent);
    }
}
END_TEST

START_TEST(a_route_that_does_harm_is_taken_back_until_a_person_says_so)
{
    struct scene *s = new_scene(CANARY);
    struct ek_finding f = finding(EK_UPDATED, 0, ALL);
    struct ek_error e;
    found(s, EK_CONFIRMED, 0, ALL);
    ck_assert_int_eq(ek_controller_resume(s->control, 0, ALL, s->now, &e), EK_ESTATE);
    s->has_figures = true;
    s->figures.compared = s->figures.acted = 1000;
    s->figures.failed = 300; /* error_rate is 0.01 */
    ck_assert(settle(s) && !entry_of(s, 0, ALL));
    ck_assert_int_eq(s->did[s->told - 1], EK_DECIDED_ROLLBACK);
    ck_assert_ptr_nonnull(strstr(s->why[s->told - 1], "error_rate is"));
    struct ek_decision d = ek_controller_decide(s->control, &f);
    ck_assert(d.mode == EK_MODE_OBSERVE && d.rolled_back);
    s->has_figures = false;
    s->now += 1000 * MINUTE;
    ck_assert(!found(s, EK_UPDATED, 0, ALL)); /* the same fault */
    ck_assert_int_eq(ek_controller_resume(s->control, 0, ALL, s->now, &e), EK_OK);
    ck_assert(settle(s) && entry_of(s, 0, ALL)->percent == 500);
    free_scene(s);
}
END_TEST

/* The fault continues; only its fraction is below action_min_fraction for longer than the minimum
 * duration.
 */
static void waver(struct scene *s)
{
    struct ek_finding f = finding(EK_UPDATED, 0, ALL);
    f.share = .01;
    ek_controller_add_finding(s->control, &f, s->now);
    s->now += 30 * MINUTE;
    settle(s);
    ck_assert(!ek_plan_has(ek_controller_desired(s->control), 0, ALL));
    s->now += MINUTE;
}

START_TEST(a_fault_that_wavers_brings_no_route_back_that_was_rolled_back_in_it)
{
    struct scene *s = new_scene(CANARY);
    found(s, EK_CONFIRMED, 0, ALL);
    s->has_figures = true;
    s->figures.compared = s->figures.acted = 1000;
    s->now += 10 * MINUTE;
    ck_assert(settle(s) && entry_of(s, 0, ALL)->percent == 2500);
    s->has_figures = false;
    waver(s);
    ck_assert(found(s, EK_UPDATED, 0, ALL) && entry_of(s, 0, ALL)->percent == 2500);
    s->has_figures = true;
    s->figures.failed = 300;
    ck_assert(settle(s) && !entry_of(s, 0, ALL));
    s->has_figures = false;
    waver(s);
    ck_assert(!found(s, EK_UPDATED, 0, ALL) && !entry_of(s, 0, ALL));
    ck_assert_int_eq(ek_controller_rollout(s->control, 0, ALL)->relapses, 0);
    found(s, EK_RECOVERED, 0, ALL);
    s->now += 30 * MINUTE;
    settle(s);
    ck_assert(found(s, EK_CONFIRMED, 0, ALL) && entry_of(s, 0, ALL)->percent == 500);
    ck_assert_int_eq(ek_controller_rollout(s->control, 0, ALL)->relapses, 1);
    free_scene(s);
}
END_TEST

static bool found_in(struct scene *s, enum ek_finding_state state, int cell, uint32_t cause)
{
    struct ek_finding f = finding(state, 0, cell);
    f.episode = 10 + (uint32_t)cell;
    f.cause = cause;
    ek_controller_add_finding(s->control, &f, s->now);
    return settle(s);
}

/* The detector confirms the fault in the other cell before it dismisses the first finding. */
static void hand_over(struct scene *s, int from, int to)
{
    found_in(s, EK_CONFIRMED, to, 3);
    found_in(s, EK_DISMISSED, from, 3);
}

static void hand_over_rollback(int from, int to)
{
    struct scene *s = new_scene("defaults: {mode: enforce}\n");
    struct ek_finding f = finding(EK_UPDATED, 0, to);
    found_in(s, EK_CONFIRMED, from, 3);
    s->has_figures = true;
    s->figures.worse = 2 * EK_HARM_EVIDENCE;
    ck_assert(settle(s) && !entry_of(s, 0, from));
    s->has_figures = false;
    hand_over(s, from, to);
    ck_assert_ptr_null(entry_of(s, 0, to));
    ck_assert(ek_controller_decide(s->control, &f).rolled_back);
    const struct ek_rollout *r = ek_controller_rollout(s->control, 0, to);
    ck_assert_int_eq(r->rolled_back, EK_GUARDRAIL_WORSE);
    ck_assert(r->observed >= EK_HARM_EVIDENCE && r->limit == EK_HARM_EVIDENCE);
    ck_assert_int_eq(count_did(s, EK_DECIDED_ROLLBACK), 1);
    ck_assert_int_eq(ek_controller_resume(s->control, 0, to, s->now, NULL), EK_OK);
    ck_assert(settle(s) && entry_of(s, 0, to));
    free_scene(s);
}

START_TEST(a_rollback_stays_when_the_fault_goes_on_in_another_part_of_the_traffic)
{
    hand_over_rollback(ARM_A, ALL);
    hand_over_rollback(ALL, ARM_A);
}
END_TEST

static void hand_over_canary(int from, int to)
{
    struct scene *s = new_scene(CANARY);
    found_in(s, EK_CONFIRMED, from, 3);
    s->has_figures = true;
    s->figures.compared = s->figures.acted = 200;
    s->now += 10 * MINUTE;
    ck_assert(settle(s) && entry_of(s, 0, from)->percent == 2500);
    s->has_figures = false;
    hand_over(s, from, to);
    ck_assert_int_eq(entry_of(s, 0, to)->percent, 2500);
    s->has_figures = true;
    s->now += 10 * MINUTE;
    ck_assert(settle(s) && entry_of(s, 0, to)->percent == 4000);
    free_scene(s);
}

START_TEST(a_canary_keeps_its_percentage_when_the_fault_goes_on_in_another_part_of_the_traffic)
{
    hand_over_canary(ARM_A, ALL);
    hand_over_canary(ALL, ARM_A);
}
END_TEST

/* Two values of one dimension have no list in common. */
START_TEST(another_fault_and_another_value_begin_their_own_canary)
{
    struct scene *s = new_scene(CANARY);
    found_in(s, EK_CONFIRMED, ARM_A, 3);
    s->has_figures = true;
    s->figures.compared = s->figures.acted = 200;
    s->now += 10 * MINUTE;
    ck_assert(settle(s) && entry_of(s, 0, ARM_A)->percent == 2500);
    s->has_figures = false;
    ck_assert(found_in(s, EK_CONFIRMED, ARM_B, 3) && entry_of(s, 0, ARM_B)->percent == 500);
    ck_assert(found_in(s, EK_CONFIRMED, ALL, 4) && entry_of(s, 0, ALL)->percent == 500);
    free_scene(s);
}
END_TEST

/* Return whether a route waits for an operator after its fault ended during a pause. */
static bool awaits_after_pause(const char *mode)
{
    char rules[100];
    snprintf(rules, sizeof rules, "defaults: {mode: %s, min_duration: 10m, recover: manual}\n",
             mode);
    struct scene *s = new_scene(rules);
    found(s, EK_CONFIRMED, 0, ALL);
    ek_controller_pause(s->control, true, s->now);
    settle(s);
    found(s, EK_RECOVERED, 0, ALL);
    ek_controller_pause(s->control, false, s->now);
    s->now += 20 * MINUTE;
    settle(s);
    bool awaits = ek_plan_has(ek_controller_desired(s->control), 0, ALL);
    free_scene(s);
    return awaits;
}

START_TEST(what_never_acted_waits_for_no_person_because_all_was_paused)
{
    ck_assert(!awaits_after_pause("observe"));
    ck_assert(awaits_after_pause("shadow") && awaits_after_pause("enforce"));
}
END_TEST

START_TEST(lists_of_a_value_have_the_mode_that_the_rules_have_for_them)
{
    struct scene *s = new_scene("defaults: {mode: observe, mode_in: {arm: {B: enforce}}}\n");
    found(s, EK_CONFIRMED, 0, ALL);
    ck_assert(word_of(s, ARM_A, 0) == EK_LIST_PASSED && word_of(s, ARM_B, 0) == EK_LIST_ROUTED);
    free_scene(s);
    s = new_scene("defaults: {mode: enforce, mode_in: {arm: {B: shadow}}}\n");
    found(s, EK_CONFIRMED, 0, ALL);
    ck_assert(word_of(s, ARM_A, 0) == EK_LIST_ROUTED && word_of(s, ARM_B, 0) == EK_LIST_SHADOW);
    free_scene(s);
}
END_TEST

START_TEST(a_feature_is_left_alone_while_a_value_cannot_be_told_apart)
{
    struct scene *s = new_scene("defaults: {mode: enforce, mode_in: {arm: {C: observe}}}\n");
    found(s, EK_CONFIRMED, 0, ALL);
    ck_assert_int_eq(ek_controller_plan(s->control)->count, 0);
    ck_assert_int_eq(ek_controller_reached_limit(s->control), EK_BOUND_PLAN);
    s->has_room = true;
    s->query = 2 * 1024 - 32;
    ck_assert(settle(s) && entry_of(s, 0, ALL));
    ck_assert(word_of(s, ARM_A, 0) == EK_LIST_ROUTED && word_of(s, ARM_C, 0) == EK_LIST_PASSED);
    free_scene(s);
}
END_TEST

START_TEST(in_observe_nothing_is_in_force)
{
    struct scene *s = new_scene("defaults: {mode: observe}\n");
    ck_assert(!found(s, EK_CONFIRMED, 0, ALL));
    ck_assert(ek_controller_desired(s->control)->count == 1);
    ck_assert_uint_eq(ek_controller_plan(s->control)->version, 0);
    ck_assert_int_eq(s->told, 0);
    free_scene(s);
}
END_TEST

/* The other controller numbers its cells in reverse. */
START_TEST(of_two_that_are_joined_the_more_careful_percentage_counts)
{
    static const int16_t to[] = {ALL, ARM_B, ARM_A};
    struct scene *s = new_scene(CANARY);
    struct ek_controller *one = s->control;
    found(s, EK_CONFIRMED, 0, ARM_A);
    s->has_figures = true;
    s->figures.compared = 200;
    s->now += 10 * MINUTE;
    ck_assert(settle(s) && entry_of(s, 0, ARM_A)->percent == 2500);
    s->control = new_control(s);
    s->has_figures = false;
    found(s, EK_CONFIRMED, 0, ARM_B);
    found(s, EK_CONFIRMED, 1, ARM_B);
    ck_assert_int_eq(ek_controller_merge(one, s->control, to), EK_OK);
    ek_controller_free(s->control);
    s->control = one;
    ck_assert(settle(s));
    ck_assert_int_eq(ek_controller_plan(one)->count, 2);
    ck_assert(entry_of(s, 0, ARM_A)->percent == 500 && entry_of(s, 1, ARM_A)->percent == 500);
    free_scene(s);
}
END_TEST

/* Continue the controller under other rules, as after a reload. */
static void switch_rules(struct scene *s, const char *text)
{
    struct ek_buf state;
    struct ek_rules *before = s->rules;
    ek_buf_init(&state, 0);
    struct ek_serialize out = {.out = &state};
    ek_controller_desired_serialize(s->control, &out, 3, CELLS);
    ek_controller_serialize(s->control, &out, 3, CELLS);
    ck_assert_int_eq(out.rc, EK_OK);
    ek_controller_free(s->control);
    ck_assert_int_eq(ek_rules_parse(&s->rules, s->manifest, "rules", text, strlen(text), NULL), 0);
    s->control = new_control(s);
    struct ek_serialize in = {.at = state.data, .end = state.data + state.length};
    ek_controller_desired_serialize(s->control, &in, 3, CELLS);
    ek_controller_serialize(s->control, &in, 3, CELLS);
    ck_assert_int_eq(in.rc, EK_OK);
    ek_controller_restored(s->control, s->now);
    ek_rules_free(before);
    ek_buf_release(&state);
    settle(s);
}

START_TEST(a_route_that_has_not_acted_takes_the_percentage_of_new_rules)
{
    static const char ten[] = "version: 1\nsegments: [arm]\ndefaults: {mode: canary, canary: "
                              "{initial_percent: 10, step_percent: 1, step_interval: 1h}}\n";
    static const char one[] = "version: 1\nsegments: [arm]\ndefaults: {mode: canary, canary: "
                              "{initial_percent: 1, step_percent: 1, step_interval: 1h}}\n";
    struct scene *s = new_scene("defaults: {mode: observe}\n");
    found(s, EK_CONFIRMED, 0, ALL);
    switch_rules(s, one);
    ck_assert_int_eq(entry_of(s, 0, ALL)->percent, 100); /* hundredths; 5% is built in */
    switch_rules(s, ten);                                /* it acts by now */
    ck_assert_int_eq(entry_of(s, 0, ALL)->percent, 100);
    free_scene(s);
    s = new_scene("defaults: {mode: shadow, canary: {initial_percent: 50}}\n");
    found(s, EK_CONFIRMED, 0, ALL);
    switch_rules(s, ten);
    ck_assert_int_eq(entry_of(s, 0, ALL)->percent, 1000);
    free_scene(s);
}
END_TEST

Suite *suite_route_controller(void)
{
    return ek_suite(
        "control", a_hold_grows_with_each_relapse_and_is_forgiven,
        a_route_goes_on_while_the_factor_itself_is_beyond_the_threshold,
        a_repair_that_damages_healthy_lists_ends_with_the_fault,
        what_no_longer_asks_for_a_route_lets_it_end_by_its_hold,
        beyond_the_limit_nothing_acts_and_it_shouts_each_time,
        what_acted_first_is_kept_where_the_rules_say_so, a_share_of_the_traffic_is_a_limit_too,
        a_canary_grows_when_its_time_and_its_lists_have_come,
        lists_that_wait_for_a_canary_have_its_steps_whatever_mode_others_have,
        a_route_that_does_harm_is_taken_back_until_a_person_says_so,
        a_fault_that_wavers_brings_no_route_back_that_was_rolled_back_in_it,
        a_rollback_stays_when_the_fault_goes_on_in_another_part_of_the_traffic,
        a_canary_keeps_its_percentage_when_the_fault_goes_on_in_another_part_of_the_traffic,
        another_fault_and_another_value_begin_their_own_canary,
        what_never_acted_waits_for_no_person_because_all_was_paused,
        lists_of_a_value_have_the_mode_that_the_rules_have_for_them,
        a_feature_is_left_alone_while_a_value_cannot_be_told_apart, in_observe_nothing_is_in_force,
        of_two_that_are_joined_the_more_careful_percentage_counts,
        a_route_that_has_not_acted_takes_the_percentage_of_new_rules);
}
