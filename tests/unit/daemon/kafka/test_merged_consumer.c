/* The merged consumer of the tools: order over several partitions, and errors without input. */
#include "daemon/base/clock.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/tool_client.h"
#include "tests/check.h"

#include <string.h>
#include <time.h>

enum { WAIT_MS = 30000, RECORDS = 300, PARTITIONS = 3, START_MS = 1700000 };

static void send_one(struct ek_tool_producer *sender, int partition, int number)
{
    struct ek_error e;
    struct ek_kafka_record r = {.partition = partition,
                                .timestamp_ms = START_MS + number,
                                .bytes = &number,
                                .length = sizeof number};
    ck_assert_int_eq(ek_tool_producer_send(sender, &r, &e), 0);
}

/* Send partition by partition, so that send order differs from time order. */
static void send_apart(struct ek_mock *mock, const char *topic, int partitions)
{
    struct ek_tool_producer *sender;
    struct ek_error e;
    ck_assert_int_eq(
        ek_tool_producer_new(&sender, ek_mock_brokers(mock), topic, EK_TOOL_PRODUCER_ORDERED, &e),
        0);
    for (int p = partitions; p-- > 0;) {
        for (int i = p; i < RECORDS; i += partitions)
            send_one(sender, p, i);
        ck_assert_int_eq(ek_tool_producer_flush(sender, WAIT_MS, &e), 0);
    }
    ek_tool_producer_free(sender);
}

static void assert_next(struct ek_merged_consumer *t, int number)
{
    struct ek_kafka_record r;
    struct ek_error e;
    int got = 0, content;
    for (int tries = 0; !got && tries < 100; tries++)
        ck_assert_int_eq(ek_merged_consumer_next(t, &r, 200, &got, &e), 0);
    ck_assert_int_eq(got, 1);
    ck_assert_uint_eq(r.length, sizeof content);
    memcpy(&content, r.bytes, sizeof content);
    ck_assert_int_eq(content, number);
    ck_assert_int_eq(r.timestamp_ms, START_MS + number);
}

static void assert_merged(unsigned flags, int partitions)
{
    struct ek_mock *mock;
    struct ek_merged_consumer *t;
    struct ek_error e;
    struct ek_kafka_record r;
    int got;
    ck_assert_int_eq(ek_mock_start(&mock, &e), 0);
    ck_assert_int_eq(ek_mock_topic(mock, "many", partitions, &e), 0);
    send_apart(mock, "many", PARTITIONS);
    ck_assert_msg(!ek_merged_consumer_new(&t, ek_mock_brokers(mock), "many", flags, WAIT_MS, &e),
                  "%s", e.message);
    for (int i = 0; i < RECORDS; i++) {
        ck_assert(!ek_merged_consumer_at_end(t));
        assert_next(t, i);
    }
    ck_assert(ek_merged_consumer_at_end(t));
    ck_assert_int_eq(ek_merged_consumer_next(t, &r, 0, &got, &e), 0);
    ck_assert_int_eq(got, 0);
    ek_merged_consumer_free(t);
    ek_mock_stop(mock);
}

START_TEST(partitions_are_merged_by_time_up_to_their_ends)
{
    assert_merged(EK_MERGED_CONSUMER_UNTIL_END, PARTITIONS);
}
END_TEST

START_TEST(partitions_are_merged_by_time_while_the_stream_goes_on)
{
    assert_merged(0, PARTITIONS);
}
END_TEST

START_TEST(a_partition_without_a_record_holds_nothing_up_for_good)
{
    assert_merged(EK_MERGED_CONSUMER_UNTIL_END, PARTITIONS + 1);
    assert_merged(0, PARTITIONS + 1);
}
END_TEST

START_TEST(the_leader_of_a_new_partition_is_waited_for)
{
    struct ek_mock *mock;
    struct ek_merged_consumer *t;
    struct ek_error e;
    ck_assert_int_eq(ek_mock_start(&mock, &e), 0);
    ck_assert_int_eq(ek_mock_topic(mock, "new", 1, &e), 0);
    ek_mock_refuse_ranges(mock, 4); /* the client repeats some requests itself */
    ck_assert_msg(!ek_merged_consumer_new(&t, ek_mock_brokers(mock), "new", 0, WAIT_MS, &e), "%s",
                  e.message);
    ek_merged_consumer_free(t);
    ek_mock_stop(mock);
}
END_TEST

START_TEST(a_silent_topic_is_waited_for)
{
    enum { SILENT_MS = 1500, POLL_MS = 200 };
    struct ek_mock *mock;
    struct ek_merged_consumer *t;
    struct ek_error e;
    struct ek_kafka_record r;
    int got;
    ck_assert_int_eq(ek_mock_start(&mock, &e), 0);
    ck_assert_int_eq(ek_mock_topic(mock, "none", 2, &e), 0);
    ck_assert_int_eq(ek_merged_consumer_new(&t, ek_mock_brokers(mock), "none", 0, WAIT_MS, &e), 0);
    ck_assert_int_eq(ek_merged_consumer_next(t, &r, SILENT_MS, &got, &e), 0);
    int64_t began = ek_now_ms();
    ck_assert_int_eq(ek_merged_consumer_next(t, &r, POLL_MS, &got, &e), 0);
    ck_assert_int_eq(got, 0);
    ck_assert_int_ge(ek_now_ms() - began, POLL_MS);
    ek_merged_consumer_free(t);
    ek_mock_stop(mock);
}
END_TEST

START_TEST(what_comes_behind_the_end_is_left_when_only_what_is_there_is_wanted)
{
    struct ek_mock *mock;
    struct ek_merged_consumer *t;
    struct ek_error e;
    struct ek_kafka_record r;
    int got;
    ck_assert_int_eq(ek_mock_start(&mock, &e), 0);
    ck_assert_int_eq(ek_mock_topic(mock, "one", 1, &e), 0);
    send_apart(mock, "one", 1);
    ck_assert_int_eq(ek_merged_consumer_new(&t, ek_mock_brokers(mock), "one",
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, &e),
                     0);
    send_apart(mock, "one", 1);
    for (int i = 0; i < RECORDS; i++)
        assert_next(t, i);
    ck_assert(ek_merged_consumer_at_end(t));
    ck_assert_int_eq(ek_merged_consumer_next(t, &r, 100, &got, &e), 0);
    ck_assert_int_eq(got, 0);
    ek_merged_consumer_free(t);
    ek_mock_stop(mock);
}
END_TEST

static void send_some(struct ek_tool_producer *sender, int from, int to)
{
    for (int i = from; i < to; i++)
        send_one(sender, 0, i);
}

/* The mock cluster accepts messages after a refused request, unlike a broker, and the client then
 * considers the refused one delivered. With five messages in flight to a partition it sends no
 * more: so the first request has more, queued until brokers are available. */
START_TEST(what_is_sent_keeps_its_order_although_requests_are_refused)
{
    enum { FIRST = 20, ANSWER_MS = 150 };
    struct ek_mock *mock;
    struct ek_tool_producer *sender;
    struct ek_merged_consumer *t;
    struct ek_error e;
    ck_assert_int_eq(ek_mock_start(&mock, &e), 0);
    ck_assert_int_eq(ek_mock_topic(mock, "one", 1, &e), 0);
    ek_mock_disturb(mock, 1, ANSWER_MS);
    ek_mock_away(mock, true);
    ck_assert_int_eq(
        ek_tool_producer_new(&sender, ek_mock_brokers(mock), "one", EK_TOOL_PRODUCER_ORDERED, &e),
        0);
    send_some(sender, 0, FIRST);
    ek_mock_away(mock, false);
    while (ek_mock_disturbances(mock)) /* until it is refused */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    send_some(sender, FIRST, RECORDS);
    ck_assert_int_eq(ek_tool_producer_flush(sender, WAIT_MS, &e), 0);
    ck_assert_int_eq(ek_merged_consumer_new(&t, ek_mock_brokers(mock), "one",
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, &e),
                     0);
    for (int i = 0; i < RECORDS; i++)
        assert_next(t, i);
    ck_assert(ek_merged_consumer_at_end(t));
    ek_merged_consumer_free(t);
    ek_tool_producer_free(sender);
    ek_mock_stop(mock);
}
END_TEST

START_TEST(brokers_that_do_not_answer_are_named)
{
    struct ek_merged_consumer *t = NULL;
    struct ek_error e;
    ck_assert_int_eq(ek_merged_consumer_new(&t, "127.0.0.1:1", "any", 0, 100, &e), EK_EIO);
    ck_assert_ptr_nonnull(strstr(e.message, "no broker of '127.0.0.1:1' answers"));
    ck_assert_ptr_null(t);
}
END_TEST

Suite *suite_merged_consumer(void)
{
    return ek_suite("tap", partitions_are_merged_by_time_up_to_their_ends,
                    partitions_are_merged_by_time_while_the_stream_goes_on,
                    a_partition_without_a_record_holds_nothing_up_for_good,
                    a_silent_topic_is_waited_for, the_leader_of_a_new_partition_is_waited_for,
                    what_comes_behind_the_end_is_left_when_only_what_is_there_is_wanted,
                    what_is_sent_keeps_its_order_although_requests_are_refused,
                    brokers_that_do_not_answer_are_named);
}
