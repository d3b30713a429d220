/* Kafka errors by context: their class, their precedence, their messages, and their end. */
#include "daemon/kafka/errors.h"
#include "tests/check.h"

#include <librdkafka/rdkafka_mock.h>
#include <string.h>

enum { MESSAGE_TOO_LARGE = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, ABORTABLE = 120 };

static const char *class_of(int err, enum ek_kafka_where where)
{
    return ek_kafka_class_name(ek_kafka_classify((rd_kafka_resp_err_t)err, where));
}

START_TEST(a_code_has_a_class_for_each_place_where_it_comes)
{
    static const struct {
        int err;
        const char *client, *consume, *commit, *deliver, *transaction;
    } cases[] = {
        {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "retriable", "retriable", "retriable", "fatal",
         "retriable"},
        {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, "retriable", "retriable", "retriable", "fatal",
         "retriable"},
        {RD_KAFKA_RESP_ERR__TRANSPORT, "retriable", "retriable", "retriable", "fatal", "retriable"},
        {RD_KAFKA_RESP_ERR__AUTHENTICATION, "retriable", "retriable", "retriable", "retriable",
         "retriable"},
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "fatal", "fatal", "fatal", "fatal", "fatal"},
        {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, "fatal", "fatal", "fatal", "fatal", "fatal"},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "retriable", "retriable", "retriable", "fatal",
         "abortable"},
        {MESSAGE_TOO_LARGE, "retriable", "retriable", "retriable", "message", "abortable"},
        {RD_KAFKA_RESP_ERR__PURGE_QUEUE, "retriable", "retriable", "retriable", "abortable",
         "fatal"},
        {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, "retriable", "retriable", "abortable", "fatal",
         "abortable"},
        {RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, "retriable", "abortable", "retriable", "fatal",
         "fatal"},
        {RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "retriable", "retriable", "retriable",
         "fatal", "abortable"},
        {RD_KAFKA_RESP_ERR__FATAL, "fatal", "fatal", "fatal", "fatal", "fatal"},
        {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, "fatal", "fatal", "fatal", "fatal", "abortable"},
        {RD_KAFKA_RESP_ERR__FENCED, "fatal", "fatal", "fatal", "fatal", "fatal"},
        {RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, "retriable", "retriable", "retriable", "fatal",
         "retriable"},
        {ABORTABLE, "retriable", "retriable", "retriable", "fatal", "abortable"},
        {RD_KAFKA_RESP_ERR_UNKNOWN, "retriable", "retriable", "retriable", "fatal", "fatal"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_str_eq(class_of(cases[i].err, EK_KAFKA_CLIENT), cases[i].client);
        ck_assert_str_eq(class_of(cases[i].err, EK_KAFKA_CONSUME), cases[i].consume);
        ck_assert_str_eq(class_of(cases[i].err, EK_KAFKA_COMMIT), cases[i].commit);
        ck_assert_str_eq(class_of(cases[i].err, EK_KAFKA_DELIVER), cases[i].deliver);
        ck_assert_str_eq(class_of(cases[i].err, EK_KAFKA_TXN), cases[i].transaction);
    }
}
END_TEST

START_TEST(only_an_answer_about_a_topic_is_not_asked_for_again)
{
    static const int passing[] = {RD_KAFKA_RESP_ERR__TIMED_OUT,
                                  RD_KAFKA_RESP_ERR__TRANSPORT,
                                  RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
                                  RD_KAFKA_RESP_ERR__DESTROY,
                                  RD_KAFKA_RESP_ERR_NOT_CONTROLLER,
                                  RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                                  RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
                                  RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        ck_assert_str_eq(class_of(passing[i], EK_KAFKA_ADMIN), "retriable");
    ck_assert_str_eq(class_of(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, EK_KAFKA_ADMIN), "fatal");
    ck_assert_str_eq(class_of(RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, EK_KAFKA_ADMIN), "fatal");
}
END_TEST

static void says(const struct ek_kafka_watch *w, int err, enum ek_kafka_where where,
                 const char *topic, const char *reason, const char *expected)
{
    char text[400];
    ek_kafka_errmsg(text, sizeof text, w, (rd_kafka_resp_err_t)err, where, topic, reason);
    ck_assert_str_eq(text, expected);
}

START_TEST(a_missing_right_is_named_with_what_it_is_needed_on)
{
    const struct ek_kafka_watch w = {.role = "producer", .user = "alice", .group = "g"};
    const struct ek_kafka_watch nobody = {.role = "consumer", .group = "g"};
    says(&w, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, EK_KAFKA_DELIVER, "ranked", "r",
         "no right: user 'alice' needs Write on topic 'ranked': r");
    says(&w, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, EK_KAFKA_CONSUME, "scored", "r",
         "no right: user 'alice' needs Read on topic 'scored': r");
    says(&w, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, EK_KAFKA_CLIENT, NULL, "r",
         "no right: user 'alice' needs IdempotentWrite on cluster 'kafka-cluster': r");
    says(&nobody, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, EK_KAFKA_COMMIT, NULL, "r",
         "no right: this client needs Read on group 'g': r");
}
END_TEST

START_TEST(a_certificate_is_named_by_what_is_wrong_with_it)
{
    static const char verify[] = "certificate verify failed";
    static const struct {
        int verdict;
        bool own;
        const char *reason, *said;
    } cases[] = {
        {10, false, verify, "the broker's certificate has expired"},
        {20, false, verify, "not signed by an authority we know"},
        {62, false, verify, "for another host name"},
        {0, false, verify, "is not trusted"},
        {0, false, "sslv3 alert bad certificate", "requires a client certificate"},
        {0, true, "sslv3 alert bad certificate", "refuses our client certificate"},
        {10, true, "sslv3 alert certificate unknown", "refuses our client certificate"},
        {0, true, "wrong version number", "does not speak TLS there"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        struct ek_kafka_watch w = {.role = "consumer", .own_certificate = cases[i].own};
        atomic_init(&w.certificate, cases[i].verdict);
        ek_kafka_errmsg(text, sizeof text, &w, RD_KAFKA_RESP_ERR__SSL, EK_KAFKA_CLIENT, NULL,
                        cases[i].reason);
        ck_assert_msg(strstr(text, cases[i].said) != NULL, "%s", text);
    }
}
END_TEST

START_TEST(a_certificate_refused_after_the_handshake_is_no_broken_connection)
{
    ck_assert_int_eq(
        ek_kafka_topic_of_error(RD_KAFKA_RESP_ERR__TRANSPORT,
                                "Receive failed: error:0A000412:SSL routines::sslv3 alert bad "
                                "certificate: SSL alert number 42"),
        EK_KAFKA_TLS);
    ck_assert_int_eq(ek_kafka_topic_of_error(RD_KAFKA_RESP_ERR__TRANSPORT, "Connection refused"),
                     EK_KAFKA_ORDINARY);
}
END_TEST

/* librdkafka >= 2.10 reports this; older versions report a TLS error. */
START_TEST(a_connection_that_ends_in_the_handshake_is_no_broken_one)
{
    ck_assert_int_eq(
        ek_kafka_topic_of_error(RD_KAFKA_RESP_ERR__TRANSPORT,
                                "sasl_ssl://b:9093/bootstrap: SSL handshake failed: "
                                "Disconnected: connection reset by peer: connecting to a "
                                "PLAINTEXT broker listener?"),
        EK_KAFKA_TLS);
}
END_TEST

START_TEST(a_batch_that_holds_up_its_partition_is_told_with_the_way_out)
{
    struct ek_kafka_watch w = {.role = "consumer"};
    char text[400];
    ek_kafka_errmsg(text, sizeof text, &w, RD_KAFKA_RESP_ERR__BAD_COMPRESSION, EK_KAFKA_CONSUME,
                    "scored", "Decompression (codec 0x4) of message at 7 of 14333 bytes failed");
    ck_assert_msg(strstr(text, "topic 'scored': a compressed batch cannot be unpacked") != NULL &&
                      strstr(text, "receive.message.max.bytes when unpacked: raise that") != NULL &&
                      strstr(text, "message at 7") != NULL,
                  "%s", text);
}
END_TEST

/* A fatal client error includes its cause. */
START_TEST(a_twin_of_a_static_member_is_named_by_what_the_two_share)
{
    char why[200];
    struct ek_error e;
    struct ek_kafka_watch w = {.role = "consumer", .group_instance = "pod-1"};
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, NULL, why, sizeof why);
    ck_assert_ptr_nonnull(client);
    rd_kafka_test_fatal_error(client, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, "fenced");
    ek_kafka_report_fatal(&w, client, "cannot go on");
    ck_assert_int_eq(ek_kafka_failure(&w, &e), EK_ECONFIG);
    ck_assert_msg(strstr(e.message, "has taken this one's group.instance.id 'pod-1': give each "
                                    "instance a service.instance of its own") != NULL,
                  "%s", e.message);
    rd_kafka_destroy(client);
}
END_TEST

/* A join whose response was lost takes the id from the member itself: a restart helps. */
START_TEST(a_member_that_was_cut_off_may_have_fenced_itself)
{
    static const rd_kafka_resp_err_t causes[] = {RD_KAFKA_RESP_ERR__TRANSPORT,
                                                 RD_KAFKA_RESP_ERR__TIMED_OUT,
                                                 RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        struct ek_error e;
        struct ek_kafka_watch w = {.role = "consumer", .group_instance = "pod-1"};
        ek_kafka_report(&w, causes[i], EK_KAFKA_CLIENT, "Disconnected");
        ek_kafka_report(&w, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, EK_KAFKA_COMMIT, NULL);
        ck_assert_int_eq(ek_kafka_failure(&w, &e), EK_EIO);
        ck_assert_msg(strstr(e.message, "and a later join has taken the group.instance.id "
                                        "'pod-1'") != NULL,
                      "%s", e.message);
    }
}
END_TEST

START_TEST(a_broker_without_the_consumer_protocol_is_named_with_the_property)
{
    static const rd_kafka_resp_err_t causes[] = {RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION,
                                                 RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE};
    char text[400];
    struct ek_kafka_watch w = {.role = "consumer"};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        ek_kafka_errmsg(text, sizeof text, &w, causes[i], EK_KAFKA_CLIENT, NULL,
                        "ConsumerGroupHeartbeat fatal error");
        ck_assert_msg(strstr(text, "reject 'group.protocol: consumer', which needs Kafka 4") &&
                          strstr(text, "remove it from input.librdkafka"),
                      "%s", text);
        ek_kafka_errmsg(text, sizeof text, &w, causes[i], EK_KAFKA_CLIENT, NULL, "InitProducerId");
        ck_assert_str_eq(text, "InitProducerId");
    }
}
END_TEST

/* Wait until the client has logged a request without a response, without reading its errors. */
static void wait_unanswered(struct ek_kafka_watch *w)
{
    char why[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const struct rd_kafka_metadata *answer;
    ck_assert_int_eq(rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", why, sizeof why),
                     RD_KAFKA_CONF_OK);
    ck_assert_int_eq(rd_kafka_conf_set(conf, "socket.timeout.ms", "20", why, sizeof why),
                     RD_KAFKA_CONF_OK);
    ek_kafka_watch_attach(w, conf);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    ck_assert_ptr_nonnull(client);
    rd_kafka_mock_broker_set_rtt(rd_kafka_handle_mock_cluster(client), 1, 5000);
    while (!atomic_load(&w->disturbed_ms))
        if (!rd_kafka_metadata(client, 0, NULL, &answer, 50))
            rd_kafka_metadata_destroy(answer);
    rd_kafka_destroy(client);
}

/* A heartbeat without a response is only logged. */
START_TEST(a_member_whose_request_was_not_answered_may_have_fenced_itself)
{
    struct ek_error e;
    struct ek_kafka_watch w = {.role = "consumer"};
    wait_unanswered(&w);
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, EK_KAFKA_CLIENT, NULL);
    ck_assert_int_eq(ek_kafka_failure(&w, &e), EK_EIO);
}
END_TEST

START_TEST(a_trouble_lasts_until_a_broker_is_heard_and_keeps_its_reason)
{
    struct ek_kafka_health_state t;
    struct ek_kafka_watch w = {.role = "consumer", .user = "alice", .mechanism = "PLAIN"};
    w.trouble = ek_kafka_health_new();
    ck_assert_int_eq(ek_kafka_health_get(w.trouble, &t), EK_KAFKA_HEALTH_NONE);
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, EK_KAFKA_CLIENT, NULL);
    ck_assert_int_eq(ek_kafka_health_get(w.trouble, &t), EK_KAFKA_HEALTH_NO_BROKER);
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__AUTHENTICATION, EK_KAFKA_CLIENT, "no");
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, EK_KAFKA_CLIENT, NULL);
    ck_assert_int_eq(ek_kafka_health_get(w.trouble, &t), EK_KAFKA_HEALTH_CREDENTIALS);
    ck_assert_str_eq(t.text, "wrong credentials: the broker refuses user 'alice' (PLAIN): check "
                             "sasl.username and sasl.password: no");
    ck_assert(!t.ever_responded);
    ek_kafka_health_clear(w.trouble);
    ck_assert_int_eq(ek_kafka_health_get(w.trouble, &t), EK_KAFKA_HEALTH_NONE);
    ck_assert(t.ever_responded);
    ek_kafka_health_free(w.trouble);
}
END_TEST

START_TEST(errors_are_counted_under_what_people_can_mend)
{
    struct ek_kafka_watch w = {.metrics = ek_metrics_new(), .role = "consumer"};
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__AUTHENTICATION, EK_KAFKA_CLIENT, NULL);
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR__SSL, EK_KAFKA_CLIENT, NULL);
    ek_kafka_report(&w, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, EK_KAFKA_CONSUME, NULL);
    ck_assert_uint_eq(ek_metrics_counter(w.metrics, EK_COUNT_KAFKA_CREDENTIALS), 1);
    ck_assert_uint_eq(ek_metrics_counter(w.metrics, EK_COUNT_KAFKA_TLS), 1);
    ck_assert_uint_eq(ek_metrics_counter(w.metrics, EK_COUNT_KAFKA_AUTHORIZATION), 1);
    ck_assert_uint_eq(ek_metrics_counter(w.metrics, EK_COUNT_KAFKA_RETRIABLE), 0);
    ck_assert_uint_eq(ek_metrics_counter(w.metrics, EK_COUNT_KAFKA_FATAL), 0);
    ck_assert_int_eq(ek_kafka_failure(&w, NULL), EK_EIO);
    ek_metrics_free(w.metrics);
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

Suite *suite_kafka_errmsg(void)
{
    return ek_suite("kafka sentence", a_code_has_a_class_for_each_place_where_it_comes,
                    only_an_answer_about_a_topic_is_not_asked_for_again,
                    a_missing_right_is_named_with_what_it_is_needed_on,
                    a_certificate_is_named_by_what_is_wrong_with_it,
                    a_certificate_refused_after_the_handshake_is_no_broken_connection,
                    a_connection_that_ends_in_the_handshake_is_no_broken_one,
                    a_batch_that_holds_up_its_partition_is_told_with_the_way_out,
                    a_twin_of_a_static_member_is_named_by_what_the_two_share,
                    a_member_that_was_cut_off_may_have_fenced_itself,
                    a_member_whose_request_was_not_answered_may_have_fenced_itself,
                    a_broker_without_the_consumer_protocol_is_named_with_the_property,
                    a_trouble_lasts_until_a_broker_is_heard_and_keeps_its_reason,
                    errors_are_counted_under_what_people_can_mend,
                    a_fatal_error_is_kept_and_counted);
}
