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

enum ek_trouble_kind {
    EK_TROUBLE_NONE,
    EK_TROUBLE_NO_BROKER,
    EK_TROUBLE_CREDENTIALS,
    EK_TROUBLE_TLS,
    EK_TROUBLE_AUTHORISATION,
    EK_TROUBLE_STATE, /* partitions wait for their state */
};

enum { EK_TROUBLE_TEXT = 400 };

struct ek_trouble_state {
    enum ek_trouble_kind kind;
    int64_t since_ms; /* monotonic, of the first word of it */
    bool ever_heard;  /* a broker has answered this client before */
    char text[EK_TROUBLE_TEXT];
};

struct ek_trouble;

/* NULL without memory. */
struct ek_trouble *ek_trouble_new(void);
void ek_trouble_free(struct ek_trouble *t);

/* A client reports. That no broker answers does not hide a reason that is known. */
void ek_trouble_tell(struct ek_trouble *t, enum ek_trouble_kind kind, const char *text);
/* A broker answered: it is over. */
void ek_trouble_heard(struct ek_trouble *t);
/* How things stand; returns the kind. */
enum ek_trouble_kind ek_trouble_look(struct ek_trouble *t, struct ek_trouble_state *out);
/* "none", "no_broker", "credentials", "tls", "authorisation", "state". */
const char *ek_trouble_word(enum ek_trouble_kind kind);

#endif
