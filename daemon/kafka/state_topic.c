#include "daemon/kafka/state_topic.h"

#include <stdio.h>
#include <string.h>

enum { RECORD_BYTES = 300 << 10, TOOL_BYTES = 160, TIMEOUT_MS = 10000 };

/* Records time out, unlike outputs: the flow does not wait for the state topic. */
rd_kafka_topic_t *ek_state_topic_new(rd_kafka_t *client, const struct ek_config *c,
                                     struct ek_error *e)
{
    const char *name = c->state_topic;
    char timeout[24];
    static const char *const codecs[] = {"zstd", "lz4", "gzip"};
    char why[200];
    rd_kafka_topic_conf_t *conf = rd_kafka_default_topic_conf_dup(client);
    size_t i = 0;
    snprintf(timeout, sizeof timeout, "%lld",
             (long long)(c->delivery == EK_EXACTLY_ONCE ? c->transaction_ms / 2 : TIMEOUT_MS));
    rd_kafka_topic_conf_set(conf, "message.timeout.ms", timeout, why, sizeof why);
    while (i < sizeof codecs / sizeof *codecs &&
           rd_kafka_topic_conf_set(conf, "compression.codec", codecs[i], why, sizeof why))
        i++;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, conf);
    if (!topic)
        ek_fail(e, EK_EIO, "topic '%s': %s", name, rd_kafka_err2str(rd_kafka_last_error()));
    return topic;
}

/* Return a command line for the first broker. */
static const char *tool(const struct ek_config *c, const char *name, char out[TOOL_BYTES])
{
    int length = (int)strcspn(c->brokers, ",");
    snprintf(out, TOOL_BYTES, "%s --bootstrap-server %.*s", name, length, c->brokers);
    return out;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int unfit(const struct ek_config *c, const struct ek_state_topic_facts *f,
                 struct ek_error *e)
{
    char with[TOOL_BYTES];
    const char *topic = c->state_topic;
    if (!f->partitions)
        return ek_fail(e, EK_ESTATE,
                       "topic '%s' of 'state.topic' is not there: %s --create --topic %s "
                       "--partitions %d --config cleanup.policy=compact --config "
                       "min.compaction.lag.ms=600000 --config segment.bytes=67108864",
                       topic, tool(c, "kafka-topics.sh", with), topic,
                       larger(f->input_partitions, 1));
    if (!f->compacted)
        return ek_fail(e, EK_ESTATE,
                       "topic '%s' of 'state.topic' is not compacted, so what is written would "
                       "be lost or never end: %s --alter --topic %s --add-config "
                       "cleanup.policy=compact",
                       topic, tool(c, "kafka-configs.sh", with), topic);
    if (f->batch_bytes < RECORD_BYTES)
        return ek_fail(e, EK_ESTATE,
                       "topic '%s' of 'state.topic' takes %zu bytes at a time, and a record of a "
                       "state has up to %d: %s --alter --topic %s --add-config "
                       "max.message.bytes=1048588",
                       topic, f->batch_bytes, RECORD_BYTES, tool(c, "kafka-configs.sh", with),
                       topic);
    return EK_OK;
}

int ek_state_topic_check(const struct ek_config *c, const struct ek_state_topic_facts *facts,
                         struct ek_error *e)
{
    int rc = unfit(c, facts, e);
    if (rc && e)
        e->flags = EK_ERR_FATAL;
    return rc;
}
