/* Messages that exceed topic limits, against librdkafka's mock cluster, which reports no limits, so
 * that defaults apply. tests/kafka/test_errors.py uses a broker with its own limits. */
#include "daemon/kafka/client.h"
#include "tests/stage_scene.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>

enum {
    NEARLY = 1048500,
    TWICE = 2 << 20,
    LARGE = 1000000,
    SLOW_MS = 300,
    READABLE = 100000 - 10,
    TOO_MANY = 100001,
    REFUSALS = 40
};

static rd_kafka_t *open_producer(struct scene *s)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", ek_mock_brokers(s->mock), NULL, 0);
    rd_kafka_conf_set(conf, "message.max.bytes", "1000000000", NULL, 0);
    rd_kafka_conf_set(conf, "enable.idempotence", "true", NULL, 0); /* keeps their order */
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
    ck_assert_ptr_nonnull(client);
    return client;
}

static void send_one(rd_kafka_t *client, const void *bytes, size_t length, int headers)
{
    rd_kafka_headers_t *list = rd_kafka_headers_new(8);
    for (int i = 0; i < headers; i++)
        rd_kafka_header_add(list, "h", 1, NULL, 0);
    rd_kafka_resp_err_t err =
        rd_kafka_producev(client, RD_KAFKA_V_TOPIC("scored"), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_VALUE((void *)(uintptr_t)bytes, length),
                          RD_KAFKA_V_KEY("k", 1), RD_KAFKA_V_HEADERS(list), RD_KAFKA_V_END);
    ck_assert_int_eq(err, 0);
}

/* Send a list, garbage at and above the limit, lists with the maximum number of headers and more,
 * and a list. */
static void feed_large(struct scene *s)
{
    struct ek_list q;
    struct ek_buf list;
    char *garbage = calloc(1, TWICE);
    rd_kafka_t *client = open_producer(s);
    ck_assert_ptr_nonnull(garbage);
    ek_list_init(&q);
    ek_buf_init(&list, 0);
    make_message(s, 0, &q, &list);
    send_one(client, list.data, list.length, 0);
    send_one(client, garbage, NEARLY, 0);
    send_one(client, garbage, TWICE, 3);
    send_one(client, list.data, list.length, READABLE);
    send_one(client, list.data, list.length, READABLE + 1);
    send_one(client, list.data, list.length, TOO_MANY);
    send_one(client, list.data, list.length, 0);
    ck_assert_int_eq(rd_kafka_flush(client, WAIT_MS), 0);
    rd_kafka_destroy(client);
    ek_buf_release(&list);
    ek_list_release(&q);
    free(garbage);
}

static const struct ek_header *find(const struct ek_kafka_record *r, const char *name)
{
    for (size_t i = r->header_count; i-- > 0;)
        if (!strcmp(r->headers[i].name, name))
            return &r->headers[i];
    return NULL;
}

static bool has(const struct ek_kafka_record *r, const char *name, const char *value)
{
    const struct ek_header *h = find(r, name);
    return h && !strcmp(h->value, value);
}

static struct ek_merged_consumer *open_tap(struct scene *s, const char *topic)
{
    struct ek_merged_consumer *t;
    ck_assert_int_eq(ek_merged_consumer_new(&t, ek_mock_brokers(s->mock), topic,
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, NULL),
                     0);
    return t;
}

static bool next(struct ek_merged_consumer *t, struct ek_kafka_record *r)
{
    int got = 0;
    while (!got && !ek_merged_consumer_at_end(t))
        ck_assert_int_eq(ek_merged_consumer_next(t, r, 100, &got, NULL), 0);
    return got;
}

/* By input offset; "": an output. */
static const struct {
    const char *offset, *left_out, *class;
    bool valued;
} LETTERS[] = {{"1", "value", NULL, false},
               {"2", "headers,value", NULL, false},
               {"4", "headers", "limit", true},
               {"5", "headers", "limit", true}};
enum { SENT = 7, DEAD_ONES = sizeof LETTERS / sizeof *LETTERS };

static void check_letters(struct scene *s)
{
    struct ek_kafka_record r;
    struct ek_merged_consumer *t = open_tap(s, "ranked.dead");
    for (int i = 0; i < DEAD_ONES; i++) {
        ck_assert(next(t, &r));
        ck_assert_msg(has(&r, "ek-source-offset", LETTERS[i].offset), "letter %d", i);
        ck_assert_msg(has(&r, "ek-truncated", LETTERS[i].left_out), "letter %d", i);
        ck_assert(!LETTERS[i].class || has(&r, "ek-error-class", LETTERS[i].class));
        ck_assert(has(&r, "ek-source-topic", "scored"));
        ck_assert(find(&r, "ek-error") != NULL);
        ck_assert_int_eq(r.bytes != NULL, LETTERS[i].valued);
        ck_assert_uint_eq(r.key_length, 1);
    }
    ck_assert(!next(t, &r));
    ek_merged_consumer_free(t);
}

static void run_large(struct scene *s)
{
    feed_large(s);
    start(s);
    struct ek_stage_stats t = wait_for(s, SENT);
    ck_assert_uint_eq(t.dead, DEAD_ONES);
    ck_assert_uint_eq(ek_metrics_counter(ek_stage_parts(s->stage).metrics, EK_COUNT_TRUNCATED),
                      DEAD_ONES);
    finish(s);
    check_letters(s);
}

START_TEST(what_no_topic_takes_becomes_a_dead_letter_without_what_does_not_fit)
{
    struct scene s;
    begin(&s);
    run_large(&s);
    end(&s);
}
END_TEST

START_TEST(exactly_once_what_no_topic_takes_becomes_a_dead_letter_without_what_does_not_fit)
{
    struct scene s;
    begin(&s);
    set(&s, "input.delivery", "exactly_once");
    run_large(&s);
    ck_assert_int_eq(s.rc, 0);
    end(&s);
}
END_TEST

START_TEST(while_paused_headers_that_cannot_be_read_are_left_out_and_told)
{
    struct scene s;
    struct ek_kafka_record r;
    begin(&s);
    start(&s);
    ck_assert(ek_stage_pause(s.stage, true, "me", "to see"));
    feed_large(&s);
    struct ek_stage_stats t = wait_for(&s, SENT);
    ck_assert_uint_eq(t.dead, 1); /* garbage: no topic takes it */
    finish(&s);
    struct ek_merged_consumer *tap = open_tap(&s, "ranked");
    for (int i = 0; i < SENT - 1; i++) {
        ck_assert(next(tap, &r));
        bool nearly = i == 1; /* our headers alone would not fit */
        ck_assert(nearly ? !find(&r, "ek-action") : has(&r, "ek-action", "paused"));
        bool bare = i == 3 || i == 4;
        ck_assert_msg(bare ? has(&r, "ek-truncated", "headers") : !find(&r, "ek-truncated"), "%d",
                      i);
    }
    ek_merged_consumer_free(tap);
    end(&s);
}
END_TEST

/* Both are in the queue of the client when the first is acknowledged and copied. */
START_TEST(large_messages_that_cannot_be_read_are_forwarded_and_copied)
{
    struct scene s;
    struct ek_kafka_record r;
    char *garbage = calloc(1, LARGE);
    begin(&s);
    set(&s, "output.undecodable", "forward");
    set(&s, "limits.in_flight_bytes", "1MiB");
    set(&s, "limits.message_bytes", "64KiB");
    ck_assert_ptr_nonnull(garbage);
    rd_kafka_t *client = open_producer(&s);
    for (int i = 0; i < 2; i++)
        send_one(client, garbage, LARGE, 0);
    ck_assert_int_eq(rd_kafka_flush(client, WAIT_MS), 0);
    rd_kafka_destroy(client);
    ek_mock_disturb(s.mock, 1, SLOW_MS);
    start(&s);
    ck_assert_uint_eq(wait_for(&s, 2).passed, 2);
    finish(&s);
    struct ek_merged_consumer *tap = open_tap(&s, "ranked.dead");
    for (int i = 0; i < 2; i++) {
        ck_assert(next(tap, &r));
        ck_assert_uint_eq(r.length, LARGE);
    }
    ck_assert(!next(tap, &r));
    ek_merged_consumer_free(tap);
    end(&s);
    free(garbage);
}
END_TEST

/* The topic temporarily accepts less than its limit. */
START_TEST(exactly_once_a_refusal_that_does_not_come_again_costs_no_list)
{
    struct scene s;
    begin(&s);
    set(&s, "input.delivery", "exactly_once");
    feed(&s, 0, LISTS);
    ek_mock_refuse(s.mock, 1);
    start(&s);
    struct ek_stage_stats t = wait_for(&s, LISTS);
    ck_assert_uint_gt(ek_metrics_counter(ek_stage_parts(s.stage).metrics, EK_COUNT_TXN_ABORTED), 0);
    ck_assert_uint_eq(t.passed, LISTS - LISTS / 10);
    ck_assert_uint_eq(t.queries, LISTS - LISTS / 10);
    finish(&s);
    end(&s);
}
END_TEST

/* Refuse the list, then its dead letter without value, then without key, and each alone. */
static void run_refused(struct scene *s)
{
    feed(s, 0, 1);
    ek_mock_refuse(s->mock, REFUSALS);
    start(s);
    ck_assert_int_eq(pthread_join(s->thread, NULL), 0);
    ck_assert_int_eq(s->rc, EK_EIO);
    ck_assert_msg(strstr(s->error.message, "topic 'ranked.dead' takes no dead letter, not the "
                                           "smallest: Broker: Message size too large") != NULL,
                  "%s", s->error.message);
    ek_stage_free(s->stage);
}

START_TEST(a_broker_that_refuses_the_smallest_dead_letter_ends_the_stage)
{
    struct scene s;
    begin(&s);
    run_refused(&s);
    end(&s);
}
END_TEST

START_TEST(exactly_once_a_broker_that_refuses_the_smallest_dead_letter_ends_the_stage)
{
    struct scene s;
    begin(&s);
    set(&s, "input.delivery", "exactly_once");
    run_refused(&s);
    end(&s);
}
END_TEST

Suite *suite_dead_letter_size(void)
{
    return ek_suite(
        "letters_fit", what_no_topic_takes_becomes_a_dead_letter_without_what_does_not_fit,
        exactly_once_what_no_topic_takes_becomes_a_dead_letter_without_what_does_not_fit,
        while_paused_headers_that_cannot_be_read_are_left_out_and_told,
        large_messages_that_cannot_be_read_are_forwarded_and_copied,
        exactly_once_a_refusal_that_does_not_come_again_costs_no_list,
        a_broker_that_refuses_the_smallest_dead_letter_ends_the_stage,
        exactly_once_a_broker_that_refuses_the_smallest_dead_letter_ends_the_stage);
}
