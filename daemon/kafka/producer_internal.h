/* Shared definitions of the producer: producer.c, output_writer.c and the transaction client. */
#ifndef EK_DAEMON_KAFKA_PRODUCER_INTERNAL_H
#define EK_DAEMON_KAFKA_PRODUCER_INTERNAL_H

#include "daemon/config/config.h"
#include "daemon/kafka/errors.h"
#include "daemon/kafka/producer.h"
#include "daemon/kafka/side_records.h"

#include <stdatomic.h>

enum { EK_TOPIC_LIMITS_TOPICS = 4, EK_LIMIT_ASSUMED = 1048588 };

/* Maximum batch size (`max.message.bytes`) of each output topic.
 *
 * Senders check each message, because a message the broker rejects would void its transaction, and
 * again on each retry. Limits are requested at the start and periodically. Without a response (no
 * DescribeConfigs permission, an old broker) the broker's default is assumed and logged once. Sizes
 * are batch bytes before compression, so a batch that fits only when compressed counts as too
 * large. */
struct ek_topic_limits;

/* Return the limit of topic `number` in bytes. Any thread. */
size_t ek_topic_limits_get(const struct ek_topic_limits *l, size_t number);
/* Return the batch bytes of a single message. headers may be NULL. */
size_t ek_topic_limits_batch_bytes(size_t key, size_t value, const rd_kafka_headers_t *headers);

/* Properties of the checkpoint topic; -1 if the broker does not return one. */
struct ek_state_topic_facts {
    int partitions; /* 0: missing */
    int compacted;
    size_t batch_bytes;   /* maximum batch size */
    int input_partitions; /* of the largest input; 0: no input exists */
};

/* Check that the checkpoint topic is compacted and accepts records of 260 KiB. Return 0, or fatal
 * EK_ESTATE with the command that fixes the topic. */
int ek_state_topic_check(const struct ek_config *c, const struct ek_state_topic_facts *facts,
                         struct ek_error *e);

enum { EK_OUTPUT_WRITERS_MAX = EK_WORKERS_MAX };
/* Index of the output topic in ek_topic_limits, also without one; other topics follow if
 * configured. */
enum { EK_WRITES_RANKED, EK_WRITES_OTHERS };

/* Bits of `ek_inflight.outcome`: kind of output, sent alone, omitted parts, and above CODE_SHIFT
 * the error code of a dead letter. */
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
    COPY = 128, /* the dead letter is a copy: the message itself is forwarded */
    CODE_SHIFT = 8
};

/* Outbound record. */
struct ek_outbound {
    struct ek_inflight *inflight;   /* NULL: sent, or owned by a buffered copy */
    rd_kafka_topic_t *const *topic; /* of ek_output, which may replace it while no transaction is
                                     * open; NULL: no record is sent */
    size_t number;                  /* index of the topic in ek_topic_limits */
    int partition;
    const void *key, *bytes; /* the source message's key and value, or a re-scored value */
    size_t key_length, length;
    bool owns_bytes; /* `bytes` is a copy owned by the record */
    rd_kafka_headers_t *headers;
    struct ek_outbound *copy; /* exactly once: dead-letter copy sent with it, owned; NULL: none */
};

struct ek_output {
    rd_kafka_t *client;
    rd_kafka_t
        *single_client; /* at least once: client with batches of one message; NULL until needed */
    rd_kafka_topic_t *ranked, *dead, *alerts, *state; /* NULL: not configured */
    size_t dead_number, alerts_number, state_number;  /* indexes in ek_topic_limits */
    int state_partitions;
    size_t state_unacked; /* at least once: unacknowledged checkpoint records */
    bool state_refused;   /* one of them was rejected */
    const struct ek_config *config;
    struct ek_partition_offsets *partitions;
    struct ek_kafka_watch watch;
    const struct ek_wakeup *wakeup;
    struct ek_topic_limits *limits;
    int broker;               /* a live broker from topic metadata, -1: none */
    int64_t batch_bytes;      /* maximum of a batch of several messages */
    int64_t missing_since_ms; /* time a topic was first missing; 0: none */
    bool closing;
    atomic_bool given_up; /* fatal error: senders stop waiting for queue space */
    /* Exactly once only. */
    char transactional_id[EK_TRANSACTIONAL_ID_BYTES];
    struct ek_txn_records *records; /* NULL: at least once */
    struct ek_output_writer *output_writer[EK_OUTPUT_WRITERS_MAX];
    int output_writers, first;            /* index of the writer opened first */
    atomic_size_t sent_count, sent_bytes; /* since the last closed batch; without an output topic
                                           * also at least once */
    atomic_bool must_abort;               /* the client rejected a record: abort */
    atomic_bool has_dropped;
    struct ek_inflight *unfinished; /* finished when the clients are freed */
};

/* Return the timestamp of the output of a message; 0: the time of sending. */
int64_t ek_output_timestamp(const struct ek_inflight *t);
/* Send a dead letter, truncated to the topic's limit. output_writer: the writer that buffers it
 * between transactions; NULL: send directly. Return 0, or a fatal error, which leaves the in-flight
 * message with the caller. */
int ek_output_send_dead_letter(struct ek_output *o, struct ek_output_writer *output_writer,
                               struct ek_inflight *t, enum ek_code code, const char *reason,
                               struct ek_error *e);
/* At least once: send a copy of an undecodable message to the dead-letter topic, after the message
 * was acknowledged. Return false if there is no copy to wait for: the topic does not take it, which
 * is logged. */
bool ek_output_copy(struct ek_output *o, struct ek_inflight *t);
/* At least once: finish a message whose output has `bytes` bytes, after its copy to the dead-letter
 * topic, if it needs one. */
void ek_output_finish_sent(struct ek_output *o, struct ek_inflight *t, size_t bytes);
/* At least once, without an output topic: finish the messages that workers have processed. */
void ek_output_finish_observed(struct ek_output *o);
/* At least once: send a rejected dead letter again with fewer parts. Return 0, or a fatal error,
 * which leaves the in-flight message with the caller. */
int ek_output_resend_truncated(struct ek_output *o, struct ek_inflight *t,
                               const rd_kafka_message_t *report, struct ek_error *e);

#endif
