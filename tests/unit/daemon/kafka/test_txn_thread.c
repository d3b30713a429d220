/* Transaction thread against librdkafka's mock cluster with injected errors;
 * tests/kafka/test_exactly.py covers transaction semantics on a real broker. */
#include "daemon/base/clock.h"
#include "daemon/base/wakeup.h"
#include "daemon/kafka/transaction_thread.h"
#include "tests/check.h"

#include <librdkafka/rdkafka_mock.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    WAIT_MS = 30000,
    PRODUCE = 0,
    ADD_PARTITIONS = 24,
    ADD_OFFSETS = 25,
    END_TXN = 26,
    OFFSET_COMMIT = 28
};

struct scene {
    rd_kafka_t *carrier, *client;
    rd_kafka_mock_cluster_t *cluster;
    struct ek_kafka_watch watch;
    struct ek_metrics *metrics;
    struct ek_wakeup wakeup;
    struct ek_txn *txn;
    struct ek_error error;
    atomic_int opened;
    bool fail_open;
};

static rd_kafka_t *make(rd_kafka_conf_t *conf)
{
    char why[200];
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    ck_assert_msg(rk != NULL, "%s", why);
    return rk;
}

static void swallow(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)text;
}

static rd_kafka_t *producer(struct scene *s)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, swallow);
    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(s->cluster), NULL,
                      0);
    rd_kafka_conf_set(conf, "transactional.id", "test", NULL, 0);
    rd_kafka_conf_set(conf, "transaction.timeout.ms", "60000", NULL, 0);
    return make(conf);
}

static int opened(void *context, struct ek_error *e)
{
    struct scene *s = context;
    atomic_fetch_add(&s->opened, 1);
    return s->fail_open ? ek_fail(e, EK_ENOMEM, "the gate does not open") : EK_OK;
}

static void make_client(struct scene *s)
{
    s->client = producer(s);
    const struct ek_txn_tools tools = {s->client, &s->watch, &s->wakeup, s, opened};
    ck_assert_int_eq(ek_txn_new(&s->txn, &tools, NULL), 0);
}

static void begin(struct scene *s)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    memset(s, 0, sizeof *s);
    rd_kafka_conf_set_log_cb(conf, swallow);
    s->carrier = make(conf);
    s->cluster = rd_kafka_mock_cluster_new(s->carrier, 1);
    rd_kafka_mock_topic_create(s->cluster, "in", 1,
                               1); /* offsets of an unknown topic are refused */
    s->metrics = ek_metrics_new();
    s->watch = (struct ek_kafka_watch){.metrics = s->metrics, .role = "producer"};
    ck_assert_int_eq(ek_wakeup_init(&s->wakeup, NULL), 0);
    make_client(s);
}

static void finish(struct scene *s)
{
    ek_txn_free(s->txn);
    rd_kafka_destroy(s->client);
    rd_kafka_mock_cluster_destroy(s->cluster);
    rd_kafka_destroy(s->carrier);
    ek_wakeup_close(&s->wakeup);
    ek_metrics_free(s->metrics);
}

/* Wait like the stage for a state change. */
static enum ek_txn_state await(struct scene *s)
{
    enum ek_txn_state state;
    int64_t until = ek_now_ms() + WAIT_MS;
    while ((state = ek_txn_state(s->txn, &s->error)) == EK_TXN_BUSY && ek_now_ms() < until)
        ek_wakeup_wait(&s->wakeup, 100);
    return state;
}

static void reach(struct scene *s, enum ek_txn_state desired)
{
    enum ek_txn_state state = await(s);
    ck_assert_msg(state == desired, "state %d, not %d: %s", state, desired,
                  state == EK_TXN_BROKEN ? s->error.message : "");
}

static void start(struct scene *s)
{
    ck_assert_int_eq(ek_txn_start(s->txn, NULL), 0);
    reach(s, EK_TXN_OPEN);
}

static void replace_client(struct scene *s)
{
    ek_txn_free(s->txn);
    rd_kafka_destroy(s->client);
    make_client(s);
    start(s);
}

static rd_kafka_resp_err_t produce(struct scene *s)
{
    char value[] = "v";
    return rd_kafka_producev(s->client, RD_KAFKA_V_TOPIC("out"), RD_KAFKA_V_VALUE(value, 1),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
}

static void commit(struct scene *s)
{
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(offsets, "in", 0)->offset = 7;
    ek_txn_commit(s->txn, offsets, rd_kafka_consumer_group_metadata_new("g"));
}

static void give_error(struct scene *s, int request, rd_kafka_resp_err_t err)
{
    rd_kafka_mock_push_request_errors(s->cluster, (int16_t)request, 1, err);
}

START_TEST(one_transaction_follows_the_other)
{
    struct scene s;
    begin(&s);
    ck_assert_int_eq(ek_txn_state(s.txn, NULL), EK_TXN_BUSY);
    start(&s);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(atomic_load(&s.opened), i + 1);
        ck_assert_int_eq(produce(&s), 0);
        commit(&s);
        reach(&s, EK_TXN_COMMITTED);
        reach(&s, EK_TXN_OPEN);
    }
    finish(&s);
}
END_TEST

START_TEST(a_transaction_with_nothing_in_it_can_be_committed_and_aborted)
{
    struct scene s;
    begin(&s);
    start(&s);
    ek_txn_commit(s.txn, NULL, NULL);
    reach(&s, EK_TXN_COMMITTED);
    ek_txn_abort(s.txn);
    reach(&s, EK_TXN_ABORTED);
    finish(&s);
}
END_TEST

START_TEST(after_an_abort_a_new_client_continues)
{
    struct scene s;
    begin(&s);
    start(&s);
    ck_assert_int_eq(produce(&s), 0);
    ek_txn_abort(s.txn);
    reach(&s, EK_TXN_ABORTED);
    ck_assert_int_eq(atomic_load(&s.opened), 1);
    ck_assert_int_eq(produce(&s), RD_KAFKA_RESP_ERR__STATE);
    ck_assert_int_eq(ek_txn_state(s.txn, NULL), EK_TXN_ABORTED);
    replace_client(&s);
    ck_assert_int_eq(produce(&s), 0);
    commit(&s);
    reach(&s, EK_TXN_COMMITTED);
    finish(&s);
}
END_TEST

/* Errors during a commit, and their results. */
static const struct {
    int request;
    rd_kafka_resp_err_t err;
    enum ek_txn_state then;
} ERRORS[] = {
    {OFFSET_COMMIT, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, EK_TXN_COMMITTED},
    {OFFSET_COMMIT, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, EK_TXN_ABORTED},
    {OFFSET_COMMIT, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, EK_TXN_ABORTED},
    {OFFSET_COMMIT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, EK_TXN_ABORTED},
    {ADD_OFFSETS, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, EK_TXN_COMMITTED},
    {ADD_OFFSETS, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, EK_TXN_ABORTED},
    {END_TXN, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, EK_TXN_COMMITTED},
    {END_TXN, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, EK_TXN_BROKEN},
    {END_TXN, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, EK_TXN_BROKEN},
    {PRODUCE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, EK_TXN_COMMITTED},
    {PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, EK_TXN_ABORTED},
    {PRODUCE, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, EK_TXN_BROKEN},
};

static void commit_again(struct scene *s)
{
    replace_client(s);
    ck_assert_int_eq(produce(s), 0);
    commit(s);
    reach(s, EK_TXN_COMMITTED);
}

static void commit_with_error(int request, rd_kafka_resp_err_t err, enum ek_txn_state then)
{
    struct scene s;
    begin(&s);
    start(&s);
    give_error(&s, request, err);
    ck_assert_int_eq(produce(&s), 0);
    commit(&s);
    reach(&s, then);
    if (then == EK_TXN_ABORTED) {
        ck_assert_uint_gt(ek_metrics_counter(s.metrics, EK_COUNT_KAFKA_ABORTABLE), 0);
        commit_again(&s);
    } else if (then == EK_TXN_BROKEN) {
        ck_assert_int_eq(s.error.code, EK_EIO);
        ck_assert(ek_txn_is_lost(s.txn)); /* a new client can continue */
        ck_assert_int_eq(s.error.flags, EK_ERR_FATAL);
    }
    finish(&s);
}

START_TEST(an_error_in_a_commit_is_repeated_aborted_or_the_end)
{
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        commit_with_error(ERRORS[i].request, ERRORS[i].err, ERRORS[i].then);
}
END_TEST

static void commit_ends_with(rd_kafka_resp_err_t err, const char *words)
{
    struct scene s;
    begin(&s);
    start(&s);
    ck_assert_int_eq(produce(&s), 0);
    give_error(&s, END_TXN, err);
    commit(&s);
    reach(&s, EK_TXN_BROKEN);
    ck_assert_msg(strstr(s.error.message, words) != NULL, "%s", s.error.message);
    finish(&s);
}

START_TEST(a_twin_with_the_same_id_ends_the_first_with_a_sentence)
{
    commit_ends_with(
        RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
        "another instance has the same 'service.instance', which each needs for itself");
}
END_TEST

START_TEST(a_transaction_that_brokers_ended_names_the_limit)
{
    commit_ends_with(RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, "limits.transaction_timeout");
}
END_TEST

START_TEST(an_abort_because_the_client_takes_nothing_more_knows_why)
{
    struct scene s;
    begin(&s);
    start(&s);
    give_error(&s, ADD_PARTITIONS, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    int64_t until = ek_now_ms() + WAIT_MS;
    while (!produce(&s) && ek_now_ms() < until)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    ek_txn_abort(s.txn);
    reach(&s, EK_TXN_ABORTED);
    ck_assert_int_eq(ek_txn_abort_reason(s.txn), RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    finish(&s);
}
END_TEST

START_TEST(an_abort_that_was_asked_for_has_no_reason)
{
    struct scene s;
    begin(&s);
    start(&s);
    ck_assert_int_eq(produce(&s), 0);
    ek_txn_abort(s.txn);
    reach(&s, EK_TXN_ABORTED);
    ck_assert_int_eq(ek_txn_abort_reason(s.txn), RD_KAFKA_RESP_ERR_NO_ERROR);
    finish(&s);
}
END_TEST

START_TEST(a_gate_that_does_not_open_is_the_end)
{
    struct scene s;
    begin(&s);
    s.fail_open = true;
    ck_assert_int_eq(ek_txn_start(s.txn, NULL), 0);
    reach(&s, EK_TXN_BROKEN);
    ck_assert_int_eq(s.error.code, EK_ENOMEM);
    ck_assert(!ek_txn_is_lost(s.txn));
    finish(&s);
}
END_TEST

START_TEST(it_can_be_stopped_at_any_time)
{
    struct scene s;
    begin(&s);
    finish(&s); /* never started */
    begin(&s);
    ck_assert_int_eq(ek_txn_start(s.txn, NULL), 0);
    finish(&s); /* during registration */
    begin(&s);
    start(&s);
    ck_assert_int_eq(produce(&s), 0);
    ck_assert(ek_txn_stop(s.txn, WAIT_MS)); /* with an open message, which is aborted */
    finish(&s);
    begin(&s);
    start(&s);
    commit(&s);
    finish(&s);
}
END_TEST

START_TEST(a_broker_that_comes_late_is_waited_for)
{
    struct scene s;
    begin(&s);
    rd_kafka_mock_broker_set_down(s.cluster, 1);
    ck_assert_int_eq(ek_txn_start(s.txn, NULL), 0);
    ek_wakeup_wait(&s.wakeup, 200);
    ck_assert_int_eq(ek_txn_state(s.txn, NULL), EK_TXN_BUSY);
    rd_kafka_mock_broker_set_up(s.cluster, 1);
    reach(&s, EK_TXN_OPEN);
    finish(&s);
}
END_TEST

Suite *suite_txn_thread(void)
{
    return ek_suite("txn", one_transaction_follows_the_other,
                    a_transaction_with_nothing_in_it_can_be_committed_and_aborted,
                    after_an_abort_a_new_client_continues,
                    an_error_in_a_commit_is_repeated_aborted_or_the_end,
                    a_twin_with_the_same_id_ends_the_first_with_a_sentence,
                    a_transaction_that_brokers_ended_names_the_limit,
                    an_abort_because_the_client_takes_nothing_more_knows_why,
                    an_abort_that_was_asked_for_has_no_reason, a_gate_that_does_not_open_is_the_end,
                    it_can_be_stopped_at_any_time, a_broker_that_comes_late_is_waited_for);
}
