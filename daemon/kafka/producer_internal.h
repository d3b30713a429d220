/* What the files of the producer share: daemon/kafka/producer.c (clients and acknowledgements),
 * daemon/kafka/producer.c (whether what it writes to is there),
 * daemon/kafka/output_writer.c (what workers send with), daemon/kafka/dead_letters.c; and the
 * client for transactions. */
#ifndef EK_DAEMON_KAFKA_PRODUCER_INTERNAL_H
#define EK_DAEMON_KAFKA_PRODUCER_INTERNAL_H

#include "daemon/config/instance.h"
#include "daemon/kafka/errors.h"
#include "daemon/kafka/topic_limits.h"
#include "daemon/kafka/producer.h"
#include "daemon/kafka/side_records.h"

#include <stdatomic.h>

enum { EK_OUTPUT_WRITERS_MAX = EK_WORKERS_MAX };
/* Topics that are written, as the limits number them; the others as far as there are any. */
enum { EK_WRITES_RANKED, EK_WRITES_DEAD, EK_WRITES_OTHERS };

/* What a ticket remembers: the kind of its output, whether it went out alone, what of the message
 * it goes without, and for dead letters the code of the reason above that. */
enum ek_outcome {
    PASSED,
    ROUTED,
    DEAD,
    KIND = 3,
    ALONE = 4,
    LEFT_HEADERS = 8,
    LEFT_VALUE = 16,
    LEFT_KEY = 32,
    LEFT_TIME = 64,
    LEFT = LEFT_HEADERS | LEFT_VALUE | LEFT_KEY | LEFT_TIME,
    CODE_SHIFT = 7
};

/* One message on its way out. */
struct ek_outbound {
    struct ek_inflight *inflight; /* NULL: it was sent, or is with somebody else */
    rd_kafka_topic_t *topic;
    size_t number; /* of the topic, among the limits */
    int partition;
    const void *key, *bytes; /* the ticket's message's own, or bytes of a list with other scores */
    size_t key_length, length;
    bool own; /* the bytes: a copy for as long as it waits */
    rd_kafka_headers_t *headers;
};

struct ek_output {
    rd_kafka_t *client;
    rd_kafka_t *alone; /* at least once: sends batches of one message; NULL until it is needed */
    rd_kafka_topic_t *ranked, *dead, *alerts, *state; /* the last two may be NULL */
    size_t alerts_number, state_number;               /* among the limits */
    int state_partitions;
    size_t state_unacked; /* at least once: records of the state on their way */
    bool state_refused;   /* and one of them did not arrive */
    const struct ek_config *config;
    struct ek_partition_offsets *lanes;
    struct ek_kafka_watch watch;
    const struct ek_wakeup *wakeup;
    struct ek_topic_limits *limits;
    int some_broker;          /* that was there when topics were looked for; -1 */
    int64_t batch_bytes;      /* the most of several messages together */
    int64_t missing_since_ms; /* a topic was found missing; 0: not */
    bool closing;
    atomic_bool given_up; /* a failure for good: who waits for room need not */
    /* Exactly once. */
    char transactional_id[EK_TRANSACTIONAL_ID_BYTES];
    struct ek_txn_records *records; /* NULL: at least once */
    struct ek_output_writer *output_writer[EK_OUTPUT_WRITERS_MAX];
    int output_writers, first;          /* whose gate is opened first */
    atomic_size_t handed, handed_bytes; /* since the last cut */
    atomic_bool spoilt;                 /* the client refused something: to be aborted */
    atomic_bool some_dropped;
    struct ek_inflight *orphans; /* to be finished when the client is gone */
};

rd_kafka_t *ek_output_client(struct ek_output *o);
struct ek_kafka_watch *ek_output_delivery_watch(struct ek_output *o);
/* The time that it goes out with; 0: now. */
int64_t ek_output_timestamp(const struct ek_inflight *t);
/* Whether the topic takes one of that size; EK_ELIMIT. What no batch can hold must not reach the
 * broker, which would refuse others with it. */
int ek_outbound_check(const struct ek_output *o, const struct ek_outbound *p, struct ek_error *e);
/* Sends it, through the outlet where there is one. Its headers are gone in any case; on failure the
 * ticket is the caller's again, unless it was dropped on the way. */
int ek_outbound_send(struct ek_output *o, struct ek_output_writer *output_writer,
                     struct ek_outbound *p, struct ek_error *e);
void ek_outbound_release(struct ek_outbound *p);

/* Sends a ticket's message to the dead letters, with as much of it as that topic takes; through the
 * outlet where there is one. On failure, which is for good, the ticket is the caller's. */
int ek_output_send_dead_letter(struct ek_output *o, struct ek_output_writer *output_writer,
                               struct ek_inflight *t, enum ek_code code, const char *reason,
                               struct ek_error *e);
/* At least once: sends a dead letter that a broker refused once more, with less. Likewise. */
int ek_output_resend_truncated(struct ek_output *o, struct ek_inflight *t,
                               const rd_kafka_message_t *report, struct ek_error *e);

#endif
