/* Message processing of a stage, against librdkafka's mock cluster. tests/kafka uses a real broker;
 * test_stage_events.c covers events. */
#include "base/alloc.h"
#include "daemon/kafka/client.h"
#include "daemon/base/log.h"
#include "tests/stage_scene.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARTITIONS = 4 };

/* Return the number of messages of a topic, all of which must have `header`. */
static uint64_t count(struct scene *s, const char *topic, const char *header)
{
    struct ek_merged_consumer *t;
    struct ek_error e;
    struct ek_kafka_record r;
    uint64_t n = 0;
    int got;
    ck_assert_int_eq(ek_merged_consumer_new(&t, ek_mock_brokers(s->mock), topic,
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, &e),
                     0);
    while (!ek_merged_consumer_at_end(t)) {
        ck_assert_int_eq(ek_merged_consumer_next(t, &r, 100, &got, &e), 0);
        if (!got)
            continue;
        bool found = false;
        for (size_t i = 0; i < r.header_count; i++)
            found |= !strcmp(r.headers[i].name, header);
        ck_assert(found);
        n++;
    }
    ek_merged_consumer_free(t);
    return n;
}

/* Run a stage on LISTS; all must be forwarded or dead-lettered. */
static void run_through(struct scene *s)
{
    feed(s, 0, LISTS);
    start(s);
    struct ek_stage_stats t = wait_for(s, LISTS);
    ck_assert_uint_eq(t.passed, LISTS - LISTS / 10);
    ck_assert_uint_eq(t.dead, LISTS / 10);
    ck_assert_uint_eq(t.queries, LISTS - LISTS / 10);
    ck_assert_int_eq(t.partitions, 1);
    finish(s);
    ck_assert_uint_eq(count(s, "ranked", "ek-plan-version"), LISTS - LISTS / 10);
    ck_assert_uint_eq(count(s, "ranked.dead", "ek-error"), LISTS / 10);
}

START_TEST(messages_come_out_or_become_dead_letters)
{
    struct scene s;
    begin(&s);
    run_through(&s);
    end(&s);
}
END_TEST

static void remove_output(struct scene *s)
{
    ek_free(s->config->output_topic);
    s->config->output_topic = NULL;
}

/* Observe LISTS without an output. The mock cluster does not store offsets of transactions, so only
 * at least once is restarted. */
static void observe_all(struct scene *s, bool letters, bool restart)
{
    const int more = restart ? 10 : 0;
    remove_output(s);
    if (!letters) {
        ek_free(s->config->dead_letter_topic);
        s->config->dead_letter_topic = NULL;
        set(s, "output.undecodable", "forward");
    }
    feed(s, 0, LISTS);
    start(s);
    struct ek_stage_stats t = wait_for(s, LISTS);
    ck_assert_uint_eq(t.queries, LISTS - LISTS / 10);
    ck_assert_uint_eq(t.dead, letters ? LISTS / 10 : 0);
    finish(s);
    feed(s, LISTS, (uint64_t)(LISTS + more));
    if (restart) {
        start(s);
        t = wait_for(s, (uint64_t)more); /* the offsets of the others are committed */
        ck_assert_uint_eq(t.consumed, (uint64_t)more);
        finish(s);
    }
    ck_assert_uint_eq(count(s, "ranked", "none"), 0);
    if (letters)
        ck_assert_uint_eq(count(s, "ranked.dead", "ek-error"), (uint64_t)(LISTS + more) / 10);
}

START_TEST(without_an_output_lists_are_observed_and_their_offsets_committed)
{
    static const char *const deliveries[] = {"at_least_once", "exactly_once"};
    for (int i = 0; i < 4; i++) {
        struct scene s;
        begin(&s);
        set(&s, "input.delivery", deliveries[i / 2]);
        observe_all(&s, i % 2, i < 2);
        end(&s);
    }
}
END_TEST

START_TEST(few_in_flight_hold_the_input_back_and_nothing_is_lost)
{
    struct scene s;
    begin(&s);
    set(&s, "limits.in_flight_messages", "3");
    feed(&s, 0, LISTS);
    start(&s);
    wait_for(&s, LISTS);
    finish(&s);
    ck_assert_uint_eq(count(&s, "ranked", "ek-action"), LISTS - LISTS / 10);
    end(&s);
}
END_TEST

START_TEST(exactly_once_messages_come_out_or_become_dead_letters)
{
    struct scene s;
    begin(&s);
    set(&s, "input.delivery", "exactly_once");
    set(&s, "service.instance", "one");
    run_through(&s);
    end(&s);
}
END_TEST

/* Return the number of output messages; their times must ascend within each partition. */
static uint64_t count_in_order(struct scene *s)
{
    struct ek_merged_consumer *t;
    struct ek_kafka_record r;
    int64_t last[PARTITIONS] = {0};
    uint64_t n = 0;
    int got;
    ck_assert_int_eq(ek_merged_consumer_new(&t, ek_mock_brokers(s->mock), "ranked",
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, NULL),
                     0);
    for (; !ek_merged_consumer_at_end(t); n += (uint64_t)got) {
        ck_assert_int_eq(ek_merged_consumer_next(t, &r, 100, &got, NULL), 0);
        if (!got)
            continue;
        ck_assert_int_lt(r.partition, PARTITIONS);
        ck_assert_int_gt(r.timestamp_ms, last[r.partition]);
        ck_assert_int_eq((r.timestamp_ms - 1000) % PARTITIONS, r.partition);
        last[r.partition] = r.timestamp_ms;
    }
    ek_merged_consumer_free(t);
    return n;
}

/* Prepare short lists, sent to the partitions in turn. */
static void begin_spread(struct scene *s)
{
    begin_with(s, PARTITIONS);
    s->spread = PARTITIONS;
    s->change = make_short;
}

START_TEST(several_workers_keep_the_order_of_each_partition)
{
    struct scene s;
    begin_spread(&s);
    set(&s, "pipeline.workers", "3");
    set(&s, "pipeline.batch_size", "2"); /* queues of 8, mostly full */
    start(&s);
    feed(&s, 0, MANY);
    struct ek_stage_stats t = wait_for(&s, MANY);
    ck_assert_uint_eq(t.queries, MANY - MANY / 10);
    ck_assert_int_eq(t.partitions, PARTITIONS);
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_workers 3\n"));
    finish(&s);
    ck_assert_uint_eq(count_in_order(&s), MANY - MANY / 10);
    end(&s);
}
END_TEST

enum { DENSE = 16000, DENSE_EACH_MS = 12 };

static void make_dense(struct ek_list *q, uint64_t i)
{
    q->items = 1; /* the mock cluster retains all of them */
    q->time_ms = 1790000000000 + (int64_t)i / DENSE_EACH_MS;
}

/* The first second has 12,000 lists, so at most half of the lists after it are observed. */
START_TEST(lists_of_dense_traffic_that_are_not_observed_come_out_too)
{
    enum { VALID = DENSE - DENSE / 10, FIRST = 1000 * DENSE_EACH_MS };
    struct scene s;
    begin(&s);
    s.change = make_dense;
    set(&s, "pipeline.observe", "auto");
    set(&s, "pipeline.workers", "2");
    feed(&s, 0, FIRST);
    start(&s);
    wait_for(&s, FIRST); /* no partition is a second behind another */
    feed(&s, FIRST, DENSE);
    struct ek_stage_stats t = wait_for(&s, DENSE);
    uint64_t unobserved = ek_metrics_counter(ek_stage_parts(s.stage).metrics, EK_COUNT_UNOBSERVED);
    ck_assert_uint_eq(t.passed, VALID);
    ck_assert_uint_eq(t.queries, VALID);
    ck_assert_uint_gt(unobserved, 0);
    ck_assert_uint_lt(unobserved, VALID - FIRST * 9 / 10);
    finish(&s);
    end(&s);
}
END_TEST

enum { DISTURBED = 30, ANSWER_MS = 10 };

/* Small requests, so that others of the same partition are queued after a refused one; with
 * enable.idempotence=false they would overtake it. max.in.flight is 1, because the mock cluster,
 * unlike a broker, accepts a request after a refused one, and the client then considers the refused
 * one delivered. */
START_TEST(the_order_of_each_partition_holds_while_requests_are_tried_again)
{
    struct scene s;
    begin_spread(&s);
    set(&s, "output.librdkafka", "batch.num.messages=10");
    set(&s, "output.librdkafka", "max.in.flight=1");
    if (ek_kafka_conf_has_backoff()) { /* the pause doubles */
        set(&s, "output.librdkafka", "retry.backoff.ms=10");
        set(&s, "output.librdkafka", "retry.backoff.max.ms=10");
    }
    feed(&s, 0, MANY);
    ek_mock_disturb(s.mock, DISTURBED, ANSWER_MS);
    start(&s);
    wait_for(&s, MANY);
    finish(&s);
    ck_assert_uint_eq(ek_mock_disturbances(s.mock), 0);
    ck_assert_uint_eq(count_in_order(&s), MANY - MANY / 10);
    end(&s);
}
END_TEST

/* Each part has one batch per partition, which fills the client's queue. A client that slept for a
 * second with a full queue would exceed the timeout. */
START_TEST(a_client_that_had_enough_fetches_again_when_that_is_used_up)
{
    enum { PARTS = 50, WITHIN_MS = 30000 };
    struct scene s;
    begin_spread(&s);
    set(&s, "input.librdkafka", "queued.min.messages=1");
    for (int i = 0; i < PARTS; i++)
        feed(&s, (uint64_t)i * LISTS, (uint64_t)(i + 1) * LISTS);
    start(&s);
    wait_within(&s, PARTS * LISTS, WITHIN_MS);
    finish(&s);
    end(&s);
}
END_TEST

/* Small transactions, so that the hold queues open and close continuously. */
START_TEST(exactly_once_several_workers_keep_the_order_of_each_partition)
{
    struct scene s;
    begin_spread(&s);
    set(&s, "input.delivery", "exactly_once");
    set(&s, "pipeline.workers", "3");
    set(&s, "input.commit_interval", "10ms");
    set(&s, "limits.transaction_bytes", "64KiB");
    start(&s);
    feed(&s, 0, MANY);
    struct ek_stage_stats t = wait_for(&s, MANY);
    ck_assert_uint_eq(t.queries, MANY - MANY / 10);
    finish(&s);
    ck_assert_uint_eq(count_in_order(&s), MANY - MANY / 10);
    end(&s);
}
END_TEST

/* Set timeouts beyond the test's, for a busy machine. */
static void outlive_the_test(struct scene *s)
{
    set(s, "limits.transaction_timeout", "120s");
    set(s, "input.librdkafka", "session.timeout.ms=120000");
}

START_TEST(exactly_once_an_abort_goes_back_and_counts_each_list_once)
{
    struct scene s;
    char *said;
    size_t length;
    FILE *to = open_memstream(&said, &length);
    struct ek_log *log = ek_log_new(to, EK_LOG_WARN);
    begin_spread(&s);
    set(&s, "input.delivery", "exactly_once");
    set(&s, "pipeline.workers", "2");
    set(&s, "input.commit_interval", "10ms");
    outlive_the_test(&s);
    feed(&s, 0, MANY);
    ek_mock_refuse_offsets(s.mock, 3);
    start_with(&s, log);
    struct ek_stage_stats t = wait_for(&s, MANY);
    const struct ek_metrics *m = ek_stage_parts(s.stage).metrics;
    ck_assert_uint_eq(t.queries, MANY - MANY / 10);
    ck_assert_msg(ek_metrics_counter(m, EK_COUNT_TXN_ABORTED) == 3, "%s", said);
    ck_assert_uint_gt(ek_metrics_counter(m, EK_COUNT_OUTPUT_ONLY), 0);
    ck_assert_uint_eq(ek_metrics_counter(m, EK_COUNT_KAFKA_FATAL), 0);
    finish(&s);
    ek_log_free(log);
    fclose(to);
    free(said);
    end(&s);
}
END_TEST

/* Under the epoch of an aborted transaction brokers could drop a batch as a duplicate. */
START_TEST(exactly_once_after_an_abort_the_producer_registers_for_a_new_epoch)
{
    struct scene s;
    begin(&s);
    set(&s, "input.delivery", "exactly_once");
    outlive_the_test(&s);
    feed(&s, 0, LISTS);
    ek_mock_await_registrations(s.mock, 2); /* at the start, after the abort */
    ek_mock_refuse_offsets(s.mock, 1);
    start(&s);
    wait_for(&s, LISTS);
    ck_assert_uint_eq(ek_metrics_counter(ek_stage_parts(s.stage).metrics, EK_COUNT_TXN_ABORTED), 1);
    ck_assert_uint_eq(ek_mock_registrations_left(s.mock), 0);
    finish(&s);
    end(&s);
}
END_TEST

START_TEST(exactly_once_a_right_that_is_missing_ends_the_stage)
{
    struct scene s;
    begin(&s);
    set(&s, "input.delivery", "exactly_once");
    feed(&s, 0, LISTS);
    ek_mock_forbid(s.mock);
    start(&s);
    ck_assert_int_eq(pthread_join(s.thread, NULL), 0);
    ck_assert_int_eq(s.rc, EK_EIO);
    ck_assert_msg(strstr(s.error.message, "needs Write on topic 'ranked', 'ranked.dead'") != NULL,
                  "%s", s.error.message);
    ek_stage_free(s.stage);
    end(&s);
}
END_TEST

/* Return the sum of the committed offsets of all partitions. */
static uint64_t committed(struct scene *s)
{
    static const struct ek_kafka_setting settings[] = {{"group.id", "g"}};
    rd_kafka_t *client;
    uint64_t sum = 0;
    struct ek_kafka_watch watch = {.role = "consumer"};
    const struct ek_brokers brokers = {ek_mock_brokers(s->mock), NULL};
    ck_assert_int_eq(
        ek_kafka_client(&client, RD_KAFKA_CONSUMER, &brokers, settings, 1, NULL, &watch, NULL), 0);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(PARTITIONS);
    for (int i = 0; i < PARTITIONS; i++)
        rd_kafka_topic_partition_list_add(list, "scored", i);
    ck_assert_int_eq(rd_kafka_committed(client, list, WAIT_MS), 0);
    for (int i = 0; i < list->cnt; i++)
        sum += list->elems[i].offset > 0 ? (uint64_t)list->elems[i].offset : 0;
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
    return sum;
}

START_TEST(a_stop_with_messages_in_rings_sends_and_commits_exactly_what_was_read)
{
    struct scene s;
    struct ek_stage_stats t;
    begin_spread(&s);
    set(&s, "pipeline.workers", "2");
    set(&s, "service.shutdown_timeout", "60s");
    feed(&s, 0, MANY);
    start(&s);
    do
        ek_stage_stats(s.stage, &t);
    while (t.consumed < MANY / 4);
    join(&s);
    ek_stage_stats(s.stage, &t);
    ek_stage_free(s.stage);
    ck_assert_uint_eq(t.passed + t.dead, t.consumed);
    ck_assert_uint_eq(committed(&s), t.consumed);
    ck_assert_uint_eq(count_in_order(&s), t.passed);
    end(&s);
}
END_TEST

START_TEST(a_stage_that_is_stopped_before_it_runs_ends_at_once)
{
    struct scene s;
    begin(&s);
    start(&s);
    finish(&s);
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, NULL, NULL), 0);
    ek_stage_stop(s.stage);
    ck_assert_int_eq(ek_stage_run(s.stage, NULL), 0);
    ek_stage_free(s.stage);
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, NULL, NULL), 0);
    ek_stage_free(s.stage);
    end(&s);
}
END_TEST

Suite *suite_stage(void)
{
    return ek_suite("stage", messages_come_out_or_become_dead_letters,
                    exactly_once_messages_come_out_or_become_dead_letters,
                    exactly_once_several_workers_keep_the_order_of_each_partition,
                    exactly_once_an_abort_goes_back_and_counts_each_list_once,
                    exactly_once_after_an_abort_the_producer_registers_for_a_new_epoch,
                    exactly_once_a_right_that_is_missing_ends_the_stage,
                    without_an_output_lists_are_observed_and_their_offsets_committed,
                    few_in_flight_hold_the_input_back_and_nothing_is_lost,
                    several_workers_keep_the_order_of_each_partition,
                    lists_of_dense_traffic_that_are_not_observed_come_out_too,
                    the_order_of_each_partition_holds_while_requests_are_tried_again,
                    a_client_that_had_enough_fetches_again_when_that_is_used_up,
                    a_stop_with_messages_in_rings_sends_and_commits_exactly_what_was_read,
                    a_stage_that_is_stopped_before_it_runs_ends_at_once);
}
