#include "daemon/kafka/kafka.h"
#include "daemon/kafka/kafka_conf.h"
#include "daemon/kafka/kafka_headers.h"
#include "daemon/kafka/kafka_load.h"

enum {
    MESSAGE_BYTES = 512, /* of librdkafka for a message, read or sent: 2.0 to 2.12 have less */
    RECORD_LEAST = 7     /* bytes of the shortest record on the wire */
};

static size_t number(const rd_kafka_conf_t *conf, const char *name)
{
    return (size_t)ek_kafka_conf_number(conf, name);
}

static int named(const char *brokers)
{
    int count = 1;
    for (; *brokers; brokers++)
        count += *brokers == ',';
    return count;
}

/* A queue that is not full is filled by one fetch of each broker. A fetch has one message at least,
 * whatever its size. */
static void take_consumer(struct ek_kafka_memory *m, const struct ek_config *c,
                          const rd_kafka_conf_t *conf)
{
    size_t workers = (size_t)ek_config_workers(c), fetch = number(conf, "fetch.max.bytes");
    size_t least = number(conf, "message.max.bytes"), brokers = (size_t)m->brokers;
    fetch = fetch > least ? fetch : least;
    m->fetched = workers * (number(conf, "queued.max.messages.kbytes") << 10) + 2 * brokers * fetch;
    m->fetched_of_messages =
        (workers * number(conf, "queued.min.messages") + brokers * (fetch / RECORD_LEAST)) *
        MESSAGE_BYTES;
    m->largest = fetch + (size_t)EK_HEADERS_READ * EK_HEADER_BYTES;
}

/* Of what is in flight: a copy, and what is in requests. */
static void take_producer(struct ek_kafka_memory *m, const struct ek_config *c)
{
    m->sending = 2 * ((size_t)c->in_flight_bytes + m->largest) +
                 (size_t)c->in_flight_messages * 2 * MESSAGE_BYTES;
}

int ek_kafka_memory(struct ek_kafka_memory *out, const struct ek_config *c, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_consumer(&conf, c, e);
    if (rc)
        return rc;
    out->brokers = named(c->brokers);
    take_consumer(out, c, conf);
    take_producer(out, c);
    rd_kafka_conf_destroy(conf);
    return EK_OK;
}
