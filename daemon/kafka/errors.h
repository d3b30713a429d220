/* Every Kafka error is classified here and nowhere else (daemon/kafka/errors.c has the table).
 *
 * retriable: the client or the next call mends it; message: this one message cannot be delivered,
 * others can; abort: what is in flight for the partitions, or the transaction, is void; fatal: the
 * process cannot go on. Loops decide on these. The theme names what people can mend: credentials,
 * TLS, rights; it has a metric of its own and a sentence that says where to look.
 */
#ifndef EK_DAEMON_KAFKA_ERRORS_H
#define EK_DAEMON_KAFKA_ERRORS_H

#include "base/error.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/config/instance.h"
#include "daemon/kafka/kafka_health.h"

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>

enum ek_kafka_class {
    EK_KAFKA_RETRIABLE,
    EK_KAFKA_MESSAGE,
    EK_KAFKA_ABORTABLE,
    EK_KAFKA_FATAL,
};

enum ek_kafka_topic_of_error {
    EK_KAFKA_ORDINARY,
    EK_KAFKA_CREDENTIALS,
    EK_KAFKA_TLS,
    EK_KAFKA_AUTHORIZATION,
};

/* Where the error met us: the same code may be a passing thing for one and the end for another. */
enum ek_kafka_where {
    EK_KAFKA_CLIENT,
    EK_KAFKA_CONSUME,
    EK_KAFKA_COMMIT,
    EK_KAFKA_DELIVER,
    EK_KAFKA_TXN,   /* calls of a transactional producer; flags of the error object go first */
    EK_KAFKA_ADMIN, /* topics asked about or made; what is not retriable is an answer */
};

enum ek_kafka_class ek_kafka_classify(rd_kafka_resp_err_t err, enum ek_kafka_where where);
/* `reason` is librdkafka's text, or NULL: under TLS 1.3 a broker refuses a certificate only after
 * the handshake, and the code says no more than that the connection ended. */
enum ek_kafka_topic_of_error ek_kafka_topic_of_error(rd_kafka_resp_err_t err, const char *reason);
const char *ek_kafka_class_name(enum ek_kafka_class class);

/* What the callbacks of one client share; the client's opaque pointer. */
struct ek_kafka_watch {
    struct ek_log *log;
    struct ek_metrics *metrics; /* may be NULL */
    const char *role;           /* "consumer", "producer" */
    void *owner;
    struct ek_kafka_health *trouble; /* may be NULL */
    atomic_int failed;               /* 0 until something fatal came; see ek_kafka_failure */
    struct ek_error failure;         /* what it was */
    /* Who the client is, for sentences; "" when it is nobody. */
    char user[100], mechanism[50], group[EK_GROUP_BYTES_MAX + 1], group_instance[EK_INSTANCE_BYTES],
        transactional_id[EK_TRANSACTIONAL_ID_BYTES];
    bool own_certificate;   /* it has one to show */
    atomic_int certificate; /* X509_V_ERR_* of the last certificate that was refused, 0: none */
};

/* Sets callbacks and the opaque on a configuration that is complete, and notes who the client is.
 */
void ek_kafka_watch_attach(struct ek_kafka_watch *w, rd_kafka_conf_t *conf);

/* Counts, logs, and keeps a fatal error as the failure of the watch. Returns the class. */
enum ek_kafka_class ek_kafka_report(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                    enum ek_kafka_where where, const char *reason);
/* The same of an error that concerns a topic; it may be NULL. */
enum ek_kafka_class ek_kafka_report_topic(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                          enum ek_kafka_where where, const char *topic,
                                          const char *reason);

/* A client has said that it cannot go on: the same of what it says is the cause. */
void ek_kafka_report_fatal(struct ek_kafka_watch *w, rd_kafka_t *client, const char *reason);

/* The same with a class that is known already, and which is not kept. */
void ek_kafka_report_class(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                           enum ek_kafka_class class, const char *reason);

/* The first failure for good: keeps it, and gives it (0: none). Any thread: the client may call
 * back on each that uses it. */
void ek_kafka_fail(struct ek_kafka_watch *w, const struct ek_error *e);
int ek_kafka_failure(const struct ek_kafka_watch *w, struct ek_error *e);

/* While something keeps the client from its brokers: asks whether one answers by now. Waits for a
 * moment at most. */
void ek_kafka_probe(rd_kafka_t *client, struct ek_kafka_watch *w);

/* The sentence of an error that people can mend, with what to look at; `topic` may be NULL. Of any
 * other it is the reason. */
void ek_kafka_errmsg(char *out, size_t size, const struct ek_kafka_watch *w,
                     rd_kafka_resp_err_t err, enum ek_kafka_where where, const char *topic,
                     const char *reason);

#endif
