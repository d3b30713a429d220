/* What keeps a Kafka client from its brokers, until one answers again: for /ready, and for the
 * error of who waited in vain.
 *
 * Owner: the caller. Threads: any. A NULL trouble takes everything and has none.
 */
#ifndef EK_DAEMON_KAFKA_KAFKA_HEALTH_H
#define EK_DAEMON_KAFKA_KAFKA_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ek_kafka_health_kind {
    EK_KAFKA_HEALTH_NONE,
    EK_KAFKA_HEALTH_NO_BROKER,
    EK_KAFKA_HEALTH_CREDENTIALS,
    EK_KAFKA_HEALTH_TLS,
    EK_KAFKA_HEALTH_AUTHORIZATION,
    EK_KAFKA_HEALTH_STATE, /* partitions wait for their state */
};

enum { EK_KAFKA_HEALTH_TEXT = 400 };

struct ek_kafka_health_state {
    enum ek_kafka_health_kind kind;
    int64_t since_ms; /* monotonic, of the first word of it */
    bool ever_heard;  /* a broker has answered this client before */
    char text[EK_KAFKA_HEALTH_TEXT];
};

struct ek_kafka_health;

/* NULL without memory. */
struct ek_kafka_health *ek_kafka_health_new(void);
void ek_kafka_health_free(struct ek_kafka_health *t);

/* A client reports. That no broker answers does not hide a reason that is known. */
void ek_kafka_health_report(struct ek_kafka_health *t, enum ek_kafka_health_kind kind,
                            const char *text);
/* A broker answered: it is over. */
void ek_kafka_health_clear(struct ek_kafka_health *t);
/* How things stand; returns the kind. */
enum ek_kafka_health_kind ek_kafka_health_get(struct ek_kafka_health *t,
                                              struct ek_kafka_health_state *out);
/* "none", "no_broker", "credentials", "tls", "authorization", "state". */
const char *ek_kafka_health_name(enum ek_kafka_health_kind kind);

#endif
