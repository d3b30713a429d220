/* What Kafka errors mean for us, and which of them is kept. */
#include "daemon/kafka_error.h"
#include "tests/check.h"

START_TEST(errors_of_kafka_have_one_class_each)
{
    static const struct {
        rd_kafka_resp_err_t err;
        enum ek_kafka_where where;
        enum ek_kafka_class class;
    } cases[] = {
        {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, EK_KAFKA_CLIENT, EK_KAFKA_RETRIABLE},
        {RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, EK_KAFKA_CONSUME, EK_KAFKA_ABORT},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, EK_KAFKA_CONSUME, EK_KAFKA_RETRIABLE},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, EK_KAFKA_DELIVER, EK_KAFKA_FATAL},
        {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, EK_KAFKA_DELIVER, EK_KAFKA_MESSAGE},
        {RD_KAFKA_RESP_ERR__PURGE_QUEUE, EK_KAFKA_DELIVER, EK_KAFKA_ABORT},
        {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, EK_KAFKA_COMMIT, EK_KAFKA_ABORT},
        {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, EK_KAFKA_COMMIT, EK_KAFKA_RETRIABLE},
        {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, EK_KAFKA_CONSUME, EK_KAFKA_FATAL},
        {RD_KAFKA_RESP_ERR__FATAL, EK_KAFKA_CLIENT, EK_KAFKA_FATAL},
        {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, EK_KAFKA_COMMIT, EK_KAFKA_FATAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(ek_kafka_class_name(ek_kafka_classify(cases[i].err, cases[i].where)),
                         ek_kafka_class_name(cases[i].class));
}
END_TEST

START_TEST(a_fatal_error_is_kept_and_counted)
{
    struct ek_kafka_watch w = {.metrics = ek_metrics_new(), .role = "producer"};
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__TRANSPORT, EK_KAFKA_CLIENT, NULL);
    ck_assert_int_eq(w.failure.code, 0);
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__FATAL, EK_KAFKA_CLIENT, "the first");
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__FATAL, EK_KAFKA_CLIENT, "the second");
    ck_assert_int_eq(w.failure.code, EK_EIO);
    ck_assert_uint_eq(w.failure.flags, EK_ERR_FATAL);
    ck_assert_str_eq(w.failure.message, "kafka: the first (_FATAL, producer, fatal)");
    ck_assert_uint_eq(ek_metrics_counter(w.metrics, EK_COUNT_KAFKA_FATAL), 2);
    ck_assert_uint_eq(ek_metrics_counter(w.metrics, EK_COUNT_KAFKA_RETRIABLE), 1);
    ek_metrics_free(w.metrics);
}
END_TEST

Suite *suite_kafka_error(void)
{
    return ek_suite("kafka_error", errors_of_kafka_have_one_class_each,
                    a_fatal_error_is_kept_and_counted);
}
