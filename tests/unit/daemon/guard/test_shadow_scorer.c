/* Shadow-scoring budget of a worker. */
#include "daemon/guard/shadow_scorer.h"

#include "tests/check.h"
#include "tests/state_bench.h"

enum { MS = 1000000, US = 1000 };

static struct ek_metrics *metrics;
static struct ek_shadow_scorer tries;

static void setup(int percent)
{
    metrics = ek_metrics_new();
    ck_assert_ptr_nonnull(metrics);
    ek_shadow_scorer_init(&tries, percent, 0, metrics);
}

static void teardown(void)
{
    ek_metrics_free(metrics);
}

/* Return how many of `lists`, one every `apart_ns`, are compared at `cost_ns` each. */
static uint64_t tried(uint64_t lists, uint64_t apart_ns, uint64_t cost_ns)
{
    uint64_t some = 0;
    for (uint64_t i = 0; i < lists; i++)
        if (ek_shadow_scorer_is_due(&tries, false, (i + 1) * apart_ns)) {
            ek_shadow_scorer_add_time(&tries, cost_ns);
            some++;
        }
    return some;
}

static uint64_t skipped(void)
{
    return ek_metrics_counter(metrics, EK_COUNT_SHADOW_SKIPPED);
}

START_TEST(with_time_to_spare_every_list_is_tried)
{
    setup(5);
    ck_assert_uint_eq(tried(100000, 1 * MS, 40 * US), 100000);
    ck_assert_uint_eq(skipped(), 0);
    teardown();
}
END_TEST

/* 2.5 s of lists: 125 ms, and 5 ms saved before. */
START_TEST(without_trials_take_their_part_of_the_time_and_the_rest_is_counted)
{
    setup(5);
    uint64_t some = tried(50000, 50 * US, 20 * US);
    ck_assert_uint_ge(some, 6250);
    ck_assert_uint_le(some, 6250 + 251);
    ck_assert_uint_eq(skipped(), 50000 - some);
    teardown();
}
END_TEST

START_TEST(a_long_trial_is_paid_for_before_the_next)
{
    setup(10);
    ck_assert(ek_shadow_scorer_is_due(&tries, false, 1));
    ek_shadow_scorer_add_time(&tries, 60 * MS); /* 10 ms were saved */
    ck_assert(!ek_shadow_scorer_is_due(&tries, false, 499 * (uint64_t)MS));
    ck_assert(
        !ek_shadow_scorer_is_due(&tries, false, 7 * (uint64_t)MS)); /* a clock that runs backward */
    ck_assert(ek_shadow_scorer_is_due(&tries, false, 9 * (uint64_t)MS));
    teardown();
}
END_TEST

START_TEST(a_worker_that_is_behind_tries_nothing)
{
    setup(100);
    for (uint64_t i = 1; i <= 50; i++)
        ck_assert(!ek_shadow_scorer_is_due(&tries, true, i * 1000 * MS));
    ck_assert_uint_eq(skipped(), 50);
    ck_assert(ek_shadow_scorer_is_due(&tries, false, 51 * (uint64_t)1000 * MS));
    teardown();
}
END_TEST

START_TEST(none_and_all_of_the_time)
{
    setup(0);
    ck_assert_uint_eq(tried(1000, 1 * MS, 0), 0);
    ck_assert_uint_eq(skipped(), 1000);
    teardown();
    setup(100);
    ck_assert_uint_eq(tried(1000, 1 * MS, 1 * MS), 1000);
    teardown();
}
END_TEST

START_TEST(no_more_wait_for_the_guard_than_there_is_room_for)
{
    setup(100);
    tries.pending = EK_SHADOW_SCORER_MAX - 1;
    ck_assert(ek_shadow_scorer_is_due(&tries, false, 1));
    tries.pending = EK_SHADOW_SCORER_MAX;
    ck_assert(!ek_shadow_scorer_is_due(&tries, false, 2));
    teardown();
}
END_TEST

/* A reload happens between the comparison and its report. */
START_TEST(what_was_tried_with_another_model_is_passed_over)
{
    struct bench *b = bench_new();
    struct ek_assets other;
    setup(100);
    for (int same = 0; same < 2; same++) {
        tries.pending = 1;
        tries.result[0] = (struct ek_comparison){0};
        tries.assets = same ? &b->assets : &other;
        ek_shadow_scorer_report(&tries, b->guard);
        ck_assert_uint_eq(skipped(), 1);
        ck_assert(!ek_shadow_scorer_has_results(&tries));
    }
    teardown();
    bench_free(b);
}
END_TEST

Suite *suite_shadow_scorer(void)
{
    return ek_suite("tries", with_time_to_spare_every_list_is_tried,
                    without_trials_take_their_part_of_the_time_and_the_rest_is_counted,
                    a_long_trial_is_paid_for_before_the_next, a_worker_that_is_behind_tries_nothing,
                    none_and_all_of_the_time, no_more_wait_for_the_guard_than_there_is_room_for,
                    what_was_tried_with_another_model_is_passed_over);
}
