#include "daemon/kafka_error.h"

#include <string.h>

enum { REASON_BYTES = 400 };

static enum ek_kafka_class classify_client(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE:
        return EK_KAFKA_FATAL;
    default:
        return EK_KAFKA_RETRIABLE;
    }
}

/* The client itself retries for as long as it takes; what comes back as failed is final. */
static enum ek_kafka_class classify_delivery(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        return EK_KAFKA_MESSAGE;
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
        return EK_KAFKA_ABORT;
    default:
        return EK_KAFKA_FATAL;
    }
}

/* A commit that the group refuses says that the partitions are somebody else's by now. */
static enum ek_kafka_class classify_commit(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
        return EK_KAFKA_ABORT;
    default:
        return classify_client(err);
    }
}

/* What the error object of a transactional call says comes before this. Code 120 has no name in
 * librdkafka: brokers of KIP-890 (Kafka 4) mean by it that the transaction must be aborted. */
static enum ek_kafka_class classify_transaction(rd_kafka_resp_err_t err)
{
    enum { TRANSACTION_ABORTABLE = 120 };
    switch ((int)err) {
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
        return EK_KAFKA_RETRIABLE;
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING:
    case RD_KAFKA_RESP_ERR__INCONSISTENT:
    case TRANSACTION_ABORTABLE:
        return EK_KAFKA_ABORT;
    default:
        return EK_KAFKA_FATAL;
    }
}

enum ek_kafka_class ek_kafka_classify(rd_kafka_resp_err_t err, enum ek_kafka_where where)
{
    switch (where) {
    case EK_KAFKA_DELIVER:
        return classify_delivery(err);
    case EK_KAFKA_COMMIT:
        return classify_commit(err);
    case EK_KAFKA_TXN:
        return classify_transaction(err);
    default:
        return classify_client(err);
    }
}

const char *ek_kafka_class_name(enum ek_kafka_class class)
{
    static const char *const names[] = {"retriable", "message", "abort", "fatal"};
    return names[class];
}

static void tell(struct ek_kafka_watch *w, enum ek_kafka_class class, const char *text)
{
    if (w->metrics)
        ek_metrics_count(w->metrics, EK_COUNT_KAFKA_RETRIABLE + class, 1);
    ek_log_text(w->log, class == EK_KAFKA_FATAL ? EK_LOG_ERROR : EK_LOG_WARN, "kafka_error", text);
}

static void describe(const struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                     enum ek_kafka_class class, const char *reason, char text[REASON_BYTES])
{
    snprintf(text, REASON_BYTES, "%s (%s, %s, %s)",
             reason && *reason ? reason : rd_kafka_err2str(err), rd_kafka_err2name(err), w->role,
             ek_kafka_class_name(class));
}

void ek_kafka_tell(struct ek_kafka_watch *w, rd_kafka_resp_err_t err, enum ek_kafka_class class,
                   const char *reason)
{
    char text[REASON_BYTES];
    describe(w, err, class, reason, text);
    tell(w, class, text);
}

enum ek_kafka_class ek_kafka_report(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                    enum ek_kafka_where where, const char *reason)
{
    enum ek_kafka_class class = ek_kafka_classify(err, where);
    char text[REASON_BYTES];
    describe(w, err, class, reason, text);
    tell(w, class, text);
    if (class == EK_KAFKA_FATAL) {
        struct ek_error e;
        ek_fail(&e, EK_EIO, "kafka: %s", text);
        ek_kafka_fail(w, &e);
    }
    return class;
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

int ek_kafka_failure(const struct ek_kafka_watch *w, struct ek_error *e)
{
    if (atomic_load(&w->failed) != FAILED)
        return EK_OK;
    if (e)
        *e = w->failure;
    return w->failure.code;
}

void ek_kafka_on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    char text[REASON_BYTES];
    rd_kafka_resp_err_t cause = (rd_kafka_resp_err_t)err;
    if (cause == RD_KAFKA_RESP_ERR__FATAL) {
        cause = rd_kafka_fatal_error(rk, text, sizeof text);
        ek_kafka_report(opaque, RD_KAFKA_RESP_ERR__FATAL, EK_KAFKA_CLIENT, cause ? text : reason);
        return;
    }
    ek_kafka_report(opaque, cause, EK_KAFKA_CLIENT, reason);
}

/* librdkafka's levels are those of syslog. Properties of the other kind of client, which we pass to
 * both, are no news. */
void ek_kafka_on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    struct ek_kafka_watch *w = rk ? rd_kafka_opaque(rk) : NULL;
    char line[REASON_BYTES];
    if (!w)
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
