/* Table of Kafka errors: class and category by code and operation. */
#include "daemon/kafka/errors.h"

#include "daemon/base/clock.h"
#include "daemon/kafka/login.h"

#include <stdio.h>
#include <string.h>

enum {
    CLIENT = 1 << EK_KAFKA_CLIENT,
    CONSUME = 1 << EK_KAFKA_CONSUME,
    COMMIT = 1 << EK_KAFKA_COMMIT,
    DELIVER = 1 << EK_KAFKA_DELIVER,
    TXN = 1 << EK_KAFKA_TXN,
    ADMIN = 1 << EK_KAFKA_ADMIN,
    ANYWHERE = CLIENT | CONSUME | COMMIT | DELIVER | TXN | ADMIN,
    UNSENT = CLIENT | CONSUME | COMMIT, /* operations that the client retries internally */
    DISTURBED_MS = 60000,
    TRANSACTION_ABORTABLE = 120 /* sent by newer brokers; librdkafka 2.0 has no name for
                                 * it */
};

struct row {
    int err;
    unsigned where;
    enum ek_kafka_class class;
    enum ek_kafka_topic_of_error theme;
};

#define ROW(code, place, what)                                                                     \
    {                                                                                              \
        RD_KAFKA_RESP_ERR_##code, place, EK_KAFKA_##what, EK_KAFKA_ORDINARY                        \
    }
#define THEME(code, what, about)                                                                   \
    {                                                                                              \
        RD_KAFKA_RESP_ERR_##code, ANYWHERE, EK_KAFKA_##what, EK_KAFKA_##about                      \
    }

static const struct row ROWS[] = {
    /* Retriable: passwords rotate and brokers return with new certificates. */
    THEME(_AUTHENTICATION, RETRIABLE, CREDENTIALS),
    THEME(SASL_AUTHENTICATION_FAILED, RETRIABLE, CREDENTIALS),
    THEME(UNSUPPORTED_SASL_MECHANISM, RETRIABLE, CREDENTIALS),
    THEME(ILLEGAL_SASL_STATE, RETRIABLE, CREDENTIALS),
    THEME(_SSL, RETRIABLE, TLS),
    THEME(TOPIC_AUTHORIZATION_FAILED, FATAL, AUTHORIZATION),
    THEME(GROUP_AUTHORIZATION_FAILED, FATAL, AUTHORIZATION),
    THEME(CLUSTER_AUTHORIZATION_FAILED, FATAL, AUTHORIZATION),
    THEME(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, FATAL, AUTHORIZATION),
    THEME(DELEGATION_TOKEN_AUTHORIZATION_FAILED, FATAL, AUTHORIZATION),
    THEME(DELEGATION_TOKEN_EXPIRED, FATAL, AUTHORIZATION),

    ROW(_FATAL, ANYWHERE, FATAL),
    ROW(_CRIT_SYS_RESOURCE, ANYWHERE, FATAL),
    ROW(_FENCED, ANYWHERE, FATAL),
    ROW(PRODUCER_FENCED, ANYWHERE, FATAL),
    ROW(INVALID_PRODUCER_EPOCH, ANYWHERE, FATAL),
    ROW(FENCED_INSTANCE_ID, ANYWHERE & ~TXN, FATAL),
    ROW(INVALID_GROUP_ID, ANYWHERE, FATAL),
    ROW(INCONSISTENT_GROUP_PROTOCOL, ANYWHERE, FATAL),
    ROW(INVALID_SESSION_TIMEOUT, ANYWHERE, FATAL),
    ROW(GROUP_MAX_SIZE_REACHED, ANYWHERE, FATAL),
    ROW(UNSUPPORTED_VERSION, ANYWHERE, FATAL),
    ROW(UNSUPPORTED_FOR_MESSAGE_FORMAT, ANYWHERE, FATAL),
    ROW(_UNSUPPORTED_FEATURE, ANYWHERE, FATAL),

    /* The partitions are revoked or being revoked. */
    ROW(REBALANCE_IN_PROGRESS, COMMIT | TXN, ABORTABLE),
    ROW(ILLEGAL_GENERATION, COMMIT | TXN, ABORTABLE),
    ROW(UNKNOWN_MEMBER_ID, COMMIT | TXN, ABORTABLE),
    /* The member id of the transaction is older than that of the consumer, which joined again. The
     * consumer detects a second member of its name. */
    ROW(FENCED_INSTANCE_ID, TXN, ABORTABLE),
    ROW(_ASSIGNMENT_LOST, COMMIT | CONSUME | TXN, ABORTABLE),
    ROW(_MAX_POLL_EXCEEDED, CONSUME, ABORTABLE),
    ROW(_PURGE_QUEUE, DELIVER, ABORTABLE),
    ROW(_PURGE_INFLIGHT, DELIVER, ABORTABLE),

    /* One message is invalid. Within a transaction the broker voids all of it. */
    ROW(MSG_SIZE_TOO_LARGE, DELIVER, MESSAGE),
    ROW(INVALID_MSG, DELIVER, MESSAGE),
    ROW(INVALID_MSG_SIZE, DELIVER, MESSAGE),
    ROW(INVALID_RECORD, DELIVER, MESSAGE),
    ROW(INVALID_TIMESTAMP, DELIVER, MESSAGE),
    ROW(RECORD_LIST_TOO_LARGE, DELIVER, MESSAGE),
    ROW(MSG_SIZE_TOO_LARGE, TXN, ABORTABLE),
    ROW(INVALID_MSG, TXN, ABORTABLE),
    ROW(INVALID_MSG_SIZE, TXN, ABORTABLE),
    ROW(INVALID_RECORD, TXN, ABORTABLE),
    ROW(INVALID_TIMESTAMP, TXN, ABORTABLE),
    ROW(RECORD_LIST_TOO_LARGE, TXN, ABORTABLE),

    /* A transactional producer gets a new epoch after an abort; an idempotent one cannot
     * recover. */
    ROW(OUT_OF_ORDER_SEQUENCE_NUMBER, TXN, ABORTABLE),
    ROW(DUPLICATE_SEQUENCE_NUMBER, TXN, ABORTABLE),
    ROW(UNKNOWN_PRODUCER_ID, TXN, ABORTABLE),
    ROW(INVALID_PRODUCER_ID_MAPPING, TXN, ABORTABLE),
    ROW(_INCONSISTENT, TXN, ABORTABLE),
    ROW(UNKNOWN_TOPIC_OR_PART, TXN, ABORTABLE),
    ROW(_TIMED_OUT, TXN | ADMIN, RETRIABLE),
    ROW(_TIMED_OUT_QUEUE, TXN, RETRIABLE),
    ROW(_TRANSPORT, TXN | ADMIN, RETRIABLE),
    ROW(_ALL_BROKERS_DOWN, TXN | ADMIN, RETRIABLE),
    ROW(REQUEST_TIMED_OUT, TXN | ADMIN, RETRIABLE),
    ROW(NETWORK_EXCEPTION, TXN, RETRIABLE),
    ROW(COORDINATOR_LOAD_IN_PROGRESS, TXN | ADMIN, RETRIABLE),
    ROW(COORDINATOR_NOT_AVAILABLE, TXN, RETRIABLE),
    ROW(NOT_COORDINATOR, TXN, RETRIABLE),
    ROW(CONCURRENT_TRANSACTIONS, TXN, RETRIABLE),
    ROW(UNSTABLE_OFFSET_COMMIT, TXN, RETRIABLE),
    {TRANSACTION_ABORTABLE, TXN, EK_KAFKA_ABORTABLE, EK_KAFKA_ORDINARY},

    /* The cluster is still starting, or the client is closing. */
    ROW(NOT_CONTROLLER, ADMIN, RETRIABLE),
    ROW(INVALID_REPLICATION_FACTOR, ADMIN, RETRIABLE),
    ROW(_DESTROY, ADMIN, RETRIABLE),
};

static const struct row *find(rd_kafka_resp_err_t err, enum ek_kafka_where where)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].err == (int)err && ROWS[i].where & 1u << where)
            return &ROWS[i];
    return NULL;
}

/* Errors missing from the table are retriable where the client retries internally. Failed
 * deliveries, transactions and admin requests are final, because their retries are exhausted. */
enum ek_kafka_class ek_kafka_classify(rd_kafka_resp_err_t err, enum ek_kafka_where where)
{
    const struct row *row = find(err, where);
    return row ? row->class : UNSENT & 1u << where ? EK_KAFKA_RETRIABLE : EK_KAFKA_FATAL;
}

enum ek_kafka_topic_of_error ek_kafka_topic_of_error(rd_kafka_resp_err_t err, const char *reason)
{
    const struct row *row = find(err, EK_KAFKA_CLIENT);
    if (err == RD_KAFKA_RESP_ERR__TRANSPORT && reason &&
        (strstr(reason, "SSL routines") || strstr(reason, "SSL handshake failed")))
        return EK_KAFKA_TLS;
    return row ? row->theme : EK_KAFKA_ORDINARY;
}

const char *ek_kafka_class_name(enum ek_kafka_class class)
{
    static const char *const names[] = {"retriable", "message", "abortable", "fatal"};
    return names[class];
}

/* X509_V_ERR_* codes of OpenSSL. */
static const struct {
    int code;
    const char *text;
} CERTIFICATES[] = {
    {9, "the broker's certificate is not valid yet: compare the clocks"},
    {10, "the broker's certificate has expired"},
    {18, "the broker's certificate is signed by itself: check ssl.ca.location"},
    {19, "the broker's certificate is not signed by an authority we know: check ssl.ca.location"},
    {20, "the broker's certificate is not signed by an authority we know: check ssl.ca.location"},
    {21, "the broker's certificate is not signed by an authority we know: check ssl.ca.location"},
    {23, "the broker's certificate was revoked"},
    {62, "the broker's certificate is for another host name: use a name that it has"},
    {64, "the broker's certificate is for another address: use a name that it has"},
};

static const char ENDS_EARLY[] = "the connection ends while it is made: the broker may not speak "
                                 "TLS there, check the port and security.protocol";

/* Substrings of OpenSSL and librdkafka messages. */
static const struct {
    const char *word, *text;
} HANDSHAKES[] = {
    {"alert bad certificate", "the broker refuses our client certificate: check "
                              "ssl.certificate.location and ssl.key.location"},
    {"alert unknown ca", "the broker does not know who signed our client certificate: check "
                         "ssl.certificate.location"},
    {"alert certificate expired", "our client certificate has expired"},
    {"alert certificate unknown", "the broker refuses our client certificate, which may have "
                                  "expired: check ssl.certificate.location"},
    {"alert handshake failure", "the broker may require a client certificate: check "
                                "ssl.certificate.location and ssl.key.location"},
    {"wrong version number", "the broker does not speak TLS there: check the port and "
                             "security.protocol"},
    {"unexpected message", "the broker may not speak TLS there: check the port and "
                           "security.protocol"},
    {"packet length", "the broker does not speak TLS there: check the port and security.protocol"},
    {"unexpected eof", ENDS_EARLY},
    {"PLAINTEXT broker", ENDS_EARLY}, /* librdkafka 2.10 and later guess this for the same error */
    {"verify failed", "the broker's certificate is not trusted: check ssl.ca.location"},
};

static const char *tls_text(const struct ek_kafka_watch *w, const char *reason)
{
    bool ours = strstr(reason, "verify failed") != NULL;
    int certificate = atomic_load(&w->certificate);
    if (!w->own_certificate && strstr(reason, "certificate") && strstr(reason, " alert "))
        return "the broker requires a client certificate: check ssl.certificate.location and "
               "ssl.key.location";
    for (size_t i = 0; ours && i < sizeof CERTIFICATES / sizeof *CERTIFICATES; i++)
        if (CERTIFICATES[i].code == certificate)
            return CERTIFICATES[i].text;
    for (size_t i = 0; i < sizeof HANDSHAKES / sizeof *HANDSHAKES; i++)
        if (strstr(reason, HANDSHAKES[i].word))
            return HANDSHAKES[i].text;
    return "no secure connection: check the properties ssl.*";
}

static void format_credentials(char *out, size_t size, const struct ek_kafka_watch *w,
                               rd_kafka_resp_err_t err, const char *reason)
{
    if (err == RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM ||
        strstr(reason, "mechanism handshake") || strstr(reason, "nsupported SASL mechanism"))
        snprintf(out, size,
                 "wrong credentials: the broker does not take SASL mechanism '%s': "
                 "check sasl.mechanism: %s",
                 w->mechanism, reason);
    else if (!strcmp(w->mechanism, "OAUTHBEARER"))
        snprintf(out, size, "wrong credentials: check the properties sasl.oauthbearer.*: %s",
                 reason);
    else
        snprintf(out, size,
                 "wrong credentials: the broker refuses user '%s' (%s): check "
                 "sasl.username and sasl.password: %s",
                 w->user, w->mechanism, reason);
}

static const char *operation(const struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                             enum ek_kafka_where where)
{
    if (err == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
        return "IdempotentWrite";
    if (err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
        return "Read";
    bool reads = where == EK_KAFKA_CONSUME || where == EK_KAFKA_COMMIT ||
                 (where != EK_KAFKA_DELIVER && strcmp(w->role, "producer") != 0);
    return reads ? "Read" : "Write";
}

/* Return the name of the resource that lacks permission, and its kind in *kind. */
static const char *resource(const struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                            const char *topic, const char **kind)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        *kind = "group";
        return w->group;
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        *kind = "transactional id";
        return w->transactional_id;
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        *kind = "cluster";
        return "kafka-cluster";
    default:
        *kind = "topic";
        return topic ? topic : "?";
    }
}

static void format_authorization(char *out, size_t size, const struct ek_kafka_watch *w,
                                 rd_kafka_resp_err_t err, enum ek_kafka_where where,
                                 const char *topic, const char *reason)
{
    const char *kind, *name = resource(w, err, topic, &kind);
    snprintf(out, size, "no right: %s%s%s needs %s on %s '%s': %s", *w->user ? "user '" : "",
             *w->user ? w->user : "this client", *w->user ? "'" : "", operation(w, err, where),
             kind, name, reason);
}

/* Return true for an error of brokers without the consumer protocol (KIP-848), or with it disabled.
 */
static bool lacks_consumer_protocol(rd_kafka_resp_err_t err, const char *reason)
{
    return (err == RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION ||
            err == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE) &&
           strstr(reason, "ConsumerGroupHeartbeat");
}

/* Return true if a broker was lost or did not respond shortly before. A member that joins a second
 * time because the response to the first was lost takes the id from itself. */
static bool is_disturbed(const struct ek_kafka_watch *w)
{
    int64_t last_ms = atomic_load(&w->disturbed_ms);
    return last_ms && ek_now_ms() - last_ms < DISTURBED_MS;
}

void ek_kafka_errmsg(char *out, size_t size, const struct ek_kafka_watch *w,
                     rd_kafka_resp_err_t err, enum ek_kafka_where where, const char *topic,
                     const char *reason)
{
    reason = reason && *reason ? reason : rd_kafka_err2str(err);
    switch (ek_kafka_topic_of_error(err, reason)) {
    case EK_KAFKA_CREDENTIALS:
        format_credentials(out, size, w, err, reason);
        return;
    case EK_KAFKA_TLS:
        snprintf(out, size, "TLS: %s: %s", tls_text(w, reason), reason);
        return;
    case EK_KAFKA_AUTHORIZATION:
        format_authorization(out, size, w, err, where, topic, reason);
        return;
    case EK_KAFKA_ORDINARY:
        break;
    }
    if (err == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID && is_disturbed(w))
        snprintf(out, size,
                 "a broker was lost or did not respond, and a later join has taken the "
                 "group.instance.id '%s': of this instance, or of another one with the same "
                 "service.instance: %s",
                 w->group_instance, reason);
    else if (err == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
        snprintf(out, size,
                 "another member of the group has taken this one's group.instance.id '%s': give "
                 "each instance a service.instance of its own: %s",
                 w->group_instance, reason);
    else if (lacks_consumer_protocol(err, reason))
        snprintf(out, size,
                 "the brokers reject 'group.protocol: consumer', which needs Kafka 4 and must be "
                 "enabled there: remove it from input.librdkafka: %s",
                 reason);
    else if (err == RD_KAFKA_RESP_ERR__BAD_COMPRESSION)
        snprintf(out, size,
                 "topic '%s': a compressed batch cannot be unpacked, and until it can nothing "
                 "behind it in its partition is read: it is damaged, or is more than "
                 "receive.message.max.bytes when unpacked: raise that: %s",
                 topic ? topic : "?", reason);
    else
        snprintf(out, size, "%s%s%s%s", topic ? "topic '" : "", topic ? topic : "",
                 topic ? "': " : "", reason);
}

enum {
    REASON_BYTES = 400,
    TEXT_BYTES = 500,
    TOPIC_BYTES = 250,
    DEBUG_BYTES = 300, /* all contexts of librdkafka's property `debug` */
    PROBE_MS = 100,
    BEHIND_FETCH_MS = 700, /* fetch.wait.max.ms (500) plus a margin */
    LOG_LEVEL_INFO = 6
};

static enum ek_counter counter_of(enum ek_kafka_class class, enum ek_kafka_topic_of_error theme)
{
    switch (class == EK_KAFKA_ABORTABLE ? EK_KAFKA_ORDINARY : theme) {
    case EK_KAFKA_CREDENTIALS:
        return EK_COUNT_KAFKA_CREDENTIALS;
    case EK_KAFKA_TLS:
        return EK_COUNT_KAFKA_TLS;
    case EK_KAFKA_AUTHORIZATION:
        return EK_COUNT_KAFKA_AUTHORIZATION;
    default:
        return EK_COUNT_KAFKA_RETRIABLE + class;
    }
}

static enum ek_kafka_health_kind trouble_of(rd_kafka_resp_err_t err,
                                            enum ek_kafka_topic_of_error theme)
{
    switch (theme) {
    case EK_KAFKA_CREDENTIALS:
        return EK_KAFKA_HEALTH_CREDENTIALS;
    case EK_KAFKA_TLS:
        return EK_KAFKA_HEALTH_TLS;
    case EK_KAFKA_AUTHORIZATION:
        return EK_KAFKA_HEALTH_AUTHORIZATION;
    default:
        return err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ? EK_KAFKA_HEALTH_NO_BROKER
                                                          : EK_KAFKA_HEALTH_NONE;
    }
}

struct error_report {
    rd_kafka_resp_err_t err;
    enum ek_kafka_class class;
    enum ek_kafka_where where;
    const char *topic, *reason;
};

/* Count and log an error, and write its message to `text`. */
static void log_error(struct ek_kafka_watch *w, const struct error_report *t, char text[TEXT_BYTES])
{
    enum ek_kafka_topic_of_error theme = ek_kafka_topic_of_error(t->err, t->reason);
    char sentence[REASON_BYTES];
    if (t->err == RD_KAFKA_RESP_ERR__TRANSPORT || t->err == RD_KAFKA_RESP_ERR__TIMED_OUT ||
        t->err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        atomic_store(&w->disturbed_ms, ek_now_ms());
    ek_kafka_errmsg(sentence, sizeof sentence, w, t->err, t->where, t->topic, t->reason);
    snprintf(text, TEXT_BYTES, "%s (%s, %s, %s)", sentence, rd_kafka_err2name(t->err), w->role,
             ek_kafka_class_name(t->class));
    if (w->metrics)
        ek_metrics_count(w->metrics, counter_of(t->class, theme), 1);
    ek_kafka_health_report(w->trouble, trouble_of(t->err, theme), sentence);
    ek_log_text(w->log, t->class == EK_KAFKA_FATAL ? EK_LOG_ERROR : EK_LOG_WARN, "kafka_error",
                text);
}

void ek_kafka_report_class(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                           enum ek_kafka_class class, const char *reason)
{
    char text[TEXT_BYTES];
    log_error(
        w,
        &(struct error_report){.err = err, .class = class, .where = EK_KAFKA_TXN, .reason = reason},
        text);
}

enum ek_kafka_class ek_kafka_report_topic(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                          enum ek_kafka_where where, const char *topic,
                                          const char *reason)
{
    enum ek_kafka_class class = ek_kafka_classify(err, where);
    char text[TEXT_BYTES];
    log_error(w, &(struct error_report){err, class, where, topic, reason}, text);
    if (class == EK_KAFKA_FATAL) {
        struct ek_error e;
        /* twins would fence each other for ever if they were restarted */
        bool twin = err == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID && !is_disturbed(w);
        ek_fail(&e, twin ? EK_ECONFIG : EK_EIO, "kafka: %s", text);
        ek_kafka_fail(w, &e);
    }
    return class;
}

enum ek_kafka_class ek_kafka_report(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                    enum ek_kafka_where where, const char *reason)
{
    return ek_kafka_report_topic(w, err, where, NULL, reason);
}

enum { NOT_FAILED, WRITING, FAILED };

void ek_kafka_fail(struct ek_kafka_watch *w, const struct ek_error *e)
{
    int none = NOT_FAILED;
    if (!atomic_compare_exchange_strong(&w->failed, &none, WRITING))
        return;
    w->failure = *e;
    w->failure.flags = EK_ERR_FATAL;
    atomic_store(&w->failed, FAILED);
}

void ek_kafka_reset_failure(struct ek_kafka_watch *w)
{
    atomic_store(&w->failed, NOT_FAILED);
}

int ek_kafka_failure(const struct ek_kafka_watch *w, struct ek_error *e)
{
    if (atomic_load(&w->failed) != FAILED)
        return EK_OK;
    if (e)
        *e = w->failure;
    return w->failure.code;
}

void ek_kafka_report_fatal(struct ek_kafka_watch *w, rd_kafka_t *client, const char *reason)
{
    char text[REASON_BYTES];
    rd_kafka_resp_err_t cause = rd_kafka_fatal_error(client, text, sizeof text);
    bool is_fatal = cause && ek_kafka_classify(cause, EK_KAFKA_CLIENT) == EK_KAFKA_FATAL;
    ek_kafka_report(w, is_fatal ? cause : RD_KAFKA_RESP_ERR__FATAL, EK_KAFKA_CLIENT,
                    cause ? text : reason);
}

/* Copy the topic from a reason like "scored [0]: no longer available". Return false if there is
 * none. */
static bool find_topic(const char *reason, char topic[TOPIC_BYTES])
{
    const char *end = strstr(reason, " [");
    size_t length = end ? (size_t)(end - reason) : 0;
    if (!length || length >= TOPIC_BYTES || memchr(reason, ' ', length))
        return false;
    memcpy(topic, reason, length);
    topic[length] = 0;
    return true;
}

void ek_kafka_renew_login(const struct ek_kafka_watch *w, rd_kafka_t *client)
{
    struct ek_error e;
    char text[TEXT_BYTES];
    if (ek_login_renew(client, &e))
        ek_log_text(w->log, EK_LOG_WARN, "kafka_error", ek_error_text(&e, text, sizeof text));
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    char topic[TOPIC_BYTES];
    if (err == RD_KAFKA_RESP_ERR__AUTHENTICATION)
        ek_kafka_renew_login(opaque, rk);
    if (err == RD_KAFKA_RESP_ERR__FATAL)
        ek_kafka_report_fatal(opaque, rk, reason);
    else if (err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED && find_topic(reason, topic))
        ek_kafka_report_topic(opaque, (rd_kafka_resp_err_t)err, EK_KAFKA_CLIENT, topic, reason);
    else
        ek_kafka_report(opaque, (rd_kafka_resp_err_t)err, EK_KAFKA_CLIENT, reason);
}

/* Return true for the debug line of a fetch that failed because the broker does not know the topic,
 * by name or by id. */
static bool is_unknown_topic(const char *facility, const char *text)
{
    return !strcmp(facility, "BROKERUA") && strstr(text, "Unknown topic");
}

/* Return true for the line of a request that a broker did not answer in time. librdkafka reports no
 * error for it if another request succeeds. */
static bool is_unanswered_request(const char *facility)
{
    return !strcmp(facility, "REQTMOUT");
}

/* Return true for the debug line of a member whose coordinator has no consumer protocol. librdkafka
 * searches for another coordinator without end. */
static bool is_old_coordinator(const char *text)
{
    return strstr(text, "ConsumerGroupHeartbeatRequest not supported") != NULL;
}

/* Log levels are syslog levels. CONFWARN is for debug only: every client gets the properties of
 * both types. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    struct ek_kafka_watch *w = rk ? rd_kafka_opaque(rk) : NULL;
    char line[REASON_BYTES];
    if (w && is_unknown_topic(facility, text))
        atomic_fetch_add(&w->unknown_topics, 1);
    if (w && is_unanswered_request(facility))
        atomic_store(&w->disturbed_ms, ek_now_ms());
    if (w && is_old_coordinator(text) && !atomic_load(&w->failed))
        ek_kafka_report(w, RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, EK_KAFKA_CLIENT,
                        "ConsumerGroupHeartbeat");
    if (!w || (level > LOG_LEVEL_INFO && w->hides_debug))
        return;
    bool quiet = !strcmp(facility, "CONFWARN") || !strcmp(facility, "FAIL") ||
                 !strcmp(facility, "ERROR") || level > 5;
    snprintf(line, sizeof line, "%s: %s", facility, text);
    ek_log_text(w->log,
                quiet       ? EK_LOG_DEBUG
                : level > 4 ? EK_LOG_INFO
                            : EK_LOG_WARN,
                "kafka_log", line);
}

/* Keep OpenSSL's verdict and store its number, because librdkafka reports the same message for
 * every rejection. */
static int on_certificate(rd_kafka_t *rk, const char *broker, int32_t id, int *verdict, int depth,
                          const char *certificate, size_t size, char *why, size_t why_size,
                          void *opaque)
{
    struct ek_kafka_watch *w = opaque;
    (void)rk, (void)broker, (void)id, (void)certificate, (void)size;
    if (!*verdict)
        return 1;
    atomic_store(&w->certificate, *verdict);
    snprintf(why, why_size, "X509 error %d at depth %d", *verdict, depth);
    return 0;
}

static void note(const rd_kafka_conf_t *conf, const char *name, char *out, size_t size)
{
    if (rd_kafka_conf_get(conf, name, out, &size) != RD_KAFKA_CONF_OK)
        *out = 0;
}

static bool is_set(const rd_kafka_conf_t *conf, const char *name)
{
    size_t size = 0;
    return rd_kafka_conf_get(conf, name, NULL, &size) == RD_KAFKA_CONF_OK && size > 1;
}

void ek_kafka_watch_consumer(struct ek_kafka_watch *w, rd_kafka_conf_t *conf)
{
    char contexts[DEBUG_BYTES], all[DEBUG_BYTES + sizeof ",topic,cgrp"], protocol[16];
    note(conf, "debug", contexts, sizeof contexts);
    note(conf, "group.protocol", protocol, sizeof protocol);
    w->hides_debug = !*contexts;
    snprintf(all, sizeof all, "%s%stopic%s", contexts, *contexts ? "," : "",
             strcmp(protocol, "consumer") != 0 ? "" : ",cgrp");
    rd_kafka_conf_set(conf, "debug", all, NULL, 0);
}

void ek_kafka_watch_attach(struct ek_kafka_watch *w, rd_kafka_conf_t *conf)
{
    char verified[8] = "";
    note(conf, "sasl.username", w->user, sizeof w->user);
    note(conf, "sasl.mechanisms", w->mechanism, sizeof w->mechanism);
    note(conf, "group.id", w->group, sizeof w->group);
    note(conf, "group.instance.id", w->group_instance, sizeof w->group_instance);
    note(conf, "transactional.id", w->transactional_id, sizeof w->transactional_id);
    w->own_certificate = is_set(conf, "ssl.certificate.location") ||
                         is_set(conf, "ssl.certificate.pem") ||
                         is_set(conf, "ssl.keystore.location");
    note(conf, "enable.ssl.certificate.verification", verified, sizeof verified);
    rd_kafka_conf_set_opaque(conf, w);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    if (!strcmp(verified, "true"))
        rd_kafka_conf_set_ssl_cert_verify_cb(conf, on_certificate);
}

void ek_kafka_probe(rd_kafka_t *client, struct ek_kafka_watch *w)
{
    struct ek_kafka_health_state state;
    const struct rd_kafka_metadata *answer;
    if (!ek_kafka_health_get(w->trouble, &state))
        return;
    if (state.kind == EK_KAFKA_HEALTH_CREDENTIALS)
        ek_kafka_renew_login(w, client);
    rd_kafka_resp_err_t err = rd_kafka_metadata(client, 0, NULL, &answer, PROBE_MS);
    if (err == RD_KAFKA_RESP_ERR__TIMED_OUT) /* the broker may be blocked by a fetch */
        err = rd_kafka_metadata(client, 0, NULL, &answer, BEHIND_FETCH_MS);
    if (err)
        return;
    rd_kafka_metadata_destroy(answer);
    ek_kafka_health_clear(w->trouble);
}
