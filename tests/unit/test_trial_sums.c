/* Which entries of the plan a trial counts for, and for how long. */
#include "guard/trial_sums.h"

#include "base/rng.h"
#include "tests/check.h"

#include <math.h>

static const struct ek_treatment ROUTE = {EK_ACT_ROUTE, 0}, SILENCE = {EK_ACT_SILENCE, 0};

static struct ek_plan plan;
static struct ek_trials *trials;

/* A plan with (0, all traffic), (1, all traffic) and (0, cell 4). */
static void setup(void)
{
    plan = (struct ek_plan){0};
    ck_assert_int_eq(ek_trials_new(&trials, NULL), EK_OK);
    ek_plan_set(&plan, 0, 0, ROUTE, 10);
    ek_plan_set(&plan, 1, 0, ROUTE, 11);
    ek_plan_set(&plan, 0, 4, ROUTE, 12);
}

static void teardown(void)
{
    ek_trials_free(trials);
}

/* A trial of a list that entries a and b treat; b -1: a alone. */
static struct ek_trial trial_of(int a, int b)
{
    return (struct ek_trial){.plan = plan.version,
                             .entries = 1 + (b >= 0),
                             .entry = {(int16_t)a, (int16_t)b},
                             .ways.moved = {.8, .9, 1.5, .25}};
}

static void take(const struct ek_trial *t)
{
    ck_assert_int_eq(ek_trials_take(trials, &plan, t, NULL), EK_OK);
}

static uint64_t tried(int feature, int cell)
{
    const struct ek_trial_sums *s = ek_trials_of(trials, feature, cell);
    return s ? s->tried : 0;
}

START_TEST(a_trial_counts_for_each_entry_that_treats_its_list)
{
    setup();
    ck_assert_ptr_null(ek_trials_of(trials, 0, 0));
    struct ek_trial t = trial_of(1, 2);
    take(&t);
    t = trial_of(2, -1);
    t.acts = true;
    t.ways.has_plain = true;
    t.ways.plain = (struct ek_rank_change){1, 1, 0, 0};
    take(&t);
    ck_assert_uint_eq(tried(0, 0), 0);
    ck_assert_uint_eq(tried(1, 0), 1);
    const struct ek_trial_sums *s = ek_trials_of(trials, 0, 4);
    ck_assert(s->tried == 2 && s->alone == 1 && s->moved.lists == 2 && s->acted.lists == 1);
    ck_assert(s->plain.lists == 1 && ek_rank_sums_mean(&s->plain).change == 0);
    ck_assert_double_eq_tol(ek_rank_sums_mean(&s->moved).change, .25, 1e-6);
    ck_assert_uint_eq(s->measured, 0);
    teardown();
}
END_TEST

START_TEST(figures_stay_with_their_entry_when_others_come_and_go)
{
    setup();
    struct ek_trial t = trial_of(2, -1);
    take(&t);
    ek_plan_remove(&plan, 0, 0);
    ek_plan_set(&plan, 7, 3, ROUTE, 20);
    t = trial_of(1, -1); /* (0, 4) is entry 1 now */
    take(&t);
    ck_assert_uint_eq(tried(0, 4), 2);
    ck_assert_uint_eq(tried(0, 0) + tried(1, 0) + tried(7, 3), 0);
    teardown();
}
END_TEST

START_TEST(what_was_tried_under_another_plan_counts_for_nothing)
{
    setup();
    struct ek_trial t = trial_of(2, -1);
    ek_plan_remove(&plan, 0, 0);
    take(&t);
    ck_assert_uint_eq(tried(0, 4), 0);
    ck_assert_uint_eq(ek_trials_late(trials), 1);
    teardown();
}
END_TEST

START_TEST(an_entry_that_comes_again_or_does_something_else_begins_anew)
{
    setup();
    struct ek_trial t = trial_of(0, 1);
    take(&t);
    ek_plan_remove(&plan, 0, 0);
    ek_plan_set(&plan, 0, 0, ROUTE, 30); /* the cell may be another value's */
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
    struct ek_trial t = trial_of(0, 2);
    t.ways.has_harm = true;
    t.ways.harm = 1;
    for (int i = 0; i < 40; i++)
        take(&t);
    ck_assert(ek_mean_bets_evidence(&ek_trials_of(trials, 0, 0)->worse) > EK_HARM_EVIDENCE);
    ek_trials_begin(trials, 0, 0);
    ek_trials_begin(trials, 9, 9);
    const struct ek_trial_sums *s = ek_trials_of(trials, 0, 0);
    ck_assert(!s->tried && !s->measured && ek_mean_bets_evidence(&s->worse) == 0);
    ck_assert_uint_eq(tried(0, 4), 40);
    take(&t);
    ck_assert_uint_eq(tried(0, 0), 1);
    teardown();
}
END_TEST

/* As bad as harmless may be: half of the lists all harm, half of them none. */
START_TEST(treatments_at_the_border_are_taken_back_no_more_often_than_the_budget_says)
{
    enum { STREAMS = 2000, LENGTH = EK_HARM_EVIDENCE / 10 };
    int hit = 0;
    for (int k = 0; k < STREAMS; k++) {
        struct ek_rng r;
        double most = 0;
        setup();
        ek_rng_seed_stream(&r, 12, (uint64_t)k);
        struct ek_trial t = trial_of(0, -1);
        t.ways.has_harm = true;
        for (int i = 0; i < LENGTH && most < EK_HARM_EVIDENCE; i++) {
            t.ways.harm = ek_rng_uniform(&r) < .5 ? -1 : 1;
            take(&t);
            most = fmax(most, ek_mean_bets_evidence(&ek_trials_of(trials, 0, 0)->worse));
        }
        hit += most >= EK_HARM_EVIDENCE;
        teardown();
    }
    ck_assert_int_le(hit, (int)(STREAMS * .1 + 3 * sqrt(STREAMS * .1 * .9)));
}
END_TEST

Suite *suite_trial_sums(void)
{
    return ek_suite("trial sums", a_trial_counts_for_each_entry_that_treats_its_list,
                    figures_stay_with_their_entry_when_others_come_and_go,
                    what_was_tried_under_another_plan_counts_for_nothing,
                    an_entry_that_comes_again_or_does_something_else_begins_anew,
                    figures_begin_anew_when_they_are_told_to,
                    treatments_at_the_border_are_taken_back_no_more_often_than_the_budget_says);
}
