/* Records of a transaction, and the size of a batch. */
#include "daemon/kafka/producer_internal.h"
#include "daemon/kafka/side_records.h"
#include "tests/check.h"

struct scene {
    rd_kafka_t *client;
    rd_kafka_topic_t *topic;
    struct ek_txn_records *records;
};

static void begin(struct scene *s)
{
    char why[200];
    s->client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof why);
    ck_assert_msg(s->client != NULL, "%s", why);
    s->topic = rd_kafka_topic_new(s->client, "t", NULL);
    s->records = ek_txn_records_new();
    ck_assert_ptr_nonnull(s->records);
}

static void end(struct scene *s)
{
    ek_txn_records_free(s->records);
    rd_kafka_purge(s->client, RD_KAFKA_PURGE_F_QUEUE);
    rd_kafka_topic_destroy(s->topic);
    rd_kafka_destroy(s->client);
}

static void add(struct scene *s)
{
    ck_assert_int_eq(ek_txn_records_add(s->records, "k", 1, "value", 5, NULL), 0);
}

START_TEST(a_record_waits_until_the_transaction_that_has_it_is_committed)
{
    struct scene s;
    begin(&s);
    ck_assert(!ek_txn_records_has_pending(s.records));
    add(&s);
    add(&s);
    ck_assert(ek_txn_records_send(s.records, s.client, s.topic));
    ck_assert(!ek_txn_records_has_pending(s.records));
    add(&s);
    ek_txn_records_finish(s.records, false);
    ck_assert(ek_txn_records_has_pending(s.records));
    ck_assert(ek_txn_records_send(s.records, s.client, s.topic));
    ck_assert_int_eq(rd_kafka_outq_len(s.client), 2 + 3);
    ek_txn_records_finish(s.records, true);
    ck_assert(!ek_txn_records_has_pending(s.records));
    ek_txn_records_finish(s.records, false);
    ck_assert(!ek_txn_records_has_pending(s.records));
    end(&s);
}
END_TEST

START_TEST(too_many_records_lose_the_oldest_and_count_it)
{
    struct scene s;
    begin(&s);
    for (int i = 0; i < EK_RECORDS_MAX + 3; i++)
        add(&s);
    ck_assert_uint_eq(ek_txn_records_dropped_count(s.records), 3);
    ck_assert(ek_txn_records_send(s.records, s.client, s.topic));
    ck_assert_int_eq(rd_kafka_outq_len(s.client), EK_RECORDS_MAX);
    end(&s);
}
END_TEST

/* Varints below 64 take one byte, below 8,192 two: after the head of 61, the record length, three
 * fixed bytes, and the lengths of key, value, header count, names and values. tests/kafka verifies
 * a broker's limit byte by byte. */
START_TEST(the_size_of_a_batch_counts_key_value_and_headers)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
    ck_assert_uint_eq(ek_topic_limits_batch_bytes(0, 0, NULL), 61 + 1 + 3 + 3);
    ck_assert_uint_eq(ek_topic_limits_batch_bytes(7, 50, headers), 61 + 1 + 3 + 1 + 7 + 1 + 50 + 1);
    ck_assert_uint_eq(ek_topic_limits_batch_bytes(7, 100, headers),
                      61 + 2 + 3 + 1 + 7 + 2 + 100 + 1);
    rd_kafka_header_add(headers, "name", -1, "value", -1);
    rd_kafka_header_add(headers, "null", -1, NULL, 0);
    ck_assert_uint_eq(ek_topic_limits_batch_bytes(7, 100, headers),
                      61 + 2 + 3 + 1 + 7 + 2 + 100 + 1 + 1 + 4 + 1 + 5 + 1 + 4 + 1);
    ck_assert_uint_eq(ek_topic_limits_batch_bytes(0, 1000000, NULL),
                      61 + 3 + 3 + 1 + 3 + 1000000 + 1);
    rd_kafka_headers_destroy(headers);
}
END_TEST

Suite *suite_txn_records(void)
{
    return ek_suite("records", a_record_waits_until_the_transaction_that_has_it_is_committed,
                    too_many_records_lose_the_oldest_and_count_it,
                    the_size_of_a_batch_counts_key_value_and_headers);
}
