/* Retained events and their counters. */
#include "daemon/views/event_log.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "tests/event_from.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ek_event_log_change add(struct ek_event_log *j, const char *json)
{
    struct ek_event_log_change change;
    ck_assert_int_eq(ek_event_log_add(j, event_from(json), json, 0, &change), 0);
    return change;
}

static void finding(struct ek_event_log *j, const char *episode, const char *state, int detected)
{
    char json[300];
    snprintf(json, sizeof json,
             "{\"event\":\"finding\",\"finding_id\":\"%s\",\"feature\":\"%.5s\",\"state\":\"%s\","
             "\"mitigation\":\"route\"}",
             episode, episode, state);
    ck_assert_int_eq(add(j, json).detected, detected);
}

START_TEST(a_finding_is_open_until_it_is_dismissed_or_recovered)
{
    struct ek_event_log *j = ek_event_log_new(10);
    struct ek_buf out;
    ek_buf_init(&out, 0);
    finding(j, "price-1", "suspected", 0);
    finding(j, "stars-2", "suspected", 0);
    finding(j, "price-1", "confirmed", 1);
    finding(j, "price-1", "updated", 0);
    finding(j, "stars-2", "dismissed", 0);
    ck_assert_uint_eq(ek_event_log_open(j), 1);
    ck_assert_int_eq(ek_event_log_findings(j, NULL, &out), 0);
    static const char head[] = "[{\"event\":\"finding\",\"finding_id\":\"price-1\","
                               "\"state\":\"updated\",";
    ck_assert_mem_eq(ek_buf_string(&out), head, sizeof head - 1);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&out), "\"mitigation\":\"route\""));
    finding(j, "price-1", "recovered", 0);
    ck_assert_uint_eq(ek_event_log_open(j), 0);
    ek_buf_release(&out);
    ek_event_log_free(j);
}
END_TEST

START_TEST(a_withdrawal_says_by_which_guardrail)
{
    struct ek_event_log *j = ek_event_log_new(10);
    for (int rail = EK_GUARDRAIL_NONE + 1; rail < EK_GUARDRAIL_COUNT; rail++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{\"event\":\"decision\",\"type\":\"rollback\",\"guardrail\":\"%s\"}",
                 ek_guardrail_name((enum ek_guardrail)rail));
        ck_assert_int_eq(add(j, json).rolled_back, rail);
    }
    ck_assert_int_eq(add(j, "{\"event\":\"decision\",\"type\":\"step\"}").rolled_back,
                     EK_GUARDRAIL_NONE);
    ek_event_log_free(j);
}
END_TEST

START_TEST(a_drift_of_the_model_is_kept_and_said_and_is_no_finding)
{
    struct ek_event_log *j = ek_event_log_new(10);
    struct ek_buf out;
    ek_buf_init(&out, 0);
    (void)add(j, "{\"event\":\"model_drift\",\"state\":\"drifted\"}");
    (void)add(j, "{\"event\":\"model_drift\",\"state\":\"recovered\"}");
    ck_assert_uint_eq(ek_event_log_open(j), 0);
    ck_assert_int_eq(ek_event_log_last(j, 1, &out), 0);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&out), "\"recovered\""));
    ek_buf_release(&out);
    ek_event_log_free(j);
}
END_TEST

START_TEST(a_plan_counts_the_routes_that_are_new_in_it)
{
    static const char one[] = "{\"event\":\"plan\",\"version\":1,\"entries\":["
                              "{\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\"}]}";
    static const char two[] =
        "{\"event\":\"plan\",\"version\":2,\"entries\":["
        "{\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\"},"
        "{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"mitigation\":\"route_normalized\"},"
        "{\"feature\":\"stars\",\"segment\":null,\"mitigation\":\"blank\"}]}";
    struct ek_event_log *j = ek_event_log_new(10);
    ck_assert_uint_eq(ek_event_log_plan_changes(j), 0);
    ck_assert_int_eq(add(j, one).enforced, 1);
    ck_assert_int_eq(add(j, two).enforced, 1);
    ck_assert_uint_eq(ek_event_log_plan_changes(j), 2);
    ek_event_log_reset(j);
    ck_assert_uint_eq(ek_event_log_plan_changes(j), 3);
    ek_event_log_free(j);
}
END_TEST

START_TEST(only_the_newest_events_are_kept)
{
    struct ek_event_log *j = ek_event_log_new(3);
    struct ek_buf out;
    ek_buf_init(&out, 0);
    for (int i = 1; i <= 6; i++) {
        char json[12];
        snprintf(json, sizeof json, "%d", i);
        add(j, json);
    }
    ck_assert_int_eq(ek_event_log_last(j, 2, &out), 0);
    ck_assert_str_eq(ek_buf_string(&out), "[5,\n6]\n");
    ek_buf_clear(&out);
    ck_assert_int_eq(ek_event_log_last(j, 100, &out), 0);
    ck_assert_str_eq(ek_buf_string(&out), "[4,\n5,\n6]\n");
    ek_buf_release(&out);
    ek_event_log_free(j);
}
END_TEST

START_TEST(metrics_are_prometheus_text_with_cumulative_buckets)
{
    struct ek_metrics *m = ek_metrics_new();
    struct ek_buf out;
    struct ek_lag lags[] = {{"scored", 0, 5}, {"scored", 1, -1}};
    ek_buf_init(&out, 0);
    ek_metrics_count(m, EK_COUNT_ROUTED, 3);
    ek_metrics_gauge(m, EK_GAUGE_PLAN_VERSION, 7);
    ek_metrics_time_ns(m, EK_TIME_PROCESSING, 1000);
    ek_metrics_time_ns(m, EK_TIME_PROCESSING, 2000000000);
    ek_metrics_time_ns(m, EK_TIME_END_TO_END, 3000000);
    ck_assert_int_eq(ek_metrics_lags(m, lags, 2), 0);
    ck_assert_int_eq(ek_metrics_lag_sum(m), -1); /* one of them is unknown */
    ck_assert_int_eq(ek_metrics_write(m, &out), 0);
    static const char *const lines[] = {
        "\nevenkeel_messages_total{result=\"routed\"} 3\n",
        "\nevenkeel_plan_version 7\n",
        "\nevenkeel_processing_duration_seconds_bucket{le=\"5e-06\"} 1\n",
        "\nevenkeel_processing_duration_seconds_bucket{le=\"1\"} 1\n",
        "\nevenkeel_processing_duration_seconds_bucket{le=\"+Inf\"} 2\n",
        "\nevenkeel_processing_duration_seconds_sum 2.000001000\n",
        "\nevenkeel_end_to_end_duration_seconds_bucket{le=\"0.0025\"} 0\n",
        "\nevenkeel_end_to_end_duration_seconds_count 1\n",
        "\nevenkeel_consumer_lag{topic=\"scored\",partition=\"0\"} 5\n",
        "\n# TYPE evenkeel_observed_lists_total counter\n",
        "\nevenkeel_build_info{version=\"",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(strstr(ek_buf_string(&out), lines[i]) != NULL, "no line %s", lines[i]);
    ck_assert_ptr_null(strstr(ek_buf_string(&out), "partition=\"1\""));
    ek_buf_release(&out);
    ek_metrics_free(m);
}
END_TEST

START_TEST(a_log_line_has_its_level_and_too_many_are_left_out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    struct ek_log *l = ek_log_new(to, EK_LOG_INFO);
    ek_log_write(l, EK_LOG_DEBUG, "unseen", "i=%d", 0);
    ek_log_text(l, EK_LOG_WARN, "odd", "a \"b\"\nc");
    for (int i = 0; i < 1000; i++)
        ek_log_write(l, EK_LOG_INFO, "flood", "i=%d", i);
    ek_log_free(l);
    fclose(to);
    ck_assert_ptr_null(strstr(text, "unseen"));
    ck_assert_ptr_nonnull(strstr(text, "level=warn event=odd message=\"a \\\"b\\\"\\u000ac\"\n"));
    ck_assert_ptr_nonnull(strstr(text, "event=flood i=9\n"));
    ck_assert_ptr_null(strstr(text, "event=flood i=999\n"));
    free(text);
}
END_TEST

Suite *suite_event_log(void)
{
    return ek_suite("journal", a_withdrawal_says_by_which_guardrail,
                    a_finding_is_open_until_it_is_dismissed_or_recovered,
                    a_drift_of_the_model_is_kept_and_said_and_is_no_finding,
                    a_plan_counts_the_routes_that_are_new_in_it, only_the_newest_events_are_kept,
                    metrics_are_prometheus_text_with_cumulative_buckets,
                    a_log_line_has_its_level_and_too_many_are_left_out);
}
