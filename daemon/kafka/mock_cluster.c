#include "daemon/kafka/mock_cluster.h"

#include "base/alloc.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

enum {
    BROKER = 1,
    PRODUCE = 0, /* API keys */
    LIST_OFFSETS = 2,
    OFFSET_COMMIT = 8,
    INIT_PRODUCER_ID = 22,
    ADD_PARTITIONS = 24,
    TXN_OFFSET_COMMIT = 28,
    DISTURBED = 3
};

struct ek_mock {
    rd_kafka_t *client; /* hosts the cluster; has no connection */
    rd_kafka_mock_cluster_t *cluster;
};

static void swallow_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)text;
}

int ek_mock_start(struct ek_mock **out, struct ek_error *e)
{
    char why[200];
    struct ek_mock *m = ek_calloc(1, sizeof *m);
    if (!m)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, swallow_log);
    m->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (!m->client) {
        rd_kafka_conf_destroy(conf);
        ek_free(m);
        return ek_fail(e, EK_EIO, "mock cluster: %s", why);
    }
    m->cluster = rd_kafka_mock_cluster_new(m->client, 1);
    if (!m->cluster) {
        ek_mock_stop(m);
        return ek_fail(e, EK_EIO, "mock cluster: no socket to listen on");
    }
    *out = m;
    return EK_OK;
}

const char *ek_mock_brokers(const struct ek_mock *m)
{
    return rd_kafka_mock_cluster_bootstraps(m->cluster);
}

int ek_mock_topic(struct ek_mock *m, const char *topic, int partitions, struct ek_error *e)
{
    rd_kafka_resp_err_t err = rd_kafka_mock_topic_create(m->cluster, topic, partitions, 1);
    return err ? ek_fail(e, EK_EIO, "mock topic '%s': %s", topic, rd_kafka_err2str(err)) : EK_OK;
}

void ek_mock_disturb(struct ek_mock *m, int requests, int answer_ms)
{
    for (int i = 0; i < requests; i++)
        rd_kafka_mock_broker_push_request_error_rtts(
            m->cluster, BROKER, PRODUCE, 1,
            i % DISTURBED ? RD_KAFKA_RESP_ERR_NO_ERROR : RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            answer_ms);
}

static size_t count_left(const struct ek_mock *m, int16_t request)
{
    size_t left = 0;
    rd_kafka_mock_broker_error_stack_cnt(m->cluster, BROKER, request, &left);
    return left;
}

size_t ek_mock_disturbances(const struct ek_mock *m)
{
    return count_left(m, PRODUCE);
}

void ek_mock_await_registrations(struct ek_mock *m, int registrations)
{
    for (int i = 0; i < registrations; i++)
        rd_kafka_mock_broker_push_request_error_rtts(m->cluster, BROKER, INIT_PRODUCER_ID, 1,
                                                     RD_KAFKA_RESP_ERR_NO_ERROR, 0);
}

size_t ek_mock_registrations_left(const struct ek_mock *m)
{
    return count_left(m, INIT_PRODUCER_ID);
}

void ek_mock_refuse(struct ek_mock *m, int requests)
{
    for (int i = 0; i < requests; i++)
        rd_kafka_mock_push_request_errors(m->cluster, PRODUCE, 1,
                                          RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
}

void ek_mock_refuse_ranges(struct ek_mock *m, int requests)
{
    for (int i = 0; i < requests; i++)
        rd_kafka_mock_push_request_errors(m->cluster, LIST_OFFSETS, 1,
                                          RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
}

void ek_mock_refuse_offsets(struct ek_mock *m, int transactions)
{
    for (int i = 0; i < transactions; i++)
        rd_kafka_mock_push_request_errors(m->cluster, TXN_OFFSET_COMMIT, 1,
                                          RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
}

void ek_mock_forbid_offsets(struct ek_mock *m)
{
    rd_kafka_mock_push_request_errors(m->cluster, OFFSET_COMMIT, 1,
                                      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
}

void ek_mock_forbid(struct ek_mock *m)
{
    rd_kafka_mock_push_request_errors(m->cluster, ADD_PARTITIONS, 1,
                                      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
}

void ek_mock_hide_topic(struct ek_mock *m, const char *topic)
{
    rd_kafka_mock_topic_set_error(m->cluster, topic, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

void ek_mock_away(struct ek_mock *m, bool away)
{
    if (away)
        rd_kafka_mock_broker_set_down(m->cluster, BROKER);
    else
        rd_kafka_mock_broker_set_up(m->cluster, BROKER);
}

void ek_mock_lead(struct ek_mock *m, const char *topic, bool lead)
{
    rd_kafka_mock_partition_set_leader(m->cluster, topic, 0, lead ? BROKER : -1);
}

void ek_mock_stop(struct ek_mock *m)
{
    if (!m)
        return;
    if (m->cluster)
        rd_kafka_mock_cluster_destroy(m->cluster);
    rd_kafka_destroy(m->client);
    ek_free(m);
}
