/* The table of Kafka errors: the one place that says what they mean for us. */
#include "daemon/kafka/kafka_error.h"

#include <string.h>

enum {
    CLIENT = 1 << EK_KAFKA_CLIENT,
    CONSUME = 1 << EK_KAFKA_CONSUME,
    COMMIT = 1 << EK_KAFKA_COMMIT,
    DELIVER = 1 << EK_KAFKA_DELIVER,
    TXN = 1 << EK_KAFKA_TXN,
    ADMIN = 1 << EK_KAFKA_ADMIN,
    ANYWHERE = CLIENT | CONSUME | COMMIT | DELIVER | TXN | ADMIN,
    UNSENT = CLIENT | CONSUME | COMMIT, /* where the client goes on by itself */
    TRANSACTION_ABORTABLE = 120         /* of newer brokers; librdkafka has no name for it */
};

struct row {
    int err;
    unsigned where;
    enum ek_kafka_class class;
    enum ek_kafka_theme theme;
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
    /* Passwords rotate, brokers come back with another certificate: the client tries on. */
    THEME(_AUTHENTICATION, RETRIABLE, CREDENTIALS),
    THEME(SASL_AUTHENTICATION_FAILED, RETRIABLE, CREDENTIALS),
    THEME(UNSUPPORTED_SASL_MECHANISM, RETRIABLE, CREDENTIALS),
    THEME(ILLEGAL_SASL_STATE, RETRIABLE, CREDENTIALS),
    THEME(_SSL, RETRIABLE, TLS),
    THEME(TOPIC_AUTHORIZATION_FAILED, FATAL, AUTHORISATION),
    THEME(GROUP_AUTHORIZATION_FAILED, FATAL, AUTHORISATION),
    THEME(CLUSTER_AUTHORIZATION_FAILED, FATAL, AUTHORISATION),
    THEME(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, FATAL, AUTHORISATION),
    THEME(DELEGATION_TOKEN_AUTHORIZATION_FAILED, FATAL, AUTHORISATION),
    THEME(DELEGATION_TOKEN_EXPIRED, FATAL, AUTHORISATION),

    ROW(_FATAL, ANYWHERE, FATAL),
    ROW(_CRIT_SYS_RESOURCE, ANYWHERE, FATAL),
    ROW(_FENCED, ANYWHERE, FATAL),
    ROW(PRODUCER_FENCED, ANYWHERE, FATAL),
    ROW(INVALID_PRODUCER_EPOCH, ANYWHERE, FATAL),
    ROW(FENCED_INSTANCE_ID, ANYWHERE, FATAL),
    ROW(INVALID_GROUP_ID, ANYWHERE, FATAL),
    ROW(INCONSISTENT_GROUP_PROTOCOL, ANYWHERE, FATAL),
    ROW(INVALID_SESSION_TIMEOUT, ANYWHERE, FATAL),
    ROW(GROUP_MAX_SIZE_REACHED, ANYWHERE, FATAL),
    ROW(UNSUPPORTED_VERSION, ANYWHERE, FATAL),
    ROW(UNSUPPORTED_FOR_MESSAGE_FORMAT, ANYWHERE, FATAL),
    ROW(_UNSUPPORTED_FEATURE, ANYWHERE, FATAL),

    /* The partitions are somebody else's by now, or will be. */
    ROW(REBALANCE_IN_PROGRESS, COMMIT | TXN, ABORT),
    ROW(ILLEGAL_GENERATION, COMMIT | TXN, ABORT),
    ROW(UNKNOWN_MEMBER_ID, COMMIT | TXN, ABORT),
    ROW(_ASSIGNMENT_LOST, COMMIT | CONSUME | TXN, ABORT),
    ROW(_MAX_POLL_EXCEEDED, CONSUME, ABORT),
    ROW(_PURGE_QUEUE, DELIVER, ABORT),
    ROW(_PURGE_INFLIGHT, DELIVER, ABORT),

    /* One message; in a transaction the broker has given up all of it. */
    ROW(MSG_SIZE_TOO_LARGE, DELIVER, MESSAGE),
    ROW(INVALID_MSG, DELIVER, MESSAGE),
    ROW(INVALID_MSG_SIZE, DELIVER, MESSAGE),
    ROW(INVALID_RECORD, DELIVER, MESSAGE),
    ROW(INVALID_TIMESTAMP, DELIVER, MESSAGE),
    ROW(RECORD_LIST_TOO_LARGE, DELIVER, MESSAGE),
    ROW(MSG_SIZE_TOO_LARGE, TXN, ABORT),
    ROW(INVALID_MSG, TXN, ABORT),
    ROW(INVALID_MSG_SIZE, TXN, ABORT),
    ROW(INVALID_RECORD, TXN, ABORT),
    ROW(INVALID_TIMESTAMP, TXN, ABORT),
    ROW(RECORD_LIST_TOO_LARGE, TXN, ABORT),

    /* A transactional producer gets a new epoch after an abort; another one has lost its place. */
    ROW(OUT_OF_ORDER_SEQUENCE_NUMBER, TXN, ABORT),
    ROW(DUPLICATE_SEQUENCE_NUMBER, TXN, ABORT),
    ROW(UNKNOWN_PRODUCER_ID, TXN, ABORT),
    ROW(INVALID_PRODUCER_ID_MAPPING, TXN, ABORT),
    ROW(_INCONSISTENT, TXN, ABORT),
    ROW(UNKNOWN_TOPIC_OR_PART, TXN, ABORT),
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
    {TRANSACTION_ABORTABLE, TXN, EK_KAFKA_ABORT, EK_KAFKA_ORDINARY},

    /* Of a cluster that is not complete yet, or a client that ends. */
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

/* What is not in the table: the client mends it where it goes on by itself. What comes back as not
 * delivered is final, since it was tried for as long as it takes; so is a transaction's, and what
 * brokers say of a topic. */
enum ek_kafka_class ek_kafka_classify(rd_kafka_resp_err_t err, enum ek_kafka_where where)
{
    const struct row *row = find(err, where);
    return row ? row->class : UNSENT & 1u << where ? EK_KAFKA_RETRIABLE : EK_KAFKA_FATAL;
}

enum ek_kafka_theme ek_kafka_theme(rd_kafka_resp_err_t err, const char *reason)
{
    const struct row *row = find(err, EK_KAFKA_CLIENT);
    if (err == RD_KAFKA_RESP_ERR__TRANSPORT && reason &&
        (strstr(reason, "SSL routines") || strstr(reason, "SSL handshake failed")))
        return EK_KAFKA_TLS;
    return row ? row->theme : EK_KAFKA_ORDINARY;
}

const char *ek_kafka_class_name(enum ek_kafka_class class)
{
    static const char *const names[] = {"retriable", "message", "abort", "fatal"};
    return names[class];
}
