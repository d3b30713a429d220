/* Whether the topics that are written are there, and fit. */
#include "daemon/base/clock.h"
#include "daemon/kafka/kafka_output_internal.h"

#include "daemon/kafka/kafka_ask.h"
#include "daemon/kafka/kafka_state_topic.h"
#include "daemon/kafka/kafka_topics.h"

/* Number of partitions as the broker tells; 0 when it does not know the topic, -1 without an
 * answer. */
static int partitions_of(struct ek_output *o, const char *topic, int wait_ms)
{
    struct ek_topic_answer answer;
    rd_kafka_resp_err_t err = ek_kafka_ask_topic(o->client, topic, wait_ms, &answer);
    if (!answer.heard)
        return -1;
    ek_trouble_heard(o->watch.trouble);
    o->some_broker = answer.broker;
    bool refused = ek_kafka_theme(err, NULL) == EK_KAFKA_AUTHORISATION;
    if (refused)
        ek_kafka_report_topic(&o->watch, err, EK_KAFKA_CLIENT, topic, NULL);
    return refused || err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ? -1 : answer.partitions;
}

static bool may_still_come(struct ek_output *o, const char *name)
{
    return ek_topic_may_come(&o->missing_since_ms, name, o->watch.log);
}

static int topic_missing(struct ek_output *o, const char *name, struct ek_error *e)
{
    if (may_still_come(o, name))
        return EK_OK;
    return ek_fail_fatal(e, EK_ESTATE, "topic '%s' is not there: create it, or correct its name",
                         name);
}

/* Brokers that never let this client in: a wrong password does not mend itself by waiting. */
static int still_refused(struct ek_output *o, struct ek_error *e)
{
    struct ek_trouble_state t;
    ek_trouble_look(o->watch.trouble, &t);
    if ((t.kind != EK_TROUBLE_CREDENTIALS && t.kind != EK_TROUBLE_TLS) || t.ever_heard ||
        ek_now_ms() - t.since_ms < EK_TOPIC_WAIT_MS)
        return EK_OK;
    return ek_fail_fatal(e, EK_EIO, "kafka: %s", t.text);
}

/* Partitions of the largest input that is there. */
static int input_partitions(struct ek_output *o, int wait_ms)
{
    int most = 0;
    for (size_t i = 0; i < o->config->topics.count; i++) {
        int count = partitions_of(o, o->config->topics.items[i], wait_ms);
        most = count > most ? count : most;
    }
    return most;
}

/* Whether the topic of the state is there and fit for it. */
static int check_state(struct ek_output *o, int wait_ms, bool *ready, struct ek_error *e)
{
    const char *topic = o->config->state_topic;
    int count = topic ? partitions_of(o, topic, wait_ms) : 0;
    *ready = !topic;
    if (!topic || count < 0 || (!count && may_still_come(o, topic)))
        return EK_OK;
    const struct ek_state_topic_facts facts = {
        .partitions = count,
        .compacted = ek_limits_compacted(o->limits, o->state_number),
        .batch_bytes = ek_limits_of(o->limits, o->state_number),
        .input_partitions = input_partitions(o, wait_ms)};
    int rc = ek_state_topic_check(o->config, &facts, e);
    o->state_partitions = count;
    *ready = !rc;
    return rc;
}

int ek_output_prepare(struct ek_output *o, int wait_ms, bool *ready, struct ek_error *e)
{
    const struct ek_config *c = o->config;
    const char *const topics[] = {c->output_topic, c->dead_letter, c->alert_topic};
    *ready = false;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (!topics[i])
            continue;
        int count = partitions_of(o, topics[i], wait_ms);
        if (count < 0)
            return still_refused(o, e) ? EK_EIO : ek_output_poll(o, 0, e);
        if (!count)
            return topic_missing(o, topics[i], e);
    }
    ek_limits_ask(o->limits, o->client, o->some_broker);
    if (!ek_limits_serve(o->limits, wait_ms))
        return ek_output_poll(o, 0, e);
    bool fit;
    int rc = check_state(o, wait_ms, &fit, e);
    if (!rc && fit)
        rc = ek_output_obey_limits(o, e);
    *ready = !rc && fit;
    return rc;
}

int ek_output_keeps_partitions(struct ek_output *o, const char *topic, int wait_ms)
{
    int in = partitions_of(o, topic, wait_ms);
    int out = in > 0 ? partitions_of(o, o->config->output_topic, wait_ms) : -1;
    return out < 0 ? -1 : in == out;
}
