/* Composition of the active plan from modes, percentages, rollbacks, pins, limits and pause. */
#include "plan/plan_compose.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells: all traffic, arm A and B, app 1 and 2. */
enum { ALL, ARM_A, ARM_B, APP_1, APP_2, CELLS, FEATURES = 12, NOW = 1000 };

struct scene {
    struct ek_rules rules;
    struct ek_canary canary;
    struct ek_plan desired, now, next;
    struct ek_rollouts rollouts;
    struct ek_pinned pin[4];
    struct ek_plan_mode mode[600];
    struct ek_composing c;
    struct ek_composed said;
    enum ek_mode base[FEATURES];
    double share[CELLS]; /* fraction of lists; cells of one dimension are disjoint */
};

static enum ek_mode mode_of(void *context, int feature, int cell)
{
    const struct scene *s = context;
    for (int i = 0; i < s->c.modes; i++)
        if (s->mode[i].feature == feature && s->mode[i].cell == cell)
            return s->mode[i].mode;
    return s->base[feature];
}

static int dimension_of(void *context, int cell)
{
    (void)context;
    return cell == ALL ? -1 : cell > ARM_B;
}

/* Fraction of lists if arm and app are independent. */
static double share_of(void *context, const int *cell, int count)
{
    const struct scene *s = context;
    double of[] = {0, 0};
    bool seen[CELLS] = {false};
    for (int i = 0; i < count; i++) {
        if (cell[i] == ALL)
            return 1;
        if (!seen[cell[i]])
            of[dimension_of(NULL, cell[i])] += s->share[cell[i]];
        seen[cell[i]] = true;
    }
    return 1 - (1 - of[0]) * (1 - of[1]);
}

static struct scene *new_scene(enum ek_mode mode)
{
    struct scene *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    s->rules = (struct ek_rules){.max_routed_features = 10,
                                 .max_routed_share = 1,
                                 .on_limit = EK_LIMIT_OBSERVE,
                                 .min_duration_ms = 600000,
                                 .max_duration_ms = 6000000};
    s->canary = (struct ek_canary){
        .initial_percent = 5, .step_percent = 5, .max_percent = 100, .min_lists = 200};
    s->c = (struct ek_composing){.rules = &s->rules,
                                 .desired = &s->desired,
                                 .rollouts = &s->rollouts,
                                 .pin = s->pin,
                                 .mode = s->mode,
                                 .mode_of = mode_of,
                                 .dimension_of = dimension_of,
                                 .share_of = share_of,
                                 .context = s};
    for (int f = 0; f < FEATURES; f++)
        s->base[f] = mode;
    for (int cell = 0; cell < CELLS; cell++)
        s->share[cell] = cell == ALL ? 1 : .5;
    return s;
}

static struct ek_rollout *want(struct scene *s, int feature, int cell)
{
    ek_plan_set(&s->desired, feature, cell, (struct ek_treatment){EK_ACT_ROUTE, 0}, NOW);
    return ek_rollout_begin(&s->rollouts, feature, cell, &s->rules, &s->canary, NOW);
}

static void say(struct scene *s, int feature, int cell, enum ek_mode mode, bool own)
{
    s->mode[s->c.modes++] = (struct ek_plan_mode){feature, cell, mode, own};
}

static void pin(struct scene *s, int feature, int cell, enum ek_action action,
                enum ek_plan_source by)
{
    s->pin[s->c.pins++] = (struct ek_pinned){feature, cell, {action, 0}, by};
}

/* Compose the current plan. Return whether the version increased. */
static bool compose(struct scene *s)
{
    uint64_t before = s->now.version;
    ek_plan_compose(&s->next, &s->now, &s->c, &s->said);
    s->now = s->next;
    ck_assert_uint_eq(s->now.version, before + s->said.changed);
    return s->said.changed;
}

static const struct ek_plan_entry *entry_of(const struct scene *s, int feature, int cell)
{
    for (int i = 0; i < s->now.count; i++)
        if (s->now.entry[i].feature == feature && s->now.entry[i].cell == cell)
            return &s->now.entry[i];
    return NULL;
}

START_TEST(what_is_wanted_and_enforced_is_in_force)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    ck_assert(!compose(s));
    want(s, 2, ARM_B);
    s->desired.entry[0].repair = (struct ek_plan_repair){.factor = 100, .query_feature = -1};
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.count, 1);
    ck_assert_int_eq(s->now.entry[0].mode, EK_MODE_ENFORCE);
    ck_assert_int_eq(s->now.entry[0].percent, EK_PERCENT_WHOLE);
    ck_assert(s->now.entry[0].repair.factor == 100);
    ck_assert_int_eq(s->now.entry[0].since_ms, NOW);
    ck_assert(s->said.share == .5);
    ck_assert_int_eq(s->said.features, 1);
    s->desired.entry[0].treatment.value = 3; /* new value of the same action */
    ck_assert(!compose(s));
    ck_assert(s->now.entry[0].treatment.value == 3);
    ek_plan_remove(&s->desired, 2, ARM_B);
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.count, 0);
    free(s);
}
END_TEST

START_TEST(composing_twice_gives_the_same_plan)
{
    struct scene *s = new_scene(EK_MODE_CANARY);
    want(s, 2, ARM_B);
    want(s, 0, ALL);
    pin(s, 3, ARM_A, EK_ACT_BLANK, EK_BY_RULES);
    say(s, 0, APP_1, EK_MODE_ENFORCE, true);
    ck_assert(compose(s));
    struct ek_plan first = s->now;
    ck_assert(!compose(s));
    ck_assert(ek_plan_same(&first, &s->now));
    free(s);
}
END_TEST

START_TEST(in_observe_nothing_is_in_the_plan)
{
    struct scene *s = new_scene(EK_MODE_OBSERVE);
    want(s, 2, ARM_B);
    ck_assert(!compose(s));
    ck_assert_int_eq(s->said.features, 0);
    ck_assert(s->said.share == 0);
    free(s);
}
END_TEST

START_TEST(in_shadow_it_is_in_the_plan_and_no_matter_of_limits)
{
    struct scene *s = new_scene(EK_MODE_SHADOW);
    s->rules.max_routed_features = 0;
    want(s, 2, ARM_B);
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.entry[0].mode, EK_MODE_SHADOW);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_NONE);
    ck_assert_int_eq(s->said.features, 0);
    free(s);
}
END_TEST

START_TEST(each_step_of_a_canary_is_a_version)
{
    struct scene *s = new_scene(EK_MODE_CANARY);
    struct ek_rollout *r = want(s, 2, ARM_B);
    compose(s);
    ck_assert_int_eq(s->now.entry[0].percent, 500);
    r->percent = 1000;
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.entry[0].percent, 1000);
    s->base[2] = EK_MODE_ENFORCE; /* ignores the percentage */
    ck_assert(compose(s));
    r->percent = 1500;
    ck_assert(!compose(s));
    free(s);
}
END_TEST

START_TEST(what_was_rolled_back_or_has_no_rollout_does_not_act)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    want(s, 0, ALL)->rolled_back = EK_GUARDRAIL_RANKS;
    want(s, 1, ALL);
    ek_plan_set(&s->desired, 2, ALL, (struct ek_treatment){EK_ACT_ROUTE, 0}, NOW);
    compose(s);
    ck_assert_int_eq(s->now.count, 1);
    ck_assert_int_eq(s->now.entry[0].feature, 1);
    ek_rollout_end(&s->rollouts, 1, ALL, NOW);
    compose(s);
    ck_assert_int_eq(s->now.count, 0);
    free(s);
}
END_TEST

START_TEST(what_is_observed_is_in_the_plan_where_some_lists_may_act)
{
    struct scene *s = new_scene(EK_MODE_OBSERVE);
    say(s, 2, ARM_B, EK_MODE_CANARY, true);
    want(s, 2, ALL);
    want(s, 2, ARM_A); /* disjoint from arm B */
    want(s, 2, APP_1);
    want(s, 3, ALL);
    compose(s);
    ck_assert_int_eq(s->now.count, 2);
    ck_assert_ptr_nonnull(entry_of(s, 2, ALL));
    ck_assert_ptr_nonnull(entry_of(s, 2, APP_1));
    ck_assert_int_eq(s->now.entry[0].mode, EK_MODE_OBSERVE);
    ck_assert_int_eq(s->now.entry[0].percent, 500);
    ck_assert_int_eq(s->now.modes, 1);
    ck_assert_int_eq(s->said.features, 1);
    ck_assert(fabs(s->said.share - .05 * .75) < 1e-12); /* arm B or app 1, 5% of it */
    free(s);
}
END_TEST

START_TEST(a_pin_hides_what_is_found_in_its_cells)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    want(s, 0, ALL);
    want(s, 0, ARM_B);
    want(s, 0, APP_1);
    pin(s, 0, ARM_B, EK_ACT_NONE, EK_BY_OPERATOR);
    compose(s);
    ck_assert_int_eq(s->now.count, 3);
    ck_assert_int_eq(entry_of(s, 0, ARM_B)->treatment.action, EK_ACT_NONE);
    ck_assert_int_eq(entry_of(s, 0, APP_1)->by, EK_BY_FINDING);
    pin(s, 0, ALL, EK_ACT_BLANK, EK_BY_OPERATOR); /* in every cell without a separate pin */
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.count, 2);
    ck_assert_int_eq(entry_of(s, 0, ALL)->treatment.action, EK_ACT_BLANK);
    free(s);
}
END_TEST

START_TEST(a_pin_of_a_person_goes_before_one_of_the_rules)
{
    struct scene *s = new_scene(EK_MODE_OBSERVE);
    pin(s, 0, ARM_B, EK_ACT_ROUTE, EK_BY_RULES);
    compose(s);
    ck_assert_int_eq(s->now.entry[0].by, EK_BY_RULES);
    ck_assert_int_eq(s->now.entry[0].mode, EK_MODE_ENFORCE);
    pin(s, 0, ARM_B, EK_ACT_NONE, EK_BY_OPERATOR);
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.count, 1);
    ck_assert_int_eq(s->now.entry[0].treatment.action, EK_ACT_NONE);
    struct ek_pinned first = s->pin[0];
    s->pin[0] = s->pin[1];
    s->pin[1] = first;
    ck_assert(!compose(s));
    free(s);
}
END_TEST

START_TEST(pins_are_no_matter_of_limits)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    s->rules.max_routed_features = 1;
    s->rules.max_routed_share = .5;
    pin(s, 0, ALL, EK_ACT_ROUTE, EK_BY_OPERATOR);
    pin(s, 1, ALL, EK_ACT_ROUTE, EK_BY_RULES);
    want(s, 2, ARM_B);
    compose(s);
    ck_assert_int_eq(s->now.count, 3);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_NONE);
    free(s);
}
END_TEST

START_TEST(beyond_a_limit_nothing_that_findings_want_acts)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    s->rules.max_routed_features = 2;
    s->base[5] = EK_MODE_SHADOW;
    pin(s, 0, ALL, EK_ACT_ROUTE, EK_BY_OPERATOR);
    want(s, 1, ALL);
    want(s, 2, ARM_A);
    want(s, 2, ARM_B); /* the same feature */
    want(s, 5, ALL);
    compose(s);
    ck_assert_int_eq(s->now.count, 5);
    want(s, 3, ALL);
    ck_assert(compose(s));
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_FEATURES);
    ck_assert_int_eq(s->said.features, 3);
    ck_assert_int_eq(s->now.count, 2);
    ck_assert_ptr_nonnull(entry_of(s, 0, ALL));
    ck_assert_ptr_nonnull(entry_of(s, 5, ALL));
    ek_plan_remove(&s->desired, 3, ALL);
    s->c.was_limited = true; /* for a minimum duration */
    ck_assert(!compose(s));
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_NONE);
    s->c.was_limited = false;
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.count, 5);
    free(s);
}
END_TEST

START_TEST(features_of_one_incident_count_as_one)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    s->rules.max_routed_features = 2;
    for (int f = 1; f <= 4; f++)
        want(s, f, ALL)->context.cause = 7;
    want(s, 5, ALL); /* of an unknown incident */
    compose(s);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_NONE);
    ck_assert_int_eq(s->said.features, 2);
    ck_assert_int_eq(s->now.count, 5);
    want(s, 0, ARM_A)->context.cause = 8;
    compose(s);
    ck_assert_int_eq(s->said.features, 3);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_FEATURES);
    ck_assert_int_eq(s->now.count, 0);
    s->rules.on_limit = EK_LIMIT_KEEP;
    compose(s);
    ck_assert_int_eq(s->now.count, 5);
    ck_assert_ptr_null(entry_of(s, 0, ARM_A));
    free(s);
}
END_TEST

START_TEST(with_keep_what_acted_first_stays)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    s->rules.on_limit = EK_LIMIT_KEEP;
    s->rules.max_routed_features = 2;
    want(s, 1, ALL);
    want(s, 2, ARM_A);
    want(s, 3, ALL);
    want(s, 2, ARM_B);
    compose(s);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_FEATURES);
    ck_assert_int_eq(s->now.count, 3);
    ck_assert_ptr_null(entry_of(s, 3, ALL));
    ek_plan_remove(&s->desired, 1, ALL);
    compose(s);
    ck_assert_ptr_nonnull(entry_of(s, 3, ALL));
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_NONE);
    free(s);
}
END_TEST

START_TEST(the_share_of_the_traffic_is_limited)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    s->rules.max_routed_share = .6;
    want(s, 1, ARM_A);
    compose(s);
    ck_assert(s->said.share == .5);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_NONE);
    want(s, 2, APP_1); /* and half of the lists outside arm A */
    compose(s);
    ck_assert(s->said.share == .75);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_SHARE);
    ck_assert_int_eq(s->now.count, 0);
    s->rules.on_limit = EK_LIMIT_KEEP;
    want(s, 3, ARM_A); /* no further lists; dropped entries do not count */
    compose(s);
    ck_assert_int_eq(s->now.count, 2);
    ck_assert_ptr_nonnull(entry_of(s, 1, ARM_A));
    ck_assert_ptr_nonnull(entry_of(s, 3, ARM_A));
    s->c.share_of = NULL; /* unknown */
    compose(s);
    ck_assert_int_eq(s->now.count, 3);
    ck_assert(isnan(s->said.share));
    free(s);
}
END_TEST

/* All features share the bucket: 20% of arm B and all of arm A. */
START_TEST(the_share_of_canaries_counts_by_their_percentage)
{
    struct scene *s = new_scene(EK_MODE_CANARY);
    want(s, 1, ARM_A)->percent = EK_PERCENT_WHOLE;
    want(s, 2, ARM_B)->percent = 2000;
    want(s, 3, ARM_B)->percent = 1000;
    compose(s);
    ck_assert(fabs(s->said.share - .6) < 1e-12);
    free(s);
}
END_TEST

START_TEST(a_pause_empties_the_plan_and_lets_go_of_nothing)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    pin(s, 0, ALL, EK_ACT_ROUTE, EK_BY_OPERATOR);
    want(s, 1, ALL);
    compose(s);
    s->c.paused = true;
    ck_assert(compose(s));
    ck_assert(s->now.paused);
    ck_assert_int_eq(s->now.count, 0);
    ck_assert(!compose(s));
    s->c.paused = false;
    ck_assert(compose(s));
    ck_assert_int_eq(s->now.count, 2);
    free(s);
}
END_TEST

START_TEST(what_the_plan_has_no_room_for_is_told)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    s->c.share_of = NULL;
    for (int i = 0; i < EK_PLAN_MAX; i++)
        want(s, 0, 100 + i);
    compose(s);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_NONE);
    pin(s, 1, ALL, EK_ACT_ROUTE, EK_BY_OPERATOR);
    compose(s);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_PLAN);
    ck_assert_int_eq(s->now.count, EK_PLAN_MAX);
    ck_assert_ptr_nonnull(entry_of(s, 1, ALL));
    free(s);
}
END_TEST

START_TEST(a_feature_whose_modes_just_find_room_acts)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    for (int i = 0; i < EK_PLAN_MODES_MAX - 1; i++)
        say(s, 0, 100 + i, EK_MODE_OBSERVE, true);
    say(s, 1, ARM_A, EK_MODE_OBSERVE, true);
    want(s, 0, ALL);
    want(s, 1, ALL);
    compose(s);
    ck_assert_int_eq(s->said.limited, 0);
    ck_assert_ptr_nonnull(entry_of(s, 1, ALL));
    ck_assert_int_eq(s->now.modes, EK_PLAN_MODES_MAX);
    free(s);
}
END_TEST

START_TEST(a_feature_whose_modes_find_no_room_does_not_act)
{
    struct scene *s = new_scene(EK_MODE_ENFORCE);
    for (int i = 0; i < EK_PLAN_MODES_MAX - 1; i++)
        say(s, 0, 100 + i, EK_MODE_OBSERVE, true);
    say(s, 1, ARM_A, EK_MODE_OBSERVE, true);
    say(s, 1, ARM_B, EK_MODE_OBSERVE, true);
    want(s, 0, ALL);
    want(s, 1, ALL);
    want(s, 2, ALL);
    compose(s);
    ck_assert_int_eq(s->said.limited, EK_EXCEEDS_PLAN);
    ck_assert_ptr_null(entry_of(s, 1, ALL));
    ck_assert_ptr_nonnull(entry_of(s, 2, ALL));
    ck_assert_int_eq(s->now.modes, EK_PLAN_MODES_MAX - 1);
    free(s);
}
END_TEST

Suite *suite_plan_compose(void)
{
    return ek_suite(
        "compose", what_is_wanted_and_enforced_is_in_force, composing_twice_gives_the_same_plan,
        in_observe_nothing_is_in_the_plan, in_shadow_it_is_in_the_plan_and_no_matter_of_limits,
        each_step_of_a_canary_is_a_version, what_was_rolled_back_or_has_no_rollout_does_not_act,
        what_is_observed_is_in_the_plan_where_some_lists_may_act,
        a_pin_hides_what_is_found_in_its_cells, a_pin_of_a_person_goes_before_one_of_the_rules,
        pins_are_no_matter_of_limits, beyond_a_limit_nothing_that_findings_want_acts,
        features_of_one_incident_count_as_one, with_keep_what_acted_first_stays,
        the_share_of_the_traffic_is_limited, the_share_of_canaries_counts_by_their_percentage,
        a_pause_empties_the_plan_and_lets_go_of_nothing, what_the_plan_has_no_room_for_is_told,
        a_feature_whose_modes_just_find_room_acts, a_feature_whose_modes_find_no_room_does_not_act);
}
