/* Lists per minute and rate of the API. */
#include "daemon/views/traffic_history.h"
#include "tests/check.h"

enum { SECOND = 1000, MINUTE = EK_TRAFFIC_MINUTE_MS };

static struct ek_traffic_history *started(void)
{
    struct ek_traffic_history *h = ek_traffic_history_new();
    ck_assert_ptr_nonnull(h);
    return h;
}

static void add(struct ek_traffic_history *h, uint64_t lists, uint64_t messages, int64_t event_ms,
                int64_t now_ms)
{
    const struct ek_traffic_sample s = {lists, messages, event_ms, now_ms, 100 * MINUTE};
    ek_traffic_history_add(h, &s);
}

static void assert_json(struct ek_traffic_history *h, const char *want)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_traffic_history_json(h, &out), 0);
    ck_assert_str_eq(ek_buf_string(&out), want);
    ek_buf_release(&out);
}

/* Assert `zeros` minutes without lists from `from`, then these. */
static void assert_minutes(struct ek_traffic_history *h, const char *from, int zeros,
                           const char *lists)
{
    struct ek_buf want;
    ek_buf_init(&want, 0);
    ek_buf_printf(&want, "{\"from_ms\":%s,\"lists\":[", from);
    while (zeros-- > 0)
        ek_buf_text(&want, "0,");
    ck_assert_int_eq(ek_buf_printf(&want, "%s]}", lists), 0);
    assert_json(h, ek_buf_string(&want));
    ek_buf_release(&want);
}

START_TEST(lists_count_evenly_in_the_minutes_since_the_previous_sample)
{
    struct ek_traffic_history *h = started();
    assert_json(h, "null");
    add(h, 0, 0, -1, 0);
    assert_json(h, "null");
    add(h, 10, 10, 70 * MINUTE, SECOND);
    add(h, 40, 40, 71 * MINUTE + MINUTE / 2, 2 * SECOND);
    assert_minutes(h, "720000", 58, "30,10");
    ek_traffic_history_free(h);
}
END_TEST

START_TEST(an_hour_later_the_minutes_before_are_gone_and_late_lists_count_in_their_minute)
{
    struct ek_traffic_history *h = started();
    add(h, 5, 5, 39 * MINUTE, SECOND);
    add(h, 7, 7, 99 * MINUTE, 2 * SECOND);
    add(h, 8, 8, 98 * MINUTE, 3 * SECOND); /* an earlier event time */
    add(h, 9, 9, 10 * MINUTE, 4 * SECOND); /* too old */
    assert_minutes(h, "2400000", 58, "1,2");
    ek_traffic_history_free(h);
}
END_TEST

START_TEST(a_restored_state_is_no_traffic_and_the_future_is_now)
{
    struct ek_traffic_history *h = started();
    add(h, 5000, 3, 400 * MINUTE, SECOND);
    assert_minutes(h, "2460000", 59, "3");
    ek_traffic_history_free(h);
}
END_TEST

START_TEST(a_list_counts_though_its_message_did_a_sample_before)
{
    struct ek_traffic_history *h = started();
    add(h, 0, 500, -1, 0);
    add(h, 300, 700, 70 * MINUTE, SECOND);
    add(h, 700, 700, 70 * MINUTE, 2 * SECOND);
    assert_minutes(h, "660000", 59, "700");
    ck_assert_double_eq_tol(ek_traffic_history_rate(h), 350, 1e-9);
    ek_traffic_history_free(h);
}
END_TEST

START_TEST(the_rate_is_that_of_the_last_ten_seconds)
{
    struct ek_traffic_history *h = started();
    ck_assert_double_eq(ek_traffic_history_rate(h), 0);
    for (int i = 0; i <= 20; i++)
        add(h, (uint64_t)(60 * i), (uint64_t)(60 * i), MINUTE, i * SECOND);
    ck_assert_double_eq_tol(ek_traffic_history_rate(h), 60, 1e-9);
    for (int i = 21; i <= 25; i++)
        add(h, 1200, 1200, MINUTE, i * SECOND);
    ck_assert_double_eq_tol(ek_traffic_history_rate(h), 30, 1e-9);
    for (int i = 26; i <= 30; i++)
        add(h, 1200, 1200, MINUTE, i * SECOND);
    ck_assert_double_eq(ek_traffic_history_rate(h), 0);
    ek_traffic_history_free(h);
}
END_TEST

Suite *suite_traffic_history(void)
{
    return ek_suite("traffic_history", lists_count_evenly_in_the_minutes_since_the_previous_sample,
                    an_hour_later_the_minutes_before_are_gone_and_late_lists_count_in_their_minute,
                    a_restored_state_is_no_traffic_and_the_future_is_now,
                    a_list_counts_though_its_message_did_a_sample_before,
                    the_rate_is_that_of_the_last_ten_seconds);
}
