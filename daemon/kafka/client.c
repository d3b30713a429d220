#include "daemon/kafka/client.h"

#include "daemon/kafka/kafka.h"
#include "daemon/kafka/login.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MESSAGE_SLACK_BYTES = 64 << 10, /* key and headers */
    RECEIVE_BYTES_MIN = 100000000,
    FETCH_BYTES_MIN = 8 << 20, /* records of a few bytes take about fifty times their size in the
                                * client */
    PARTITION_FETCH_BYTES_MIN = 1 << 20,
    PRODUCE_BYTES_MAX = 1000000000, /* librdkafka's maximum */
    PREFETCH_KBYTES = 64 << 10,     /* all workers together */
    PREFETCH_KBYTES_MIN = 8 << 10,
    PREFETCH_MESSAGES = 100000, /* all workers together */
    PREFETCH_MESSAGES_MIN = 10000,
    SESSION_MS = 6000,     /* time until the partitions of a dead instance move */
    METADATA_MS = 30000,   /* time until a new partition is noticed */
    HEARTBEAT_MS = 500,    /* the heartbeat response announces a rebalance */
    QUEUE_BACKOFF_MS = 10, /* pause before a full queue is checked again */
    BACKOFF_VERSION = 0x020300ff,
    STATE_MESSAGES = 100000,       /* maximum queued records of a checkpoint */
    QUEUE_KBYTES_MAX = 2147483647, /* librdkafka's maximum */
};

/* Properties that evenkeel sets, and the configuration key to use instead. */
struct reserved {
    const char *name, *instead;
};
static const struct reserved RESERVED[] = {
    {"bootstrap.servers", "input.brokers"},
    {"metadata.broker.list", "input.brokers"},
    {"group.id", "input.group"},
    {"auto.offset.reset", "input.offset_reset"},
    {"enable.auto.commit", "input.commit_interval"},
    {"auto.commit.enable", "input.commit_interval"},
    {"auto.commit.interval.ms", "input.commit_interval"},
    {"enable.auto.offset.store", "input.commit_interval"},
    {"enable.partition.eof", NULL},
    {"transactional.id", "service.instance"},
    {"transaction.timeout.ms", "limits.transaction_timeout"},
    {"queue.buffering.max.messages", "limits.in_flight_messages"},
    {"queue.buffering.max.kbytes", "limits.in_flight_bytes"},
    {"message.max.bytes", "limits.message_bytes"},
};
/* Relations that librdkafka checks only when it creates a client: `name` >= `least` + `more`. */
static const struct relation {
    const char *name, *least;
    int64_t more;
    const char *why;
} RELATIONS[] = {
    {"fetch.max.bytes", "message.max.bytes", 0,
     "what 'limits.message_bytes' allows, with key and headers"},
    {"receive.message.max.bytes", "fetch.max.bytes", 512, "'fetch.max.bytes' and 512"},
    {"max.poll.interval.ms", "session.timeout.ms", 0, "'session.timeout.ms'"},
    {"reconnect.backoff.max.ms", "reconnect.backoff.ms", 0, "'reconnect.backoff.ms'"},
};
/* Properties that exactly-once delivery depends on. */
static const struct reserved RESERVED_EXACTLY[] = {
    {"enable.idempotence", NULL},
    {"enable.gapless.guarantee", NULL},
    {"acks", NULL},
    {"request.required.acks", NULL},
    {"max.in.flight", NULL},
    {"max.in.flight.requests.per.connection", NULL},
    {"message.timeout.ms", "limits.transaction_timeout"},
    {"delivery.timeout.ms", "limits.transaction_timeout"},
    {"isolation.level", NULL},
};

int ek_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value,
                      struct ek_error *e)
{
    char why[200];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof why) == RD_KAFKA_CONF_OK)
        return EK_OK;
    return ek_fail(e, EK_ECONFIG, "librdkafka property '%s': %s", name, why);
}

/* Set one property of the configuration file. Errors do not show a secret value. Return 0,
 * EK_ECONFIG or EK_ENOMEM. */
static int kafka_conf_set_property(rd_kafka_conf_t *conf, const struct ek_property *p,
                                   struct ek_error *e)
{
    struct ek_error problem;
    if (ek_login_handles(p->name))
        return EK_OK;
    int rc = ek_kafka_conf_set(conf, p->name, p->value, &problem);
    if (rc && p->secret) /* librdkafka repeats the value in its message */
        return ek_fail(e, rc, "librdkafka property '%s': its value is refused, not shown here",
                       p->name);
    if (rc && e)
        *e = problem;
    return rc;
}

static int64_t kafka_conf_number(const rd_kafka_conf_t *conf, const char *name)
{
    char text[32] = "0";
    size_t size = sizeof text;
    rd_kafka_conf_get(conf, name, text, &size);
    return strtoll(text, NULL, 10);
}

static int set_number(rd_kafka_conf_t *conf, const char *name, int64_t value, struct ek_error *e)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return ek_kafka_conf_set(conf, name, text, e);
}

static int refuse_of(const struct reserved *table, size_t count, const struct ek_property *p,
                     struct ek_error *e)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].name, p->name) != 0)
            continue;
        if (!table[i].instead)
            return ek_fail(e, EK_ECONFIG, "librdkafka property '%s' is set by evenkeel", p->name);
        return ek_fail(e, EK_ECONFIG, "librdkafka property '%s' is set by evenkeel: use '%s'",
                       p->name, table[i].instead);
    }
    return EK_OK;
}

static int refuse(const struct ek_config *c, const struct ek_property *p, struct ek_error *e)
{
    int rc = refuse_of(RESERVED, sizeof RESERVED / sizeof *RESERVED, p, e);
    if (!rc && c->delivery == EK_EXACTLY_ONCE)
        rc = refuse_of(RESERVED_EXACTLY, sizeof RESERVED_EXACTLY / sizeof *RESERVED_EXACTLY, p, e);
    return rc;
}

static int pass_one(rd_kafka_conf_t *conf, const struct ek_config *c, const struct ek_property *p,
                    struct ek_error *e)
{
    int rc = refuse(c, p, e);
    if (!rc)
        rc = ek_config_reject_property(p, e);
    if (!rc)
        rc = kafka_conf_set_property(conf, p, e);
    if (rc && p->line)
        ek_error_place(e, c->path, p->line, p->column);
    return rc;
}

static int pass_through(rd_kafka_conf_t *conf, const struct ek_config *c,
                        const struct ek_property_list *list, struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < list->count; i++)
        rc = pass_one(conf, c, &list->items[i], e);
    return rc ? rc : ek_login_configure(conf, list, e);
}

/* Return the last entry of `name`, which overrides the others, or NULL. */
static const struct ek_property *last_of(const struct ek_property_list *list, const char *name)
{
    for (size_t i = list->count; i-- > 0;)
        if (!strcmp(list->items[i].name, name))
            return &list->items[i];
    return NULL;
}

static int check_relation(const rd_kafka_conf_t *conf, const struct ek_config *c,
                          const struct relation *r, struct ek_error *e)
{
    int64_t is = kafka_conf_number(conf, r->name);
    int64_t least = kafka_conf_number(conf, r->least) + r->more;
    if (is >= least)
        return EK_OK;
    const struct ek_property *p = last_of(&c->librdkafka, r->name);
    if (!p)
        p = last_of(&c->librdkafka, r->least);
    ek_fail(e, EK_ECONFIG,
            "librdkafka property '%s' is %" PRId64 ", and must be at least %" PRId64 ": %s",
            r->name, is, least, r->why);
    if (p && p->line)
        ek_error_place(e, c->path, p->line, p->column);
    return EK_ECONFIG;
}

/* Return true if the user selects the consumer protocol of KIP-848, where the broker decides about
 * assignments and sessions: librdkafka then rejects their properties. */
static bool has_consumer_protocol(const struct ek_config *c)
{
    const struct ek_property *p = last_of(&c->librdkafka, "group.protocol");
    return p && !strcasecmp(p->value, "consumer");
}

static int check_relations(const rd_kafka_conf_t *conf, const struct ek_config *c,
                           struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < sizeof RELATIONS / sizeof *RELATIONS; i++)
        if (!has_consumer_protocol(c) || strcmp(RELATIONS[i].least, "session.timeout.ms") != 0)
            rc = check_relation(conf, c, &RELATIONS[i], e);
    return rc;
}

static int64_t raise_to_min(int64_t value, int64_t low)
{
    return value < low ? low : value;
}

static int set_common(rd_kafka_conf_t *conf, const struct ek_config *c, const char *client_id,
                      struct ek_error *e)
{
    int rc = c->brokers ? ek_kafka_conf_set(conf, "bootstrap.servers", c->brokers, e) : EK_OK;
    if (!rc)
        rc = ek_kafka_conf_set(conf, "client.id", client_id ? client_id : c->service_name, e);
    return rc ? rc : ek_kafka_conf_set(conf, "reconnect.backoff.max.ms", "2000", e);
}

bool ek_kafka_conf_has_backoff(void)
{
    return rd_kafka_version() >= BACKOFF_VERSION;
}

/* Set the properties of the classic group protocol. With that of KIP-848 a member has no
 * group.instance.id by default: the broker rejects a restarted instance until the session of a
 * killed one ends, after 45 s by default, which only the broker can change. */
static int set_classic_group(rd_kafka_conf_t *conf, const struct ek_config *c, struct ek_error *e)
{
    int rc = ek_kafka_conf_set(
        conf, "partition.assignment.strategy",
        rd_kafka_version() >= EK_COOPERATIVE_VERSION ? "cooperative-sticky" : "range", e);
    if (!rc)
        rc = set_number(conf, "session.timeout.ms", SESSION_MS, e);
    if (!rc && c->instance)
        rc = ek_kafka_conf_set(conf, "group.instance.id", c->instance, e);
    return rc ? rc : set_number(conf, "heartbeat.interval.ms", HEARTBEAT_MS, e);
}

static int set_consumer(rd_kafka_conf_t *conf, const struct ek_config *c, struct ek_error *e)
{
    int64_t message = c->message_bytes + MESSAGE_SLACK_BYTES;
    int64_t fetch = raise_to_min(message, FETCH_BYTES_MIN);
    int rc = c->group ? ek_kafka_conf_set(conf, "group.id", c->group, e) : EK_OK;
    if (!rc)
        rc = ek_kafka_conf_set(conf, "auto.offset.reset", "error", e); /* daemon/stage/consumer.c */
    if (!rc)
        rc = ek_kafka_conf_set(conf, "enable.auto.commit", "false", e);
    if (!rc)
        rc = ek_kafka_conf_set(conf, "enable.auto.offset.store", "false", e);
    if (!rc && !has_consumer_protocol(c))
        rc = set_classic_group(conf, c, e);
    if (!rc)
        rc = set_number(conf, "topic.metadata.refresh.interval.ms", METADATA_MS, e);
    if (!rc)
        rc = set_number(conf, "max.partition.fetch.bytes",
                        raise_to_min(message, PARTITION_FETCH_BYTES_MIN), e);
    if (!rc)
        rc = set_number(conf, "fetch.max.bytes", fetch, e);
    if (!rc && ek_kafka_conf_has_backoff())
        rc = set_number(conf, "fetch.queue.backoff.ms", QUEUE_BACKOFF_MS, e);
    if (!rc)
        rc = set_number(conf, "queued.max.messages.kbytes",
                        raise_to_min(PREFETCH_KBYTES / ek_config_workers(c), PREFETCH_KBYTES_MIN),
                        e);
    if (!rc)
        rc = set_number(
            conf, "queued.min.messages",
            raise_to_min(PREFETCH_MESSAGES / ek_config_workers(c), PREFETCH_MESSAGES_MIN), e);
    if (!rc)
        rc = set_number(conf, "message.max.bytes", raise_to_min(message, 1000000), e);
    return rc ? rc
              : set_number(conf, "receive.message.max.bytes",
                           raise_to_min(2 * fetch, RECEIVE_BYTES_MIN), e);
}

/* Return whether the configuration names a topic to write. */
static bool writes(const struct ek_config *c)
{
    return c->output_topic || c->dead_letter_topic || c->alert_topic || c->state_topic;
}

/* At least once. Only the idempotent producer keeps the order of a partition over retries with five
 * requests in flight. One request in flight would make partitions wait for each other, because each
 * request carries one partition. Brokers allow an idempotent producer only to users with a right to
 * write.
 */
static int set_delivery(rd_kafka_conf_t *conf, const struct ek_config *c, struct ek_error *e)
{
    int rc = ek_kafka_conf_set(conf, "enable.idempotence", writes(c) ? "true" : "false", e);
    if (!rc)
        rc = ek_kafka_conf_set(conf, "acks", "all", e);
    if (!rc)
        rc = ek_kafka_conf_set(conf, "max.in.flight.requests.per.connection", "5", e);
    return rc ? rc : set_number(conf, "linger.ms", c->linger_ms, e);
}

/* Exactly once. librdkafka requires idempotence and lowers message and request timeouts below the
 * transaction timeout. A commit flushes, so the linger delays no output. */
static int set_transactions(rd_kafka_conf_t *conf, const struct ek_config *c, struct ek_error *e)
{
    int rc = ek_kafka_conf_set(conf, "enable.idempotence", "true", e);
    if (!rc)
        rc = set_number(conf, "transaction.timeout.ms", c->transaction_ms, e);
    return rc ? rc : set_number(conf, "linger.ms", ek_config_commit_interval_ms(c), e);
}

static int set_reliable(rd_kafka_conf_t *conf, const struct ek_config *c, struct ek_error *e)
{
    if (c->delivery == EK_EXACTLY_ONCE)
        return set_transactions(conf, c, e);
    int rc = set_delivery(conf, c, e);
    return rc ? rc : ek_kafka_conf_set(conf, "message.timeout.ms", "0", e);
}

/* Deliveries never time out: during a broker outage the in-flight limits hold back the input. The
 * queue has no limit of bytes: a larger message would wait without end. It has room for two records
 * of each message in flight, and for events. The client's message size limit is raised, because a
 * message too large for the broker must still become a dead letter. */
static int set_producer(rd_kafka_conf_t *conf, const struct ek_config *c, struct ek_error *e)
{
    int rc = set_reliable(conf, c, e);
    if (!rc)
        rc = ek_kafka_conf_set(conf, "partitioner", "murmur2_random", e);
    if (!rc)
        rc = set_number(conf, "message.max.bytes", PRODUCE_BYTES_MAX, e);
    int64_t state = c->state_topic ? 1 : 0; /* a checkpoint is queued at once */
    if (!rc)
        rc = set_number(conf, "queue.buffering.max.messages",
                        2 * c->in_flight_messages + 10000 + state * STATE_MESSAGES, e);
    return rc ? rc : set_number(conf, "queue.buffering.max.kbytes", QUEUE_KBYTES_MAX, e);
}

/* Set *out if rc is 0, else free `conf`. Return rc. */
static int finish(rd_kafka_conf_t **out, rd_kafka_conf_t *conf, int rc)
{
    if (rc)
        rd_kafka_conf_destroy(conf);
    else
        *out = conf;
    return rc;
}

int ek_kafka_conf_consumer(rd_kafka_conf_t **out, const struct ek_config *c, const char *client_id,
                           struct ek_error *e)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int rc = set_common(conf, c, client_id, e);
    if (!rc)
        rc = set_consumer(conf, c, e);
    if (!rc)
        rc = pass_through(conf, c, &c->librdkafka, e);
    if (!rc)
        rc = check_relations(conf, c, e);
    return finish(out, conf, rc);
}

int ek_kafka_conf_producer(rd_kafka_conf_t **out, const struct ek_config *c, struct ek_error *e)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int rc = set_common(conf, c, NULL, e);
    if (!rc)
        rc = set_producer(conf, c, e);
    if (!rc)
        rc = pass_through(conf, c, &c->librdkafka, e);
    if (!rc)
        rc = pass_through(conf, c, &c->output_librdkafka, e);
    return finish(out, conf, rc);
}

int ek_kafka_conf_auxiliary(rd_kafka_conf_t **out, const struct ek_config *c,
                            const struct ek_kafka_setting *own, struct ek_error *e)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int rc = set_common(conf, c, NULL, e);
    if (!rc)
        rc = pass_through(conf, c, &c->librdkafka, e);
    for (size_t i = 0; !rc && own[i].name; i++)
        rc = ek_kafka_conf_set(conf, own[i].name, own[i].value, e);
    return finish(out, conf, rc);
}

static int check_each(const struct ek_config *c, const struct ek_property_list *list,
                      struct ek_error_list *faults, struct ek_error *e)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < list->count; i++)
        rc = ek_error_list_collect(faults, pass_one(conf, c, &list->items[i], e), e);
    rd_kafka_conf_destroy(conf);
    return rc;
}

static int check_whole(const struct ek_config *c, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_consumer(&conf, c, NULL, e);
    if (rc)
        return rc;
    rd_kafka_conf_destroy(conf);
    rc = ek_kafka_conf_producer(&conf, c, e);
    if (!rc)
        rd_kafka_conf_destroy(conf);
    return rc;
}

static int kafka_check(const struct ek_config *c, struct ek_error_list *faults, struct ek_error *e)
{
    int rc = check_each(c, &c->librdkafka, faults, e);
    if (!rc)
        rc = check_each(c, &c->output_librdkafka, faults, e);
    if (rc || c->part || (faults && faults->count))
        return rc; /* a rejected value was not set, so relations cannot be checked */
    return check_whole(c, e);
}

const char *ek_kafka_version(void)
{
    return rd_kafka_version_str();
}

__attribute__((constructor)) static void register_check(void)
{
    ek_config_set_property_check(kafka_check);
}

int ek_kafka_headers_get(rd_kafka_message_t *m, rd_kafka_headers_t **headers)
{
    rd_kafka_headers_t *found;
    rd_kafka_resp_err_t err = rd_kafka_message_detach_headers(m, &found);
    *headers = NULL;
    if (err)
        return err == RD_KAFKA_RESP_ERR__NOENT ? EK_OK : EK_ELIMIT;
    if (rd_kafka_header_cnt(found) > EK_MESSAGE_HEADERS_MAX) {
        rd_kafka_headers_destroy(found);
        return EK_ELIMIT;
    }
    *headers = found;
    return EK_OK;
}

bool ek_kafka_has_headers(rd_kafka_message_t *m)
{
    rd_kafka_headers_t *found;
    rd_kafka_resp_err_t err = rd_kafka_message_headers(m, &found);
    if (!err)
        rd_kafka_message_set_headers(m, NULL); /* frees the parsed list */
    return err != RD_KAFKA_RESP_ERR__NOENT;
}

void ek_kafka_add_header(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    rd_kafka_header_add(headers, name, -1, value, -1);
}

static int set_all(rd_kafka_conf_t *conf, const struct ek_brokers *brokers,
                   const struct ek_kafka_setting *settings, size_t count, struct ek_error *e)
{
    int rc = ek_kafka_conf_set(conf, "bootstrap.servers", brokers->addresses, e);
    for (size_t i = 0; !rc && i < count; i++)
        rc = ek_kafka_conf_set(conf, settings[i].name, settings[i].value, e);
    for (size_t i = 0; !rc && brokers->properties && i < brokers->properties->count; i++)
        rc = kafka_conf_set_property(conf, &brokers->properties->items[i], e);
    return rc || !brokers->properties ? rc : ek_login_configure(conf, brokers->properties, e);
}

int ek_kafka_client(rd_kafka_t **out, rd_kafka_type_t type, const struct ek_brokers *brokers,
                    const struct ek_kafka_setting *settings, size_t count,
                    ek_kafka_delivery_fn *delivered, struct ek_kafka_watch *watch,
                    struct ek_error *e)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int rc = set_all(conf, brokers, settings, count, e);
    if (rc) {
        rd_kafka_conf_destroy(conf);
        return rc;
    }
    ek_kafka_watch_attach(watch, conf);
    if (delivered)
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    return ek_kafka_make(out, type, conf, EK_EIO, "kafka client", e);
}

int ek_kafka_make(rd_kafka_t **out, rd_kafka_type_t type, rd_kafka_conf_t *conf, enum ek_code code,
                  const char *what, struct ek_error *e)
{
    char why[300] = "";
    *out = rd_kafka_new(type, conf, why, sizeof why);
    if (!*out) {
        rd_kafka_conf_destroy(conf);
        return ek_fail(e, code, "%s: %s", what, why);
    }
    ek_login_start(*out);
    if (type == RD_KAFKA_CONSUMER)
        rd_kafka_poll_set_consumer(*out);
    return EK_OK;
}

void ek_kafka_signal_on_event(rd_kafka_queue_t *queue, const struct ek_wakeup *wakeup)
{
    static const uint64_t one = 1;
    rd_kafka_queue_io_event_enable(queue, wakeup->fd, &one, sizeof one);
}

int64_t ek_kafka_time_ms(const rd_kafka_message_t *m)
{
    rd_kafka_timestamp_type_t type;
    int64_t stamp = rd_kafka_message_timestamp(m, &type);
    return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : stamp;
}

static size_t bytes_of(const rd_kafka_headers_t *headers)
{
    size_t bytes = 0, length;
    const char *name;
    const void *value;
    for (size_t i = 0; !rd_kafka_header_get_all(headers, i, &name, &value, &length); i++)
        bytes += EK_HEADER_BYTES + strlen(name) + length;
    return bytes;
}

size_t ek_inflight_bytes(rd_kafka_message_t *m, size_t unread)
{
    rd_kafka_headers_t *headers;
    size_t bytes = m->len + m->key_len;
    rd_kafka_resp_err_t err = rd_kafka_message_headers(m, &headers);
    if (err == RD_KAFKA_RESP_ERR__NOENT)
        return bytes;
    if (err)
        return bytes + unread;
    bytes += bytes_of(headers);
    rd_kafka_message_set_headers(m, NULL); /* frees the parsed list */
    return bytes;
}
