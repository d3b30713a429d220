/* Classification and reporting of Kafka errors; the only place that interprets error codes.
 *
 * retriable: the client or the next call recovers. message: only this message cannot be delivered.
 * abortable: the transaction, or the in-flight messages of the partitions, are void. fatal: the
 * process must end. ek_kafka_topic_of_error names errors an operator can fix (credentials, TLS,
 * authorization); these have their own metrics and messages.
 */
#ifndef EK_DAEMON_KAFKA_ERRORS_H
#define EK_DAEMON_KAFKA_ERRORS_H

#include "base/error.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/config/config.h"
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

/* Operation that failed. The same code may be retriable for one and fatal for another. */
enum ek_kafka_where {
    EK_KAFKA_CLIENT,
    EK_KAFKA_CONSUME,
    EK_KAFKA_COMMIT,
    EK_KAFKA_DELIVER,
    EK_KAFKA_TXN,   /* call of a transactional producer; flags of its error object take
                     * precedence */
    EK_KAFKA_ADMIN, /* topic metadata and creation; an error that is not retriable is final */
};

/* Return the class of an error that occurred in this kind of call. */
enum ek_kafka_class ek_kafka_classify(rd_kafka_resp_err_t err, enum ek_kafka_where where);
/* Return the operator-fixable category of an error. `reason` is librdkafka's text or NULL. It is
 * needed because under TLS 1.3 a rejected client certificate appears as a transport error. */
enum ek_kafka_topic_of_error ek_kafka_topic_of_error(rd_kafka_resp_err_t err, const char *reason);
/* Return the name of a class, a static string: "retriable", "message", "abortable" or "fatal". */
const char *ek_kafka_class_name(enum ek_kafka_class class);

/* State shared by the callbacks of one client; its opaque pointer. */
struct ek_kafka_watch {
    struct ek_log *log;
    struct ek_metrics *metrics; /* may be NULL */
    const char *role;           /* "consumer", "producer" */
    void *owner;
    struct ek_kafka_health *trouble; /* may be NULL */
    atomic_int failed;               /* nonzero after the first fatal error; see ek_kafka_failure */
    struct ek_error failure;         /* the first fatal error */
    /* Identity of the client for error messages; "" if not set. */
    char user[100], mechanism[50], group[EK_GROUP_BYTES_MAX + 1], group_instance[EK_INSTANCE_BYTES],
        transactional_id[EK_TRANSACTIONAL_ID_BYTES];
    _Atomic int64_t disturbed_ms; /* monotonic time of the last lost or silent broker; 0: none */
    atomic_uint unknown_topics;   /* fetches from a topic that the broker does not know */
    bool hides_debug;             /* librdkafka's debug lines were not requested by the user */
    bool own_certificate;         /* a client certificate is configured */
    atomic_int certificate; /* X509_V_ERR_* of the last rejected broker certificate, 0: none */
};

/* Set callbacks and the opaque of a complete configuration, and copy the client's identity from
 * it. */
void ek_kafka_watch_attach(struct ek_kafka_watch *w, rd_kafka_conf_t *conf);

/* Observe what librdkafka shows only in debug lines. Count fetches from unknown topics in
 * `unknown_topics`: a topic was deleted and created again. The count rises before the first message
 * of the new topic is queued. Fail if the brokers lack the consumer protocol that the
 * configuration selects. */
void ek_kafka_watch_consumer(struct ek_kafka_watch *w, rd_kafka_conf_t *conf);

/* Count and log an error; store a fatal one as the failure of the watch. Return the class. */
enum ek_kafka_class ek_kafka_report(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                    enum ek_kafka_where where, const char *reason);
/* Count and log an error of one topic, as ek_kafka_report; `topic` may be NULL. Return its class.
 */
enum ek_kafka_class ek_kafka_report_topic(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                          enum ek_kafka_where where, const char *topic,
                                          const char *reason);

/* Count and log a fatal client error with its cause, and store it as the failure of the watch. */
void ek_kafka_report_fatal(struct ek_kafka_watch *w, rd_kafka_t *client, const char *reason);

/* Count and log an error of a known class. The failure of the watch stays unchanged. */
void ek_kafka_report_class(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                           enum ek_kafka_class class, const char *reason);

/* Remove the stored error when its client is replaced, while no other thread uses the watch. */
void ek_kafka_reset_failure(struct ek_kafka_watch *w);
/* Store a copy of a fatal error, unless one is already stored. Any thread. */
void ek_kafka_fail(struct ek_kafka_watch *w, const struct ek_error *e);
/* Copy the stored error to *e (may be NULL) and return its code, or 0 if there is none. Any thread.
 */
int ek_kafka_failure(const struct ek_kafka_watch *w, struct ek_error *e);

/* Read a password from its file, in case it has changed; log a file that cannot be used. librdkafka
 * hides repeated errors for half a minute, so the callers are a rejected login and those that wait
 * for one. */
void ek_kafka_renew_login(const struct ek_kafka_watch *w, rd_kafka_t *client);

/* Request metadata if the client is marked unhealthy, and clear the mark if a broker responds.
 * Renew a rejected login. Blocks for less than a second. */
void ek_kafka_probe(rd_kafka_t *client, struct ek_kafka_watch *w);

/* Write an error message to `out`, cut to fit. Errors an operator can fix include a remedy; others
 * use `reason`. `topic` and `reason` may be NULL. */
void ek_kafka_errmsg(char *out, size_t size, const struct ek_kafka_watch *w,
                     rd_kafka_resp_err_t err, enum ek_kafka_where where, const char *topic,
                     const char *reason);

#endif
