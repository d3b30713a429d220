/* The consumer's readers, against librdkafka's mock cluster: who is not read holds back his own
 * partitions only.
 */
#include "daemon/kafka_input.h"

#include "daemon/cli.h"
#include "daemon/kafka_mock.h"
#include "daemon/kafka_tool.h"
#include "tests/check.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>

enum { PARTITIONS = 4, READERS = 2, EACH = 200, BATCH = 16, WAIT_MS = 30000 };

struct scene {
    struct ek_mock *mock;
    struct ek_config *config;
    struct ek_lanes *lanes;
    struct ek_metrics *metrics;
    struct ek_bell bell;
    struct ek_input *input;
    int64_t next[PARTITIONS]; /* offset to come */
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

static void feed(const char *brokers)
{
    struct ek_sender *sender;
    ck_assert_int_eq(ek_sender_new(&sender, brokers, "scored", EK_SENDER_ORDERED, NULL), 0);
    for (int i = 0; i < PARTITIONS * EACH; i++) {
        struct ek_kafka_record r = {.partition = i % PARTITIONS,
                                    .timestamp_ms = 1000 + i,
                                    .key = "k",
                                    .key_length = 1,
                                    .bytes = "v",
                                    .length = 1};
        ck_assert_int_eq(ek_sender_send(sender, &r, NULL), 0);
    }
    ck_assert_int_eq(ek_sender_flush(sender, WAIT_MS, NULL), 0);
    ek_sender_free(sender);
}

static void set_up(struct scene *s)
{
    static const char *const settings[][2] = {
        {"input.topics", "scored"}, {"input.group", "g"},
        {"output.topic", "ranked"}, {"output.dead_letter", "ranked.dead"},
        {"pipeline.workers", "2"},  {"pipeline.batch", "16"},
    };
    *s = (struct scene){.lanes = ek_lanes_new(), .metrics = ek_metrics_new()};
    ck_assert_int_eq(ek_mock_start(&s->mock, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s->mock, "scored", PARTITIONS, NULL), 0);
    ck_assert_int_eq(ek_config_new(&s->config, NULL), 0);
    ck_assert_int_eq(ek_config_set(s->config, "input.brokers", ek_mock_brokers(s->mock), NULL), 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        ck_assert_int_eq(ek_config_set(s->config, settings[i][0], settings[i][1], NULL), 0);
    ck_assert_int_eq(ek_bell_make(&s->bell, NULL), 0);
    const struct ek_input_hooks hooks = {
        .context = s, .drain = ignore_drain, .assigned = ignore_assigned};
    const struct ek_input_tools tools = {.config = s->config,
                                         .lanes = s->lanes,
                                         .metrics = s->metrics,
                                         .bell = &s->bell,
                                         .readers = READERS};
    ck_assert_int_eq(ek_input_new(&s->input, &tools, &hooks, NULL), 0);
    feed(ek_mock_brokers(s->mock));
    ck_assert_int_eq(ek_input_subscribe(s->input, NULL), 0);
}

static void tear_down(struct scene *s)
{
    ek_input_close(s->input, 5000);
    ek_input_free(s->input);
    ek_bell_close(&s->bell);
    ek_lanes_free(s->lanes);
    ek_metrics_free(s->metrics);
    ek_config_free(s->config);
    ek_mock_stop(s->mock);
}

/* What a reader has, each partition in order, of its own partitions only. */
static size_t read(struct scene *s, int reader)
{
    struct ek_ticket *tickets[BATCH];
    size_t count;
    ck_assert_int_eq(ek_input_serve(s->input, NULL), 0);
    ck_assert_int_eq(ek_input_read(s->input, reader, tickets, BATCH, &count, NULL), 0);
    ck_assert_uint_le(count, BATCH);
    for (size_t i = 0; i < count; i++) {
        int partition = tickets[i]->lane->partition;
        ck_assert_int_eq(partition % READERS, reader);
        ck_assert_int_eq(tickets[i]->offset, s->next[partition]++);
        ck_assert_uint_eq(tickets[i]->length, 1);
        rd_kafka_message_destroy(tickets[i]->message);
        ek_lanes_done(s->lanes, tickets[i]);
    }
    if (!count)
        ek_bell_wait(&s->bell, 50);
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
        ck_assert_int_eq(ek_lanes_find(s.lanes, "scored", i)->next, EACH);
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
        ek_bell_wait(&s.bell, 50);
    ck_assert_int_eq(ek_input_serve(s.input, &e), EK_EIO);
    ck_assert_ptr_nonnull(
        strstr(e.message, "no right: this client needs Read on topic 'scored': "));
    tear_down(&s);
}
END_TEST

Suite *suite_input(void)
{
    return ek_suite("input", a_reader_that_is_not_read_holds_back_its_own_partitions_only,
                    offsets_that_may_not_be_committed_end_it_with_their_topic);
}
