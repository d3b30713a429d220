/* Producer against librdkafka's mock cluster: metadata of its output topics. */
#include "daemon/kafka/producer.h"

#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/side_records.h"
#include "tests/event_from.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 5000, SOON_MS = 50 };

struct scene {
    struct ek_mock *mock;
    struct ek_config *config;
    struct ek_partition_offsets *partitions;
    struct ek_metrics *metrics;
    struct ek_wakeup wakeup;
    struct ek_output *output;
};

static void set_up(struct scene *s)
{
    static const char *const settings[][2] = {{"output.topic", "ranked"},
                                              {"output.dead_letter_topic", "ranked.dead"}};
    *s = (struct scene){.partitions = ek_partition_offsets_new(), .metrics = ek_metrics_new()};
    ck_assert_int_eq(ek_mock_start(&s->mock, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s->mock, "scored", 3, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s->mock, "ranked", 3, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s->mock, "other", 4, NULL), 0);
    ck_assert_int_eq(ek_config_new(&s->config, NULL), 0);
    ck_assert_int_eq(ek_config_set(s->config, "input.brokers", ek_mock_brokers(s->mock), NULL), 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        ck_assert_int_eq(ek_config_set(s->config, settings[i][0], settings[i][1], NULL), 0);
    ck_assert_int_eq(ek_wakeup_init(&s->wakeup, NULL), 0);
}

static void open_output(struct scene *s, struct ek_log *log)
{
    ck_assert_int_eq(
        ek_output_new(&s->output, s->config, s->partitions, s->metrics, log, &s->wakeup, NULL), 0);
}

static void tear_down(struct scene *s)
{
    ek_output_free(s->output);
    ek_wakeup_close(&s->wakeup);
    ek_partition_offsets_free(s->partitions);
    ek_metrics_free(s->metrics);
    ek_config_free(s->config);
    ek_mock_stop(s->mock);
}

/* A guess could send messages of one key to two partitions. */
START_TEST(whether_partitions_are_kept_is_unknown_while_no_broker_answers)
{
    struct scene s;
    set_up(&s);
    open_output(&s, NULL);
    ck_assert_int_eq(ek_output_has_same_partitions(s.output, "scored", WAIT_MS), 1);
    ck_assert_int_eq(ek_output_has_same_partitions(s.output, "other", WAIT_MS), 0);
    ek_mock_away(s.mock, true);
    ck_assert_int_eq(ek_output_has_same_partitions(s.output, "scored", SOON_MS), -1);
    ek_mock_away(s.mock, false);
    int keeps = -1;
    for (int tries = 0; keeps < 0 && tries < 10; tries++)
        keeps = ek_output_has_same_partitions(s.output, "scored", WAIT_MS);
    ck_assert_int_eq(keeps, 1);
    tear_down(&s);
}
END_TEST

START_TEST(an_alert_that_had_to_go_for_another_is_told)
{
    struct scene s;
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    struct ek_log *log = ek_log_new(to, EK_LOG_ERROR);
    set_up(&s);
    ck_assert_int_eq(ek_config_set(s.config, "input.delivery", "exactly_once", NULL), 0);
    ck_assert_int_eq(ek_config_set(s.config, "alerts.kafka.topic", "alerts", NULL), 0);
    open_output(&s, log);
    for (int i = 0; i < EK_RECORDS_MAX; i++)
        ek_output_send_event(s.output, event_from("{}"), "{}");
    fflush(to);
    ck_assert_uint_eq(length, 0);
    ek_output_send_event(s.output, event_from("{}"), "{}");
    fflush(to);
    ck_assert_msg(strstr(text,
                         "event=alert_dropped message=\"the oldest of too many that wait for a "
                         "transaction\""),
                  "%s", text);
    tear_down(&s);
    ek_log_free(log);
    fclose(to);
    free(text);
}
END_TEST

Suite *suite_producer(void)
{
    return ek_suite("output", whether_partitions_are_kept_is_unknown_while_no_broker_answers,
                    an_alert_that_had_to_go_for_another_is_told);
}
