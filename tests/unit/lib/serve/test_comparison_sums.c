/* Plan entries that a comparison counts for, and their lifetime. */
#include "serve/comparison_sums.h"

#include "base/rng.h"
#include "tests/check.h"

#include <math.h>

static const struct ek_treatment ROUTE = {EK_ACT_ROUTE, 0}, SILENCE = {EK_ACT_BLANK, 0};

static struct ek_plan plan;
static struct ek_comparisons *trials;

/* A plan with (0, all traffic), (1, all traffic) and (0, cell 4). */
static void setup(void)
{
    plan = (struct ek_plan){0};
    ck_assert_int_eq(ek_comparisons_new(&trials, NULL), EK_OK);
    ek_plan_set(&plan, 0, 0, ROUTE, 10);
    ek_plan_set(&plan, 1, 0, ROUTE, 11);
    ek_plan_set(&plan, 0, 4, ROUTE, 12);
}

static void teardown(void)
{
    ek_comparisons_free(trials);
}

/* Return the comparison of a list with entries a and b; b -1: only a. */
static struct ek_comparison trial_of(int a, int b)
{
    return (struct ek_comparison){.plan = plan.version,
                                  .entries = 1 + (b >= 0),
                                  .entry = {(int16_t)a, (int16_t)b},
                                  .result.moved = {.8, .9, 1.5, .25},
                                  .result.out = {.8, .9, 1.5, .25}};
}

static void take(const struct ek_comparison *t)
{
    ck_assert_int_eq(ek_comparisons_add(trials, &plan, t, NULL), EK_OK);
}

static const struct ek_plan_entry *entry_of(int feature, int cell)
{
    for (int i = 0; i < plan.count; i++)
        if (plan.entry[i].feature == feature && plan.entry[i].cell == cell)
            return &plan.entry[i];
    ck_abort_msg("no such entry");
    return NULL;
}

static const struct ek_comparison_sums *sums_of(int feature, int cell)
{
    return ek_comparisons_get(trials, entry_of(feature, cell));
}

static uint64_t tried(int feature, int cell)
{
    const struct ek_comparison_sums *s = sums_of(feature, cell);
    return s ? s->compared : 0;
}

START_TEST(a_trial_counts_for_each_entry_that_treats_its_list)
{
    setup();
    ck_assert_ptr_null(sums_of(0, 0));
    struct ek_comparison t = trial_of(1, 2);
    take(&t);
    t = trial_of(2, -1);
    t.acting = 1;
    t.result.has_plain = true;
    t.result.plain = (struct ek_rank_change){1, 1, 0, 0};
    take(&t);
    ck_assert_uint_eq(tried(0, 0), 0);
    ck_assert_uint_eq(tried(1, 0), 1);
    const struct ek_comparison_sums *s = sums_of(0, 4);
    ck_assert(s->compared == 2 && s->alone == 1 && s->moved.lists == 2 && s->acted.lists == 1);
    ck_assert(s->plain.lists == 1 && ek_rank_sums_mean(&s->plain).change == 0);
    ck_assert_double_eq_tol(ek_rank_sums_mean(&s->moved).change, .25, 1e-6);
    ck_assert_uint_eq(s->measured, 0);
    teardown();
}
END_TEST

START_TEST(figures_stay_with_their_entry_when_others_come_and_go)
{
    setup();
    struct ek_comparison t = trial_of(2, -1);
    take(&t);
    ek_plan_remove(&plan, 0, 0);
    ek_plan_set(&plan, 7, 3, ROUTE, 20);
    t = trial_of(1, -1); /* (0, 4) is entry 1 now */
    take(&t);
    ck_assert_uint_eq(tried(0, 4), 2);
    ck_assert_uint_eq(tried(1, 0) + tried(7, 3), 0);
    teardown();
}
END_TEST

START_TEST(what_was_tried_under_another_plan_counts_for_nothing)
{
    setup();
    struct ek_comparison t = trial_of(2, -1);
    ek_plan_remove(&plan, 0, 0);
    take(&t);
    ck_assert_uint_eq(tried(0, 4), 0);
    ck_assert_uint_eq(ek_comparisons_stale_count(trials), 1);
    teardown();
}
END_TEST

START_TEST(an_entry_that_comes_again_or_does_something_else_begins_anew)
{
    setup();
    struct ek_comparison t = trial_of(0, 1);
    take(&t);
    ek_plan_remove(&plan, 0, 0);
    ek_plan_set(&plan, 0, 0, ROUTE, 30); /* the cell may have another value */
    ek_plan_set(&plan, 1, 0, SILENCE, 30);
    t = trial_of(1, -1);
    take(&t);
    ck_assert_uint_eq(tried(0, 0), 0);
    ck_assert_uint_eq(tried(1, 0), 0);
    ck_assert_uint_eq(tried(0, 4), 1);
    teardown();
}
END_TEST

START_TEST(figures_begin_anew_when_they_are_told_to)
{
    setup();
    struct ek_comparison t = trial_of(0, 2);
    t.result.has_harm = true;
    t.result.harm = 1;
    for (int i = 0; i < 40; i++)
        take(&t);
    ck_assert(ek_mean_evalues_evidence(&sums_of(0, 0)->worse) > EK_HARM_EVIDENCE);
    ek_comparisons_reset(trials, 0, 0);
    ek_comparisons_reset(trials, 9, 9);
    const struct ek_comparison_sums *s = sums_of(0, 0);
    ck_assert(!s->compared && !s->measured && ek_mean_evalues_evidence(&s->worse) == 0);
    ck_assert_uint_eq(tried(0, 4), 40);
    take(&t);
    ck_assert_uint_eq(tried(0, 0), 1);
    teardown();
}
END_TEST

/* The worst harmless case: half of the lists all harm, half of them none. */
START_TEST(treatments_at_the_border_are_taken_back_no_more_often_than_the_budget_says)
{
    enum { STREAMS = 2000, LENGTH = EK_HARM_EVIDENCE / 10 };
    int hit = 0;
    for (int k = 0; k < STREAMS; k++) {
        struct ek_rng r;
        double most = 0;
        setup();
        ek_rng_seed_stream(&r, 12, (uint64_t)k);
        struct ek_comparison t = trial_of(0, -1);
        t.result.has_harm = true;
        for (int i = 0; i < LENGTH && most < EK_HARM_EVIDENCE; i++) {
            t.result.harm = ek_rng_uniform(&r) < .5 ? -1 : 1;
            take(&t);
            most = fmax(most, ek_mean_evalues_evidence(&sums_of(0, 0)->worse));
        }
        hit += most >= EK_HARM_EVIDENCE;
        teardown();
    }
    ck_assert_int_le(hit, (int)(STREAMS * .1 + 3 * sqrt(STREAMS * .1 * .9)));
}
END_TEST

/* Bits of the plan entries that the output was scored under. */
START_TEST(what_acts_is_counted_apart_from_what_is_in_shadow_beside_it)
{
    setup();
    struct ek_comparison t = trial_of(0, 1);
    t.acting = 2;
    t.result.out.change = .5;
    take(&t);
    ck_assert(sums_of(0, 0)->moved.lists == 1 && sums_of(0, 0)->acted.lists == 0);
    ck_assert(sums_of(1, 0)->acted.lists == 1);
    struct ek_rollout_stats acts = ek_comparisons_stats(trials, entry_of(1, 0)),
                            shadow = ek_comparisons_stats(trials, entry_of(0, 0)),
                            would = ek_comparisons_would_roll_back(trials, entry_of(0, 0));
    ck_assert(acts.compared == 1 && acts.rank_change_p95 >= .5);
    ck_assert(shadow.compared == 0 && isnan(shadow.rank_change_p95));
    ck_assert(would.compared == 1 && would.rank_change_p95 >= .25 && would.rank_change_p95 < .3);
    teardown();
}
END_TEST

START_TEST(an_entry_at_another_place_of_the_same_plan_has_its_own_figures)
{
    setup();
    struct ek_comparison t = trial_of(0, -1);
    take(&t);
    struct ek_plan_entry first = plan.entry[0];
    plan.entry[0] = plan.entry[2];
    plan.entry[2] = first;
    take(&t);
    ck_assert_uint_eq(tried(0, 4), 1);
    ck_assert_uint_eq(tried(0, 0), 1);
    teardown();
}
END_TEST

static struct ek_route_stats some_acts(uint32_t lists, uint32_t failed)
{
    struct ek_route_stats a = {.plan = plan.version, .lists = lists, .entries = 2};
    a.acted[1] = lists;
    a.failed[1] = failed;
    return a;
}

static void take_acts(const struct ek_route_stats *a)
{
    ck_assert_int_eq(ek_comparisons_add_routes(trials, &plan, a, NULL), EK_OK);
}

START_TEST(lists_it_acts_on_and_those_that_failed_are_counted_by_entry)
{
    setup();
    struct ek_route_stats a = some_acts(100, 3);
    take_acts(&a);
    take_acts(&a);
    struct ek_rollout_stats f = ek_comparisons_stats(trials, entry_of(1, 0));
    ck_assert(f.acted == 200 && f.failed == 6 && f.dead == 0 && isnan(f.dead_rate_elsewhere));
    f = ek_comparisons_stats(trials, entry_of(0, 0));
    ck_assert(f.acted == 0 && f.failed == 0);
    ek_plan_remove(&plan, 0, 4);
    take_acts(&a); /* of the previous plan */
    ck_assert_uint_eq(ek_comparisons_stats(trials, entry_of(1, 0)).acted, 200);
    teardown();
}
END_TEST

START_TEST(dead_letters_count_for_an_entry_by_its_part_of_the_lists)
{
    setup();
    struct ek_output_counts load = {{500, 300}, {500, 100}};
    ek_comparisons_add_output_counts(trials, &load); /* before it existed */
    struct ek_route_stats a = some_acts(100, 0);
    take_acts(&a);
    ck_assert(ek_comparisons_stats(trials, entry_of(1, 0)).dead == 0);
    load = (struct ek_output_counts){{90, 360}, {10, 40}};
    ek_comparisons_add_output_counts(trials, &load);
    struct ek_rollout_stats f = ek_comparisons_stats(trials, entry_of(1, 0));
    ck_assert(f.dead == 10);
    ck_assert_double_eq_tol(f.dead_rate_elsewhere, .1, 1e-12);
    ek_comparisons_reset(trials, 1, 0);
    f = ek_comparisons_stats(trials, entry_of(1, 0));
    ck_assert(f.dead == 0 && f.acted == 0 && isnan(f.dead_rate_elsewhere));
    teardown();
}
END_TEST

/* Times of `lists` lists, of which the slowest 2% take 40 ms and the others 1 ms. */
static struct ek_route_stats slow_acts(uint32_t lists)
{
    struct ek_route_stats a = some_acts(lists, 0);
    a.latency[ek_latency_window_bin(1000000)] = lists - lists / 50;
    a.latency[ek_latency_window_bin(40000000)] = lists / 50;
    return a;
}

START_TEST(two_windows_of_times_come_one_after_the_other_and_begin_anew_with_a_step)
{
    setup();
    struct ek_route_stats a = slow_acts(EK_LATENCY_WINDOW_SIZE / 2);
    for (int i = 0; i < 4; i++) {
        struct ek_rollout_stats f = ek_comparisons_stats(trials, entry_of(1, 0));
        ck_assert(isnan(f.latency_before_ms) && isnan(f.latency_p99_ms) == (i < 2));
        take_acts(&a);
    }
    struct ek_rollout_stats f = ek_comparisons_stats(trials, entry_of(1, 0));
    ck_assert(f.latency_p99_ms > 33 && f.latency_p99_ms <= 40);
    ck_assert(f.latency_before_ms == f.latency_p99_ms);
    ek_comparisons_reset(trials, 0, 0); /* whichever advanced */
    ck_assert(isnan(ek_comparisons_stats(trials, entry_of(1, 0)).latency_p99_ms));
    teardown();
}
END_TEST

/* Add one list that entry (1, all traffic) routes, with that rank change. */
static void act(double change, bool fails)
{
    struct ek_comparison t = trial_of(1, -1);
    struct ek_route_stats a = some_acts(1, fails);
    t.result.out.change = change;
    t.acting = 1;
    take(&t);
    take_acts(&a);
}

/* Return the lists until a guardrail trips, after `well` healthy ones. */
static int lists_until_hit(int well, const struct ek_canary *c, double change, bool fails)
{
    int lists = 0;
    double observed, limit;
    struct ek_rollout_stats f;
    setup();
    for (int i = 0; i < well; i++)
        act(.1, false);
    do {
        act(change, fails);
        f = ek_comparisons_stats(trials, entry_of(1, 0));
    } while (++lists < 5000 && !ek_rollout_check_guardrails(c, &f, &observed, &limit));
    teardown();
    return lists;
}

START_TEST(a_guardrail_answers_as_soon_after_a_long_time_as_after_a_short_one)
{
    const struct ek_canary ranks = {.min_lists = 20, .abort_if = {.rank_change_p95 = .4}},
                           errors = {.min_lists = 20, .abort_if = {.error_rate = .01}};
    static const int well[] = {0, 1500, 24000, 24999};
    for (size_t i = 0; i < sizeof well / sizeof *well; i++) {
        ck_assert_int_le(lists_until_hit(well[i], &ranks, .9, false), EK_GUARDRAIL_LISTS / 9);
        ck_assert_int_le(lists_until_hit(well[i], &errors, .1, true), EK_GUARDRAIL_LISTS / 20);
    }
}
END_TEST

START_TEST(lists_that_are_too_long_ago_still_count_for_min_lists)
{
    const struct ek_canary c = {.min_lists = 5000, .abort_if = {.error_rate = .01}};
    ck_assert_int_eq(lists_until_hit(4000, &c, .1, true), 1000);
}
END_TEST

/* Sums received once per report by the leader, after a loss. */
START_TEST(sums_that_became_less_begin_anew)
{
    struct ek_recent_values r;
    struct ek_output_counts load = {{7, 7}, {7, 7}};
    struct ek_latency_window none = {.times = 0};
    struct ek_comparison_sums s = {.acts = 9000, .failed = 100};
    ek_mean_evalues_start(&s.worse, EK_HARM_BOUND);
    ek_recent_values_start(&r, &load);
    ek_recent_values_roll(&r, &s, &load);
    struct ek_rollout_stats f = ek_recent_values_stats(&r, &s, &load, &none);
    ck_assert(f.acted == 9000 && f.failed == 100 && f.dead == 0);
    s.acts += 1000;
    ek_recent_values_roll(&r, &s, &load);
    f = ek_recent_values_stats(&r, &s, &load, &none);
    ck_assert(f.acted == 1000 && f.earlier == 9000 && f.failed == 0);
    s.acts = 400;
    s.failed = 40;
    ek_recent_values_roll(&r, &s, &load);
    s.acts += 5;
    f = ek_recent_values_stats(&r, &s, &load, &none);
    ck_assert(f.acted == 5 && f.earlier == 400 && f.failed == 0);
}
END_TEST

START_TEST(a_time_is_in_the_bin_it_lies_in)
{
    ck_assert_int_eq(ek_latency_window_bin(0), 0);
    ck_assert_int_eq(ek_latency_window_bin(63999), 0);
    ck_assert_int_eq(ek_latency_window_bin(64000), 1);
    ck_assert_int_eq(ek_latency_window_bin(UINT64_MAX), EK_LATENCY_WINDOW_BINS - 1);
    for (int i = 1; i < EK_LATENCY_WINDOW_BINS - 1; i++) {
        double from = ek_latency_window_from_ms(i), to = ek_latency_window_from_ms(i + 1);
        ck_assert(to > from && to < 1.2 * from);
        ck_assert_int_eq(ek_latency_window_bin((uint64_t)ceil(from * 1e6)), i);
        ck_assert_int_eq(ek_latency_window_bin((uint64_t)(from * 1.1 * 1e6)), i);
    }
}
END_TEST

Suite *suite_comparison_sums(void)
{
    return ek_suite("trial sums", a_trial_counts_for_each_entry_that_treats_its_list,
                    figures_stay_with_their_entry_when_others_come_and_go,
                    what_was_tried_under_another_plan_counts_for_nothing,
                    an_entry_that_comes_again_or_does_something_else_begins_anew,
                    figures_begin_anew_when_they_are_told_to,
                    treatments_at_the_border_are_taken_back_no_more_often_than_the_budget_says,
                    what_acts_is_counted_apart_from_what_is_in_shadow_beside_it,
                    an_entry_at_another_place_of_the_same_plan_has_its_own_figures,
                    lists_it_acts_on_and_those_that_failed_are_counted_by_entry,
                    dead_letters_count_for_an_entry_by_its_part_of_the_lists,
                    two_windows_of_times_come_one_after_the_other_and_begin_anew_with_a_step,
                    a_guardrail_answers_as_soon_after_a_long_time_as_after_a_short_one,
                    lists_that_are_too_long_ago_still_count_for_min_lists,
                    sums_that_became_less_begin_anew, a_time_is_in_the_bin_it_lies_in);
}
