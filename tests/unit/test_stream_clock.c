/* The stream's time: partitions out of step and wrong clocks must not shorten or freeze a hold. */
#include "guard/stream_clock.h"
#include "tests/check.h"

enum { HOUR = 3600 * 1000 };
static const int64_t START = 1790000000000, DAY = (int64_t)24 * HOUR;

START_TEST(it_follows_the_lists_and_never_steps_back_a_little)
{
    struct ek_stream_clock c = {0};
    ck_assert_int_eq(ek_stream_clock_list(&c, START), START);
    ck_assert_int_eq(ek_stream_clock_list(&c, START + 5000), START + 5000);
    ck_assert_int_eq(ek_stream_clock_list(&c, START - HOUR), START + 5000);
    ck_assert_int_eq(ek_stream_clock_list(&c, START + 6000), START + 6000);
}
END_TEST

START_TEST(one_list_from_next_year_changes_nothing)
{
    struct ek_stream_clock c = {0};
    ek_stream_clock_list(&c, START);
    for (int i = 1; i < 1000; i++) {
        ek_stream_clock_list(&c, START + 365 * DAY);
        ck_assert_int_eq(ek_stream_clock_list(&c, START + i), START + i);
    }
}
END_TEST

START_TEST(a_stream_that_really_is_elsewhere_is_followed)
{
    for (int direction = -1; direction <= 1; direction += 2) {
        struct ek_stream_clock c = {0};
        int64_t there = START + direction * 100 * DAY;
        ek_stream_clock_list(&c, START);
        for (int i = 1; i < EK_STREAM_CLOCK_LISTS; i++)
            ck_assert_int_eq(ek_stream_clock_list(&c, there), START);
        ck_assert_int_eq(ek_stream_clock_list(&c, there), there);
    }
}
END_TEST

START_TEST(time_passes_without_lists)
{
    struct ek_stream_clock c = {0};
    ck_assert_int_eq(ek_stream_clock_pass(&c, 1000), 0);
    ek_stream_clock_list(&c, START);
    ck_assert_int_eq(ek_stream_clock_pass(&c, 1000), START + 1000);
    ck_assert_int_eq(ek_stream_clock_pass(&c, -5000), START + 1000);
    ck_assert_int_eq(ek_stream_clock_pass(&c, 2 * DAY), START + 1000);
}
END_TEST

Suite *suite_stream_clock(void)
{
    return ek_suite("stream clock", it_follows_the_lists_and_never_steps_back_a_little,
                    one_list_from_next_year_changes_nothing,
                    a_stream_that_really_is_elsewhere_is_followed, time_passes_without_lists);
}
