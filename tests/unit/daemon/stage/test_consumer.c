/* Consumer partition readers, against librdkafka's mock cluster: an unread partition delays no
 * other, and in-flight accounting covers a message's full memory. */
#include "daemon/base/clock.h"
#include "daemon/stage/consumer.h"

#include "daemon/kafka/client.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/tool_client.h"
#include "tests/check.h"
#include "tests/many_headers.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITIONS = 4, READERS = 2, EACH = 200, BATCH = 16, WAIT_MS = 30000, LARGE = 100000 };

struct scene {
    struct ek_mock *mock;
    struct ek_config *config;
    struct ek_partition_offsets *partitions;
    struct ek_metrics *metrics;
    struct ek_wakeup wakeup;
    struct ek_input *input;
    int64_t next[PARTITIONS]; /* next expected offset */
};

static void ignore_drain(void *context, int64_t wait_ms)
{
    (void)context;
    (void)wait_ms;
}

static void ignore_assigned(void *context, bool ready, int partitions)
{
    (void)context;
    (void)ready;
    (void)partitions;
}

/* Send that many records of a kind, round robin over all partitions. */
static void send_all(const struct scene *s, struct ek_kafka_record r, int count)
{
    struct ek_tool_producer *sender;
    const char *brokers = ek_mock_brokers(s->mock);
    ck_assert_int_eq(
        ek_tool_producer_new(&sender, brokers, "scored", EK_TOOL_PRODUCER_ORDERED, NULL), 0);
    for (int i = 0; i < count; i++) {
        r.partition = i % PARTITIONS;
        r.timestamp_ms = 1000 + i;
        ck_assert_int_eq(ek_tool_producer_send(sender, &r, NULL), 0);
    }
    ck_assert_int_eq(ek_tool_producer_flush(sender, WAIT_MS, NULL), 0);
    ek_tool_producer_free(sender);
}

static const struct ek_kafka_record SMALL = {
    .key = "k", .key_length = 1, .bytes = "v", .length = 1};

static void make(struct scene *s)
{
    static const char *const settings[][2] = {
        {"input.topics", "scored"}, {"input.group", "g"},
        {"output.topic", "ranked"}, {"output.dead_letter_topic", "ranked.dead"},
        {"pipeline.workers", "2"},  {"limits.in_flight_bytes", "1MiB"},
    };
    *s = (struct scene){.partitions = ek_partition_offsets_new(), .metrics = ek_metrics_new()};
    ck_assert_int_eq(ek_mock_start(&s->mock, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s->mock, "scored", PARTITIONS, NULL), 0);
    ck_assert_int_eq(ek_config_new(&s->config, NULL), 0);
    ck_assert_int_eq(ek_config_set(s->config, "input.brokers", ek_mock_brokers(s->mock), NULL), 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        ck_assert_int_eq(ek_config_set(s->config, settings[i][0], settings[i][1], NULL), 0);
    ck_assert_int_eq(ek_wakeup_init(&s->wakeup, NULL), 0);
    const struct ek_input_hooks hooks = {
        .context = s, .drain = ignore_drain, .assigned = ignore_assigned};
    const struct ek_input_tools tools = {.config = s->config,
                                         .partitions = s->partitions,
                                         .metrics = s->metrics,
                                         .wakeup = &s->wakeup,
                                         .readers = READERS};
    ck_assert_int_eq(ek_input_new(&s->input, &tools, &hooks, NULL), 0);
    ck_assert_int_eq(ek_input_subscribe(s->input, NULL), 0);
}

static void set_up(struct scene *s)
{
    make(s);
    send_all(s, SMALL, PARTITIONS * EACH);
}

static void tear_down(struct scene *s)
{
    ek_input_close(s->input, 5000);
    ek_input_free(s->input);
    ek_wakeup_close(&s->wakeup);
    ek_partition_offsets_free(s->partitions);
    ek_metrics_free(s->metrics);
    ek_config_free(s->config);
    ek_mock_stop(s->mock);
}

/* Read the messages of a reader; they are in order and from its own partitions only. */
static size_t read(struct scene *s, int reader)
{
    struct ek_inflight *inflights[BATCH];
    size_t count;
    ck_assert_int_eq(ek_input_serve(s->input, NULL), 0);
    ck_assert_int_eq(ek_input_read(s->input, reader, inflights, BATCH, &count, NULL), 0);
    ck_assert_uint_le(count, BATCH);
    for (size_t i = 0; i < count; i++) {
        int partition = inflights[i]->assignment->partition;
        ck_assert_int_eq(partition % READERS, reader);
        ck_assert_int_eq(inflights[i]->offset, s->next[partition]++);
        ck_assert_uint_eq(inflights[i]->length, 1);
        rd_kafka_message_destroy(inflights[i]->message);
        ek_partition_offsets_finish(s->partitions, inflights[i]);
    }
    if (!count)
        ek_wakeup_wait(&s->wakeup, 50);
    return count;
}

START_TEST(a_reader_that_is_not_read_holds_back_its_own_partitions_only)
{
    struct scene s;
    set_up(&s);
    int64_t until = ek_now_ms() + WAIT_MS;
    for (size_t got = 0; got < 2 * EACH && ek_now_ms() < until;)
        got += read(&s, 1);
    ck_assert_int_eq(s.next[1], EACH);
    ck_assert_int_eq(s.next[3], EACH);
    ck_assert_int_eq(s.next[0], 0);
    for (size_t got = 0; got < 2 * EACH && ek_now_ms() < until;)
        got += read(&s, 0);
    ck_assert_int_eq(s.next[0], EACH);
    ck_assert_int_eq(s.next[2], EACH);
    ck_assert_uint_eq(ek_metrics_counter(s.metrics, EK_COUNT_CONSUMED), PARTITIONS * EACH);
    for (int i = 0; i < PARTITIONS; i++)
        ck_assert_int_eq(ek_partition_offsets_find(s.partitions, "scored", i)->next, EACH);
    tear_down(&s);
}
END_TEST

START_TEST(offsets_that_may_not_be_committed_end_it_with_their_topic)
{
    struct scene s;
    struct ek_error e;
    set_up(&s);
    int64_t until = ek_now_ms() + WAIT_MS;
    while (!read(&s, 0) && ek_now_ms() < until)
        ;
    ek_mock_forbid_offsets(s.mock);
    ek_input_commit(s.input);
    while (!ek_input_serve(s.input, &e) && ek_now_ms() < until)
        ek_wakeup_wait(&s.wakeup, 50);
    ck_assert_int_eq(ek_input_serve(s.input, &e), EK_EIO);
    ck_assert_ptr_nonnull(
        strstr(e.message, "no right: this client needs Read on topic 'scored': "));
    tear_down(&s);
}
END_TEST

/* Read into at most `most` in-flight records; fewer if the input ends. */
static size_t take(struct scene *s, struct ek_inflight **inflights, size_t most)
{
    int64_t until = ek_now_ms() + WAIT_MS;
    size_t have = 0, count;
    bool full = false;
    while (have < most && !full && ek_now_ms() < until) {
        ck_assert_int_eq(ek_input_serve(s->input, NULL), 0);
        for (int i = 0; i < READERS; i++) {
            ck_assert_int_eq(
                ek_input_read(s->input, i, inflights + have, most - have, &count, NULL), 0);
            have += count;
        }
        full = ek_partition_offsets_bytes(s->partitions) >= 1 << 20;
        if (have < most && !full)
            ek_wakeup_wait(&s->wakeup, 50);
    }
    return have;
}

static void give_back(struct scene *s, struct ek_inflight **inflights, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rd_kafka_message_destroy(inflights[i]->message);
        ek_partition_offsets_finish(s->partitions, inflights[i]);
    }
}

START_TEST(what_a_message_holds_is_its_value_its_key_and_its_headers)
{
    struct scene s;
    struct ek_inflight *t;
    rd_kafka_headers_t *headers;
    const struct ek_kafka_record record = {
        .key = "four",
        .key_length = 4,
        .bytes = "thirteen byte",
        .length = 13,
        .header_count = 3,
        .headers = {{"source", "shop", 4}, {"none", NULL, 0}, {"", "", 0}}};
    make(&s);
    send_all(&s, record, 1);
    ck_assert_uint_eq(take(&s, &t, 1), 1);
    size_t all = 4 + 13 + (6 + 4) + 4 + 3 * EK_HEADER_BYTES;
    ck_assert_uint_eq(t->loaded, all);
    ck_assert_uint_eq(ek_partition_offsets_bytes(s.partitions), all);
    for (int i = 0; i < 2; i++) { /* detached headers can be read again */
        ck_assert_int_eq(ek_kafka_headers_get(t->message, &headers), 0);
        ck_assert_uint_eq(rd_kafka_header_cnt(headers), 3);
        rd_kafka_headers_destroy(headers);
    }
    ck_assert_uint_eq(ek_inflight_bytes(t->message, 0), all);
    give_back(&s, &t, 1);
    send_all(&s, SMALL, 1);
    ck_assert_uint_eq(take(&s, &t, 1), 1);
    ck_assert_uint_eq(t->loaded, 2);
    ck_assert_int_eq(ek_kafka_headers_get(t->message, &headers), 0);
    ck_assert_ptr_null(headers);
    give_back(&s, &t, 1);
    ck_assert_uint_eq(ek_partition_offsets_bytes(s.partitions), 0);
    tear_down(&s);
}
END_TEST

/* Send 24 messages of `load` bytes each, and read up to 1 MiB. */
static void stops_at_a_mebibyte(struct scene *s, const struct ek_kafka_record *record, size_t load)
{
    struct ek_inflight *inflights[24];
    size_t all = 24, fit = ((1 << 20) + load - 1) / load;
    send_all(s, *record, (int)all);
    for (size_t got = 0, count; got < all; got += count) {
        count = take(s, inflights, all - got);
        ck_assert_uint_eq(count, all - got < fit ? all - got : fit);
        ck_assert_uint_eq(ek_partition_offsets_bytes(s->partitions), count * load);
        give_back(s, inflights, count);
    }
}

START_TEST(keys_alone_and_headers_alone_fill_what_may_be_in_flight)
{
    struct scene s;
    char *large = calloc(1, LARGE);
    struct ek_kafka_record r = SMALL;
    ck_assert_ptr_nonnull(large);
    make(&s);
    r.key = large;
    r.key_length = LARGE;
    stops_at_a_mebibyte(&s, &r, LARGE + 1);
    r = SMALL;
    r.header_count = 1;
    r.headers[0] = (struct ek_header){"h", large, LARGE};
    stops_at_a_mebibyte(&s, &r, 2 + EK_HEADER_BYTES + 1 + LARGE);
    free(large);
    tear_down(&s);
}
END_TEST

START_TEST(of_headers_a_hundred_thousand_are_read_and_more_fill_what_may_be_in_flight)
{
    struct scene s;
    struct ek_inflight *t;
    rd_kafka_headers_t *headers;
    make(&s);
    send_many_headers(ek_mock_brokers(s.mock), "v", 1, EK_HEADERS_READ);
    ck_assert_uint_eq(take(&s, &t, 1), 1);
    ck_assert_uint_eq(t->loaded, 1 + (size_t)EK_HEADERS_READ * (EK_HEADER_BYTES + 1));
    give_back(&s, &t, 1);
    send_many_headers(ek_mock_brokers(s.mock), "v", 1, EK_HEADERS_READ + 1);
    ck_assert_uint_eq(take(&s, &t, 1), 1);
    ck_assert_uint_eq(t->loaded, 1 + (1 << 20));
    ck_assert_int_ne(ek_kafka_headers_get(t->message, &headers), 0);
    ck_assert_ptr_null(headers);
    give_back(&s, &t, 1);
    tear_down(&s);
}
END_TEST

Suite *suite_consumer(void)
{
    return ek_suite("input", a_reader_that_is_not_read_holds_back_its_own_partitions_only,
                    offsets_that_may_not_be_committed_end_it_with_their_topic,
                    what_a_message_holds_is_its_value_its_key_and_its_headers,
                    keys_alone_and_headers_alone_fill_what_may_be_in_flight,
                    of_headers_a_hundred_thousand_are_read_and_more_fill_what_may_be_in_flight);
}
