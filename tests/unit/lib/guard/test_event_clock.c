/* Event time: skewed partitions and wrong clocks must not shorten or freeze a minimum duration. */
#include "base/rng.h"
#include "guard/event_clock.h"
#include "tests/check.h"

enum { HOUR = 3600 * 1000 };
static const int64_t START = 1790000000000, DAY = (int64_t)24 * HOUR;

START_TEST(it_follows_the_lists_and_never_steps_back_a_little)
{
    struct ek_event_clock c = {0};
    ck_assert_int_eq(ek_event_clock_list(&c, START), START);
    ck_assert_int_eq(ek_event_clock_list(&c, START + 5000), START + 5000);
    ck_assert_int_eq(ek_event_clock_list(&c, START - HOUR), START + 5000);
    ck_assert_int_eq(ek_event_clock_list(&c, START + 6000), START + 6000);
}
END_TEST

START_TEST(one_list_from_next_year_changes_nothing)
{
    struct ek_event_clock c = {0};
    ek_event_clock_list(&c, START);
    for (int i = 1; i < 1000; i++) {
        ek_event_clock_list(&c, START + 365 * DAY);
        ck_assert_int_eq(ek_event_clock_list(&c, START + i), START + i);
    }
}
END_TEST

START_TEST(a_stream_that_really_is_elsewhere_is_followed)
{
    for (int direction = -1; direction <= 1; direction += 2) {
        struct ek_event_clock c = {0};
        int64_t there = START + direction * 100 * DAY;
        for (int i = 0; i < EK_EVENT_CLOCK_LISTS; i++)
            ek_event_clock_list(&c, START);
        for (int i = 0; i < EK_EVENT_CLOCK_LISTS / 2; i++)
            ck_assert_int_eq(ek_event_clock_list(&c, there), START);
        ek_event_clock_list(&c, there);
        ck_assert_int_eq(ek_event_clock_list(&c, there), there);
    }
}
END_TEST

/* One list must neither end a minimum duration of half an hour nor stop the clock until tomorrow.
 */
START_TEST(a_list_from_this_evening_changes_nothing)
{
    struct ek_event_clock c = {0};
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(ek_event_clock_list(&c, START + i), START + i);
        ck_assert_int_eq(ek_event_clock_list(&c, START + 20 * HOUR + i), START + i);
    }
}
END_TEST

START_TEST(a_wrong_clock_at_the_start_is_left_behind)
{
    struct ek_event_clock c = {0};
    ck_assert_int_eq(ek_event_clock_list(&c, START + 20 * HOUR), START + 20 * HOUR);
    ck_assert_int_eq(ek_event_clock_list(&c, START), START + 20 * HOUR);
    for (int i = 1; i < 1000; i++)
        ck_assert_int_eq(ek_event_clock_list(&c, START + i), START + i);
}
END_TEST

/* One list in three minutes, and a night without any. */
START_TEST(a_quiet_stream_is_followed_at_its_own_pace)
{
    enum { GAP = 180000, LAG = EK_EVENT_CLOCK_LISTS / 2 + 1 };
    struct ek_event_clock c = {0};
    int64_t time_ms = START, before = START;
    for (int i = 0; i < 500; i++) {
        time_ms += i == 300 ? 10 * HOUR : GAP;
        int64_t now = ek_event_clock_list(&c, time_ms);
        ck_assert_int_ge(now, before);
        ck_assert_int_le(now, time_ms);
        before = now;
    }
    ck_assert_int_ge(before, time_ms - (int64_t)LAG * GAP);
}
END_TEST

START_TEST(a_restored_clock_goes_on)
{
    struct ek_event_clock c = {.now_ms = START, .seen = EK_EVENT_CLOCK_LISTS, .started = 1};
    ek_event_clock_restored(&c);
    ck_assert_int_eq(ek_event_clock_list(&c, START + 20 * HOUR), START);
    ck_assert_int_eq(ek_event_clock_list(&c, START - 20 * HOUR), START);
    ck_assert_int_eq(ek_event_clock_list(&c, START + 1000), START + 1000);
}
END_TEST

/* Return a clock restored from a state. */
static struct ek_event_clock restarted(const struct ek_event_clock *c, int *rc)
{
    struct ek_buf bytes;
    struct ek_event_clock was = *c,
                          is = {.now_ms = c->now_ms, .seen = c->seen, .started = c->started};
    ek_buf_init(&bytes, 0);
    ek_event_clock_serialize(&was, &(struct ek_serialize){.out = &bytes});
    ek_event_clock_restored(&is);
    struct ek_serialize in = {.at = bytes.data, .end = bytes.data + bytes.length};
    ek_event_clock_serialize(&is, &in);
    ck_assert(in.at == in.end);
    ek_buf_release(&bytes);
    *rc = in.rc;
    return is;
}

START_TEST(a_restart_at_any_list_changes_no_time)
{
    static const int64_t step[] = {0, 10, 1000, -3000, 50000, 400000, 30 * DAY, -30 * DAY};
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    for (int run = 0; run < 50; run++) {
        struct ek_event_clock through = {0}, cut = {0};
        int64_t time_ms = START;
        for (int i = 0; i < 300; i++) {
            int rc;
            time_ms += step[ek_rng_uniform_int(&r, ek_rng_uniform_int(&r, 20) ? 6 : 8)];
            int64_t now_ms = ek_event_clock_list(&through, time_ms);
            ck_assert_int_eq(ek_event_clock_list(&cut, time_ms), now_ms);
            if (ek_rng_uniform_int(&r, 9) == 0)
                ck_assert_int_eq(ek_event_clock_advance(&cut, 700),
                                 ek_event_clock_advance(&through, 700));
            if (ek_rng_uniform_int(&r, 5) == 0)
                cut = restarted(&cut, &rc);
        }
    }
}
END_TEST

START_TEST(a_quiet_stream_is_followed_by_a_stage_that_restarts_with_every_list)
{
    enum { GAP = 180000 };
    struct ek_event_clock c = {0};
    int rc = EK_OK;
    for (int i = 0; i < 200 && !rc; i++) {
        ek_event_clock_list(&c, START + (int64_t)i * GAP);
        c = restarted(&c, &rc);
    }
    ck_assert_int_eq(rc, EK_OK);
    ck_assert_int_gt(c.now_ms, START + (int64_t)150 * GAP);
}
END_TEST

START_TEST(times_that_no_clock_has_are_refused)
{
    const int64_t bad[] = {START + 1, START - INT64_MAX - 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_event_clock c = {.now_ms = START, .seen = 1, .started = 1};
        const uint8_t *at = (const uint8_t *)&bad[i];
        struct ek_serialize in = {.at = at, .end = at + sizeof bad[i]};
        ek_event_clock_serialize(&c, &in);
        ck_assert_int_eq(in.rc, EK_EFORMAT);
        ck_assert_int_eq(c.last_ms[0], START);
    }
}
END_TEST

START_TEST(what_passed_without_lists_is_not_taken_back)
{
    struct ek_event_clock c = {0};
    for (int i = 0; i < 3; i++)
        ek_event_clock_list(&c, START);
    ek_event_clock_advance(&c, 5 * HOUR);
    ck_assert_int_eq(ek_event_clock_list(&c, START), START + 5 * HOUR);
    ck_assert_int_eq(ek_event_clock_list(&c, START + 5 * HOUR + 9), START + 5 * HOUR + 9);
}
END_TEST

START_TEST(time_passes_without_lists)
{
    struct ek_event_clock c = {0};
    ck_assert_int_eq(ek_event_clock_advance(&c, 1000), 0);
    ek_event_clock_list(&c, START);
    ck_assert_int_eq(ek_event_clock_advance(&c, 1000), START + 1000);
    ck_assert_int_eq(ek_event_clock_advance(&c, -5000), START + 1000);
    ck_assert_int_eq(ek_event_clock_advance(&c, 2 * DAY), START + 1000);
}
END_TEST

/* A state with negative times could not be restored. */
START_TEST(times_below_zero_count_as_zero)
{
    struct ek_event_clock c = {0};
    ck_assert_int_eq(ek_event_clock_list(&c, INT64_MIN), 0);
    ck_assert_int_eq(ek_event_clock_list(&c, -1), 0);
    for (int i = 0; i < c.seen; i++)
        ck_assert_int_eq(c.last_ms[i], 0);
}
END_TEST

Suite *suite_event_clock(void)
{
    return ek_suite(
        "stream clock", it_follows_the_lists_and_never_steps_back_a_little,
        one_list_from_next_year_changes_nothing, a_list_from_this_evening_changes_nothing,
        a_wrong_clock_at_the_start_is_left_behind, a_quiet_stream_is_followed_at_its_own_pace,
        a_stream_that_really_is_elsewhere_is_followed, a_restored_clock_goes_on,
        a_restart_at_any_list_changes_no_time,
        a_quiet_stream_is_followed_by_a_stage_that_restarts_with_every_list,
        times_that_no_clock_has_are_refused, times_below_zero_count_as_zero,
        what_passed_without_lists_is_not_taken_back, time_passes_without_lists);
}
