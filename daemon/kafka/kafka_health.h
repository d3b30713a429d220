/* Connectivity state of a Kafka client: last error since the last successful response. Thread-safe;
 * NULL is a no-op. */
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
    EK_KAFKA_HEALTH_STATE, /* partitions wait to be restored */
};

enum { EK_KAFKA_HEALTH_TEXT = 400 };

struct ek_kafka_health_state {
    enum ek_kafka_health_kind kind;
    int64_t since_ms;    /* monotonic, of the first error */
    bool ever_responded; /* a broker has responded to this client before */
    char text[EK_KAFKA_HEALTH_TEXT];
};

struct ek_kafka_health;

/* Return a new state, or NULL if out of memory. */
struct ek_kafka_health *ek_kafka_health_new(void);
void ek_kafka_health_free(struct ek_kafka_health *t);

/* Set the error, its copied text, and, if there was none, its start. EK_KAFKA_HEALTH_NO_BROKER does
 * not replace a more specific error. */
void ek_kafka_health_report(struct ek_kafka_health *t, enum ek_kafka_health_kind kind,
                            const char *text);
/* Clear the error after a broker responds. */
void ek_kafka_health_clear(struct ek_kafka_health *t);
/* Copy the state to *out and return its kind. */
enum ek_kafka_health_kind ek_kafka_health_get(struct ek_kafka_health *t,
                                              struct ek_kafka_health_state *out);
/* Return the name of a kind, a static string: "none", "no_broker", "credentials", "tls",
 * "authorization" or "state". */
const char *ek_kafka_health_name(enum ek_kafka_health_kind kind);

#endif
