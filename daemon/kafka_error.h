/* Every Kafka error is classified here and nowhere else.
 *
 * retriable: the client or the next call mends it; message: this one message cannot be delivered,
 * others can; abort: what is in flight for the partitions is void; fatal: the process cannot go on.
 */
#ifndef EK_DAEMON_KAFKA_ERROR_H
#define EK_DAEMON_KAFKA_ERROR_H

#include "base/error.h"
#include "daemon/log.h"
#include "daemon/metrics.h"

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>

enum ek_kafka_class {
    EK_KAFKA_RETRIABLE,
    EK_KAFKA_MESSAGE,
    EK_KAFKA_ABORT,
    EK_KAFKA_FATAL,
};

/* Where the error met us: the same code may be a passing thing for one and the end for another. */
enum ek_kafka_where {
    EK_KAFKA_CLIENT,
    EK_KAFKA_CONSUME,
    EK_KAFKA_COMMIT,
    EK_KAFKA_DELIVER,
    EK_KAFKA_TXN, /* a transactional call, which says most of it itself */
};

enum ek_kafka_class ek_kafka_classify(rd_kafka_resp_err_t err, enum ek_kafka_where where);
const char *ek_kafka_class_name(enum ek_kafka_class class);

/* What the callbacks of one client share; the client's opaque pointer. */
struct ek_kafka_watch {
    struct ek_log *log;
    struct ek_metrics *metrics; /* may be NULL */
    const char *role;           /* "consumer", "producer" */
    void *owner;
    atomic_int failed;       /* 0 until something fatal came; see ek_kafka_failure */
    struct ek_error failure; /* what it was */
};

/* Counts, logs, and keeps a fatal error as the failure of the watch. Returns the class. */
enum ek_kafka_class ek_kafka_report(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                    enum ek_kafka_where where, const char *reason);

/* The same with a class that is known already, which is not kept. */
void ek_kafka_tell(struct ek_kafka_watch *w, rd_kafka_resp_err_t err, enum ek_kafka_class class,
                   const char *reason);

/* The first failure for good: keeps it, and gives it (0: none). Any thread: the client may call
 * back on each that uses it. */
void ek_kafka_fail(struct ek_kafka_watch *w, const struct ek_error *e);
int ek_kafka_failure(const struct ek_kafka_watch *w, struct ek_error *e);

/* The two callbacks, to be set on a configuration whose opaque is a watch. */
void ek_kafka_on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque);
void ek_kafka_on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text);

#endif
