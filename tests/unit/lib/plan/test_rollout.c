/* Rollouts: canary steps, guardrails, growing minimum durations, and retained history. */
#include "plan/rollout.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

enum { HOLD = 600000, EVERY = 600000, LISTS = 200, NOW = 1000000000 };

static struct ek_rules rules(void)
{
    return (struct ek_rules){.min_duration_ms = HOLD, .max_duration_ms = 6 * 3600000};
}

static struct ek_canary canary(void)
{
    return (struct ek_canary){.initial_percent = 5,
                              .step_percent = 5,
                              .max_percent = 100,
                              .step_interval_ms = EVERY,
                              .min_lists = LISTS};
}

/* Statistics of that many lists without problems. */
static struct ek_rollout_stats healthy(uint64_t lists)
{
    return (struct ek_rollout_stats){.compared = lists,
                                     .acted = lists,
                                     .dead_rate_elsewhere = NAN,
                                     .rank_change_p95 = NAN,
                                     .latency_p99_ms = NAN,
                                     .latency_before_ms = NAN,
                                     .worse = NAN};
}

static struct ek_rollouts *new_rollouts(void)
{
    struct ek_rollouts *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    return s;
}

static struct ek_rollout begun(void)
{
    struct ek_rollouts *s = new_rollouts();
    struct ek_rules r = rules();
    struct ek_canary c = canary();
    struct ek_rollout one = *ek_rollout_begin(s, 0, 0, &r, &c, NOW);
    free(s);
    return one;
}

START_TEST(a_canary_grows_by_its_steps_up_to_its_maximum)
{
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(LISTS);
    struct ek_rollout r = begun();
    int64_t now = NOW;
    c.max_percent = 18;
    ck_assert_int_eq(r.percent, 500);
    for (int percent = 1000; percent <= 1500; percent += 500) {
        now += EVERY;
        ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, now - 1),
                         EK_ROLLOUT_UNCHANGED);
        ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, now), EK_ROLLOUT_STEPPED);
        ck_assert_int_eq(r.percent, percent);
        ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, now), EK_ROLLOUT_UNCHANGED);
    }
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, now + EVERY), EK_ROLLOUT_STEPPED);
    ck_assert_int_eq(r.percent, 1800);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, now + 9 * EVERY),
                     EK_ROLLOUT_UNCHANGED);
}
END_TEST

START_TEST(without_traffic_there_is_no_growth_and_no_verdict)
{
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(LISTS - 1);
    struct ek_rollout r = begun();
    c.abort_if = (struct ek_guardrails){
        .rank_change_p95 = .5, .error_rate = .01, .dead_letter_rate = .01, .latency_p99_ms = 50};
    f.failed = f.dead = f.acted;
    f.rank_change_p95 = 1;
    f.latency_p99_ms = f.latency_before_ms = 1000;
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW + 100 * (int64_t)EVERY),
                     EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(r.percent, 500);
    f = healthy(LISTS);
    f.compared = LISTS - 1; /* routed, but not compared */
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW + 100 * (int64_t)EVERY),
                     EK_ROLLOUT_UNCHANGED);
}
END_TEST

/* Return the guardrail that these statistics alone trip, in a canary with these thresholds. */
static enum ek_guardrail hit_by(struct ek_guardrails asked, struct ek_rollout_stats f)
{
    struct ek_canary c = canary();
    double observed, limit;
    c.abort_if = asked;
    enum ek_guardrail rail = ek_rollout_check_guardrails(&c, &f, &observed, &limit);
    if (rail != EK_GUARDRAIL_NONE && rail != EK_GUARDRAIL_DRIFT)
        ck_assert(observed >= limit && limit > 0);
    return rail;
}

START_TEST(each_rail_is_hit_above_its_limit_and_not_at_it)
{
    struct ek_rollout_stats f = healthy(1000);
    f.rank_change_p95 = .5;
    ck_assert_int_eq(hit_by((struct ek_guardrails){.rank_change_p95 = .5}, f), EK_GUARDRAIL_NONE);
    f.rank_change_p95 = .51;
    ck_assert_int_eq(hit_by((struct ek_guardrails){.rank_change_p95 = .5}, f), EK_GUARDRAIL_RANKS);
    ck_assert_int_eq(hit_by((struct ek_guardrails){.rank_change_p95 = 0}, f), EK_GUARDRAIL_NONE);

    f = healthy(1000);
    f.drifted = true;
    ck_assert_int_eq(hit_by((struct ek_guardrails){.model_drift = false}, f), EK_GUARDRAIL_NONE);
    ck_assert_int_eq(hit_by((struct ek_guardrails){.model_drift = true}, f), EK_GUARDRAIL_DRIFT);

    f = healthy(3); /* evidence counts its own lists */
    f.worse = EK_HARM_EVIDENCE - 1;
    ck_assert_int_eq(hit_by((struct ek_guardrails){.worse_than_unmitigated = true}, f),
                     EK_GUARDRAIL_NONE);
    f.worse = EK_HARM_EVIDENCE;
    ck_assert_int_eq(hit_by((struct ek_guardrails){.worse_than_unmitigated = true}, f),
                     EK_GUARDRAIL_WORSE);
    ck_assert_int_eq(hit_by((struct ek_guardrails){.worse_than_unmitigated = false}, f),
                     EK_GUARDRAIL_NONE);
}
END_TEST

/* 99% interval of Wilson, lower end: of 18 in 1,000 it is 0.0099, of 19 0.0106, of 21 0.0121. */
START_TEST(a_share_counts_by_what_it_surely_is)
{
    struct ek_guardrails asked = {.error_rate = .01};
    struct ek_rollout_stats f = healthy(1000);
    f.failed = 18;
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_NONE);
    f.failed = 19;
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_ERRORS);

    asked = (struct ek_guardrails){.dead_letter_rate = .01};
    f = healthy(1000);
    f.dead = 19;
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_DEAD);
    f.dead_rate_elsewhere = .001; /* forwarded lists are dead-lettered as well */
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_NONE);
    f.dead = 21;
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_DEAD);
}
END_TEST

START_TEST(latency_counts_when_it_is_high_twice)
{
    struct ek_guardrails asked = {.latency_p99_ms = 50};
    struct ek_rollout_stats f = healthy(1000);
    f.latency_p99_ms = 80;
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_NONE);
    f.latency_before_ms = 50;
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_NONE);
    f.latency_before_ms = 51;
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_LATENCY);
    f.latency_p99_ms = NAN; /* another route was the last to grow */
    ck_assert_int_eq(hit_by(asked, f), EK_GUARDRAIL_NONE);
}
END_TEST

START_TEST(what_was_rolled_back_stays_so_until_a_person_lets_it_begin)
{
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(LISTS);
    struct ek_rollout r = begun();
    c.abort_if.rank_change_p95 = .5;
    f.rank_change_p95 = .75;
    r.percent = 4000;
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW + EVERY),
                     EK_ROLLOUT_ROLLED_BACK);
    ck_assert_int_eq(r.rolled_back, EK_GUARDRAIL_RANKS);
    ck_assert(r.observed == .75 && r.limit == .5);
    ck_assert(!ek_rollout_may_act(&r));
    f.rank_change_p95 = 0;
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW + 2 * EVERY),
                     EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(r.rolled_back, EK_GUARDRAIL_RANKS);
    ek_rollout_resume(&r, &c, NOW + 2 * EVERY);
    ck_assert(ek_rollout_may_act(&r));
    ck_assert_int_eq(r.percent, 500);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW + 3 * EVERY - 1),
                     EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW + 3 * EVERY),
                     EK_ROLLOUT_STEPPED);
}
END_TEST

START_TEST(rails_hold_in_enforce_and_not_where_nothing_acts)
{
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(LISTS);
    struct ek_rollout r = begun();
    c.abort_if.rank_change_p95 = .5;
    f.rank_change_p95 = .75;
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_OBSERVE, &c, &f, NOW), EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_SHADOW, &c, &f, NOW), EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_ENFORCE, &c, &f, NOW), EK_ROLLOUT_ROLLED_BACK);
}
END_TEST

START_TEST(the_time_in_shadow_is_none_of_the_canary)
{
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(LISTS);
    struct ek_rollout r = begun();
    int64_t begins = NOW + 50 * (int64_t)EVERY;
    ek_rollout_step(&r, EK_MODE_SHADOW, &c, &f, begins);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, begins + EVERY - 1),
                     EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, begins + EVERY),
                     EK_ROLLOUT_STEPPED);
}
END_TEST

START_TEST(a_pause_does_not_count_for_the_next_step)
{
    struct ek_rollouts *s = new_rollouts();
    struct ek_rules rule = rules();
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(LISTS);
    struct ek_rollout *r = ek_rollout_begin(s, 0, 0, &rule, &c, NOW);
    ek_rollouts_add_pause(s, 5 * EVERY);
    ck_assert_int_eq(ek_rollout_step(r, EK_MODE_CANARY, &c, &f, NOW + 6 * (int64_t)EVERY - 1),
                     EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(ek_rollout_step(r, EK_MODE_CANARY, &c, &f, NOW + 6 * (int64_t)EVERY),
                     EK_ROLLOUT_STEPPED);
    free(s);
}
END_TEST

START_TEST(a_time_that_was_ahead_does_not_stop_the_steps)
{
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(LISTS);
    struct ek_rollout r = begun();
    r.step_ms = INT64_MAX / 2; /* one list with a time far ahead */
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW), EK_ROLLOUT_UNCHANGED);
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW + EVERY), EK_ROLLOUT_STEPPED);
}
END_TEST

START_TEST(a_smaller_maximum_of_new_rules_counts_at_once)
{
    struct ek_canary c = canary();
    struct ek_rollout_stats f = healthy(0);
    struct ek_rollout r = begun();
    r.percent = 6000;
    c.max_percent = 20;
    ck_assert_int_eq(ek_rollout_step(&r, EK_MODE_CANARY, &c, &f, NOW), EK_ROLLOUT_STEPPED);
    ck_assert_int_eq(r.percent, 2000);
}
END_TEST

START_TEST(a_hold_grows_with_each_relapse_and_is_forgiven)
{
    struct ek_rollouts *s = new_rollouts();
    struct ek_rules rule = rules();
    struct ek_canary c = canary();
    int64_t now = NOW;
    struct ek_rollout *r = ek_rollout_begin(s, 3, 2, &rule, &c, now);
    ck_assert_int_eq(ek_rollout_min_duration_ms(r, &rule), HOLD);
    for (int times = 2; times <= 5; times++) {
        r->percent = 9000;
        ek_rollout_end(s, 3, 2, now);
        ck_assert(!ek_rollout_may_act(r));
        now += EK_FLAP_DURATIONS * (int64_t)HOLD;
        r = ek_rollout_begin(s, 3, 2, &rule, &c, now);
        ck_assert_int_eq(ek_rollout_min_duration_ms(r, &rule), times * HOLD);
        ck_assert_int_eq(r->percent, 500); /* a relapse restarts its canary */
    }
    r->relapses = 1000000;
    ck_assert_int_eq(ek_rollout_min_duration_ms(r, &rule), rule.max_duration_ms);
    ek_rollout_end(s, 3, 2, now);
    r = ek_rollout_begin(s, 3, 2, &rule, &c, now + EK_FLAP_DURATIONS * (int64_t)HOLD + 1);
    ck_assert_int_eq(r->relapses, 0);
    ck_assert_int_eq(s->count, 1);
    free(s);
}
END_TEST

START_TEST(what_goes_on_does_not_begin_again)
{
    struct ek_rollouts *s = new_rollouts();
    struct ek_rules rule = rules();
    struct ek_canary c = canary();
    ek_rollout_begin(s, 0, 0, &rule, &c, NOW)->percent = 7000;
    struct ek_rollout *r = ek_rollout_begin(s, 0, 0, &rule, &c, NOW + 5);
    ck_assert_int_eq(r->percent, 7000);
    ck_assert_int_eq(r->relapses, 0);
    free(s);
}
END_TEST

START_TEST(the_place_that_ended_first_gives_way)
{
    struct ek_rollouts *s = new_rollouts();
    struct ek_rules rule = rules();
    struct ek_canary c = canary();
    for (int i = 0; i < EK_ROLLOUTS_MAX; i++)
        ck_assert_ptr_nonnull(ek_rollout_begin(s, 0, i, &rule, &c, NOW));
    ck_assert_ptr_null(ek_rollout_begin(s, 1, 0, &rule, &c, NOW));
    ck_assert(!ek_rollout_may_act(NULL));
    ek_rollout_end(s, 0, 7, NOW + 9);
    ek_rollout_end(s, 0, 3, NOW + 8);
    ck_assert_ptr_nonnull(ek_rollout_begin(s, 1, 0, &rule, &c, NOW + 10));
    ck_assert_ptr_null(ek_rollout_find(s, 0, 3));
    ck_assert_ptr_nonnull(ek_rollout_find(s, 0, 7));
    free(s);
}
END_TEST

START_TEST(a_cell_that_changes_hands_is_forgotten)
{
    struct ek_rollouts *s = new_rollouts();
    struct ek_rules rule = rules();
    struct ek_canary c = canary();
    for (int cell = 0; cell < 4; cell++)
        for (int feature = 0; feature < 2; feature++)
            ek_rollout_begin(s, feature, cell, &rule, &c, NOW);
    ek_rollouts_reset_cell(s, 2);
    ck_assert_int_eq(s->count, 6);
    ck_assert_ptr_null(ek_rollout_find(s, 1, 2));
    ck_assert_ptr_nonnull(ek_rollout_find(s, 1, 3));
    free(s);
}
END_TEST

START_TEST(rails_are_called_as_in_the_rules)
{
    ck_assert_str_eq(ek_guardrail_name(EK_GUARDRAIL_NONE), "none");
    ck_assert_str_eq(ek_guardrail_name(EK_GUARDRAIL_RANKS), "rank_change_p95");
    ck_assert_str_eq(ek_guardrail_name(EK_GUARDRAIL_ERRORS), "error_rate");
    ck_assert_str_eq(ek_guardrail_name(EK_GUARDRAIL_DEAD), "dead_letter_rate");
    ck_assert_str_eq(ek_guardrail_name(EK_GUARDRAIL_LATENCY), "latency_p99");
    ck_assert_str_eq(ek_guardrail_name(EK_GUARDRAIL_DRIFT), "model_drift");
    ck_assert_str_eq(ek_guardrail_name(EK_GUARDRAIL_WORSE), "worse_than_unmitigated");
}
END_TEST

Suite *suite_rollout(void)
{
    return ek_suite(
        "rollout", a_canary_grows_by_its_steps_up_to_its_maximum,
        without_traffic_there_is_no_growth_and_no_verdict,
        each_rail_is_hit_above_its_limit_and_not_at_it, a_share_counts_by_what_it_surely_is,
        latency_counts_when_it_is_high_twice,
        what_was_rolled_back_stays_so_until_a_person_lets_it_begin,
        rails_hold_in_enforce_and_not_where_nothing_acts, the_time_in_shadow_is_none_of_the_canary,
        a_pause_does_not_count_for_the_next_step, a_time_that_was_ahead_does_not_stop_the_steps,
        a_smaller_maximum_of_new_rules_counts_at_once,
        a_hold_grows_with_each_relapse_and_is_forgiven, what_goes_on_does_not_begin_again,
        the_place_that_ended_first_gives_way, a_cell_that_changes_hands_is_forgotten,
        rails_are_called_as_in_the_rules);
}
