/* Producer against librdkafka's mock cluster: metadata of its output topics. */
#include "daemon/kafka/producer.h"

#include "daemon/kafka/client.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/producer_internal.h"
#include "daemon/kafka/side_records.h"
#include "daemon/kafka/tool_client.h"
#include "daemon/kafka/topics.h"
#include "tests/event_from.h"
#include "tests/check.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 60000, SOON_MS = 50 };

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

static rd_kafka_t *open_consumer(struct scene *s)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", ek_mock_brokers(s->mock), NULL, 0);
    rd_kafka_conf_set(conf, "group.id", "g", NULL, 0);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, NULL, 0);
    ck_assert_ptr_nonnull(client);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, "scored", 0)->offset = 0;
    ck_assert_int_eq(rd_kafka_assign(client, list), 0);
    rd_kafka_topic_partition_list_destroy(list);
    return client;
}

/* Return a message in flight that was sent to the input and consumed. */
static struct ek_inflight *consume_one(struct scene *s, rd_kafka_t *consumer)
{
    struct ek_tool_producer *sender;
    const struct ek_kafka_record r = {.timestamp_ms = 1000, .bytes = "v", .length = 1};
    ck_assert_int_eq(ek_tool_producer_new(&sender, ek_mock_brokers(s->mock), "scored",
                                          EK_TOOL_PRODUCER_ORDERED, NULL),
                     0);
    ck_assert_int_eq(ek_tool_producer_send(sender, &r, NULL), 0);
    ck_assert_int_eq(ek_tool_producer_flush(sender, WAIT_MS, NULL), 0);
    ek_tool_producer_free(sender);
    struct ek_partition *scored = ek_partition_offsets_open(s->partitions, "scored", 0, 0);
    struct ek_inflight *t = ek_partition_offsets_start(s->partitions, scored, 0);
    rd_kafka_message_t *raw = rd_kafka_consumer_poll(consumer, WAIT_MS);
    ck_assert(raw && !raw->err);
    t->message = raw;
    t->bytes = raw->payload;
    t->length = raw->len;
    return t;
}

/* The client sends a record of timestamp 0 with the current time. */
START_TEST(a_dead_letter_keeps_the_time_zero_in_a_header)
{
    struct scene s;
    struct ek_output_writer *writer;
    struct ek_merged_consumer *tap;
    struct ek_kafka_record r;
    const char *time = NULL;
    int got = 0;
    set_up(&s);
    open_output(&s, NULL);
    ck_assert_int_eq(ek_output_writer_new(&writer, s.output, NULL), 0);
    rd_kafka_t *consumer = open_consumer(&s);
    struct ek_inflight *t = consume_one(&s, consumer);
    t->stamp_ms = 0;
    ck_assert_int_eq(ek_output_writer_dead_letter(writer, t, EK_EFORMAT, "why", NULL), 0);
    ek_output_flush(s.output, WAIT_MS);
    ck_assert_uint_eq(ek_partition_offsets_in_flight(s.partitions), 0);
    ck_assert_int_eq(ek_merged_consumer_new(&tap, ek_mock_brokers(s.mock), "ranked.dead",
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, NULL),
                     0);
    while (!got && !ek_merged_consumer_at_end(tap))
        ck_assert_int_eq(ek_merged_consumer_next(tap, &r, 100, &got, NULL), 0);
    ck_assert(got);
    for (size_t i = 0; i < r.header_count; i++)
        if (!strcmp(r.headers[i].name, "ek-source-time"))
            time = r.headers[i].value;
    ck_assert_ptr_nonnull(time);
    ck_assert_str_eq(time, "0");
    ek_merged_consumer_free(tap);
    ek_output_writer_free(writer);
    rd_kafka_destroy(consumer);
    tear_down(&s);
}
END_TEST

/* The transaction has the output already, which may only leave with the offset. */
START_TEST(exactly_once_a_copy_that_no_topic_takes_voids_the_transaction)
{
    struct scene s;
    struct ek_output_writer *writer;
    struct ek_topic_info info;
    struct ek_error e;
    set_up(&s);
    ck_assert_int_eq(ek_mock_topic(s.mock, "ranked.dead", 1, NULL), 0);
    ck_assert_int_eq(ek_config_set(s.config, "input.delivery", "exactly_once", NULL), 0);
    open_output(&s, NULL);
    rd_kafka_t *client = s.output->client, *consumer = open_consumer(&s);
    ck_assert_int_eq(ek_output_writer_new(&writer, s.output, NULL), 0);
    ck_assert_ptr_null(rd_kafka_init_transactions(client, WAIT_MS));
    ck_assert_ptr_null(rd_kafka_begin_transaction(client));
    ek_kafka_get_topic(client, "ranked.dead", WAIT_MS, &info);
    ek_mock_hide_topic(s.mock, "ranked.dead");
    ek_kafka_get_topic(client, "ranked.dead", WAIT_MS, &info);
    ck_assert_int_eq(ek_output_open(s.output, NULL), 0);
    struct ek_inflight *t = consume_one(&s, consumer);
    int rc = ek_output_writer_forward_undecodable(writer, t, 1, EK_EFORMAT, "why", &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert(ek_output_in_batch(s.output).must_abort);
    ck_assert_uint_eq(ek_output_in_batch(s.output).messages, 1);
    ck_assert_int_eq(ek_output_poll(s.output, 0, &e), EK_EIO);
    ck_assert_msg(strstr(e.message, "'ranked.dead'") != NULL, "%s", e.message);
    ek_output_writer_free(writer);
    /* The client fails if it is destroyed while it adds partitions to a transaction. */
    ck_assert_ptr_null(rd_kafka_abort_transaction(client, WAIT_MS));
    ek_output_free(s.output);
    s.output = NULL;
    ck_assert_uint_eq(ek_partition_offsets_in_flight(s.partitions), 0);
    rd_kafka_destroy(consumer);
    tear_down(&s);
}
END_TEST

Suite *suite_producer(void)
{
    return ek_suite("output", whether_partitions_are_kept_is_unknown_while_no_broker_answers,
                    an_alert_that_had_to_go_for_another_is_told,
                    a_dead_letter_keeps_the_time_zero_in_a_header,
                    exactly_once_a_copy_that_no_topic_takes_voids_the_transaction);
}
