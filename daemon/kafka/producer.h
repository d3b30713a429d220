/* Producer of outputs, dead letters and alerts. Finishes in-flight messages on acknowledgment.
 *
 * Outputs keep key, timestamp and headers. They keep the partition if the output topic has as many
 * partitions as the source; otherwise the key selects it (Java's default partitioner). A message
 * rejected in a batch is sent once more alone; rejected again it becomes a dead letter. A dead
 * letter that is too large or rejected drops headers, value, key and timestamp in turn; rejection
 * of the remainder is fatal. Broker outages are retried without limit; the caller bounds the
 * messages in flight. One thread reads and serves acknowledgments. Each sending thread needs a
 * writer. Any thread may send events.
 */
#ifndef EK_DAEMON_KAFKA_PRODUCER_H
#define EK_DAEMON_KAFKA_PRODUCER_H

#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/base/wakeup.h"
#include "daemon/config/config.h"
#include "daemon/kafka/kafka_health.h"
#include "daemon/kafka/partition_offsets.h"
#include "plan/plan.h"

struct ek_event;
struct ek_output;

/* Create the producer. All arguments must outlive it. `wakeup` is signaled when acknowledgments are
 * pending. Return 0, EK_ENOMEM, or EK_ECONFIG for invalid properties of clients. */
int ek_output_new(struct ek_output **out, const struct ek_config *c,
                  struct ek_partition_offsets *partitions, struct ek_metrics *metrics,
                  struct ek_log *log, const struct ek_wakeup *wakeup, struct ek_error *e);

/* Check brokers and output topics for at most wait_ms; set *ready to whether all exist. Return 0,
 * or a fatal error if a topic stays missing. */
int ek_output_prepare(struct ek_output *o, int wait_ms, bool *ready, struct ek_error *e);
/* Return 1 if the output has as many partitions as `topic`, 0 if not, -1 without a response. Sends
 * up to two requests of at most wait_ms each. */
int ek_output_has_same_partitions(struct ek_output *o, const char *topic, int wait_ms);

/* Output of one thread. The producer must outlive it. */
struct ek_output_writer;
/* Create a writer for one sending thread. The producer must outlive it. Return 0, EK_ENOMEM or
 * EK_ELIMIT for too many writers. */
int ek_output_writer_new(struct ek_output_writer **out, struct ek_output *o, struct ek_error *e);
void ek_output_writer_free(struct ek_output_writer *t);
/* Send `bytes` in place of the message's value, with `word` in header ek-action and `plan` in
 * ek-plan-version. The message's value is not copied but kept until acknowledgment. Return 0, or a
 * fatal error, which leaves the in-flight message with the caller. */
int ek_output_writer_forward(struct ek_output_writer *o, struct ek_inflight *t, const void *bytes,
                             size_t length, uint64_t plan, enum ek_list_outcome word,
                             struct ek_error *e);
/* Set the header ek-repair of the next ek_output_writer_forward; NULL: none. The string is not
 * copied and must live until that call returns. */
void ek_output_writer_set_repair(struct ek_output_writer *o, const char *repair);
/* Forward a message that cannot be read unchanged, with ek-action: undecodable, and copy it to the
 * dead-letter topic, if there is one. Return 0, or a fatal error. */
int ek_output_writer_forward_undecodable(struct ek_output_writer *o, struct ek_inflight *t,
                                         uint64_t plan, enum ek_code code, const char *reason,
                                         struct ek_error *e);
/* Send the source message to the dead-letter topic with the error in headers. Parts that the topic
 * rejects are omitted. Return 0, or a fatal error, which leaves the in-flight message with the
 * caller. */
int ek_output_writer_dead_letter(struct ek_output_writer *o, struct ek_inflight *t,
                                 enum ek_code code, const char *reason, struct ek_error *e);
/* Finish a message that has no output; its offset may be committed. The caller must not use it
 * afterwards. */
void ek_output_finish_unsent(struct ek_output *o, struct ek_inflight *t);
/* Finish a message unsent, which the caller must not use afterwards. If its partition is still
 * assigned, it commits no further offset. */
void ek_output_abandon(struct ek_output *o, struct ek_inflight *t);
/* Send a copy of an event with its JSON to the alert topic, if configured. A lost event is logged
 * and not fatal. */
void ek_output_send_event(struct ek_output *o, const struct ek_event *v, const char *json);

/* Record of a checkpoint. Partitions are known after ek_output_prepare. */
struct ek_output_record {
    int partition;
    const char *key;
    const void *bytes; /* NULL: tombstone */
    size_t key_length, length;
    int64_t time_ms;
};
/* Return whether brokers report the state topic within wait_ms, and update the number of its
 * partitions. */
bool ek_output_has_state_topic(struct ek_output *o, int wait_ms);
/* Return the number of partitions that ek_output_has_state_topic found; 0: none yet. */
int ek_output_state_partitions(const struct ek_output *o);
/* Send a checkpoint record, which is copied, within the transaction if there is one. Return false
 * if the client rejects it: the records sent of this checkpoint are then useless. For the reading
 * thread. */
bool ek_output_send_state(struct ek_output *o, const struct ek_output_record *r);
/* At least once: return the number of unacknowledged checkpoint records. If 0, set *refused to
 * whether one was rejected since the last 0. */
size_t ek_output_state_unacked(struct ek_output *o, bool *refused);

/* Request the size limits of the topics again, without waiting. A later ek_output_poll receives the
 * response. */
void ek_output_request_limits(struct ek_output *o);

/* Exactly once (daemon/stage/transactions.h): writers send while a transaction is open and buffer
 * between two. Alerts are sent in the next transaction and kept until it commits. All functions
 * except ek_output_open belong to the reading thread. */
struct ek_txn_batch_size {
    size_t messages, bytes; /* since the last ek_output_close_batch */
    bool records;           /* alerts are pending */
    bool must_abort;        /* the client rejects records: the transaction must be aborted */
};
struct ek_txn_batch {
    struct ek_inflight *sent; /* in order within each partition; linked by `back` */
    bool must_abort;
};
/* Return the size of the current transaction. */
struct ek_txn_batch_size ek_output_in_batch(struct ek_output *o);
/* Stop sending until ek_output_open, and set *out to the sent batch. The caller takes over its
 * in-flight messages and passes each to ek_output_finish. */
void ek_output_close_batch(struct ek_output *o, struct ek_txn_batch *out);
/* Send buffered outputs, then new ones. Call it on the thread that opened the transaction. Return
 * 0, or a fatal error. */
int ek_output_open(struct ek_output *o, struct ek_error *e);
/* Return true if the client has lost its transaction and rejects every call. Then close the batch,
 * end the transaction thread and call ek_output_replace_client. */
bool ek_output_is_lost(struct ek_output *o);
/* Return true if the client makes larger batches than a topic takes since its limit was lowered:
 * librdkafka fixes their size at creation. */
bool ek_output_exceeds_limits(const struct ek_output *o);
/* Drop the records of the batch and create a client with the same transactional id, after
 * ek_output_is_lost or ek_output_exceeds_limits. Return 0, or EK_ECONFIG or EK_EIO. */
int ek_output_replace_client(struct ek_output *o, struct ek_error *e);
/* Finish a message of a closed batch and free it: its offset advances if `committed`, else it is
 * abandoned as by ek_output_abandon. */
void ek_output_finish(struct ek_output *o, struct ek_inflight *t, bool committed);
/* Finish messages that were not sent because their partition was revoked. */
void ek_output_finish_dropped(struct ek_output *o);
/* Take over a list of unfinished messages, linked by `back`; NULL is an empty list. ek_output_free
 * finishes them without moving an offset. */
void ek_output_adopt_unfinished(struct ek_output *o, struct ek_inflight *first);

/* Serve acknowledgments, waiting up to wait_ms for the first. Return 0, or an error, which is
 * fatal. */
int ek_output_poll(struct ek_output *o, int wait_ms, struct ek_error *e);
/* Return the transactional id, which the producer owns; NULL: at least once. */
const char *ek_output_transactional_id(const struct ek_output *o);
/* Return the connectivity state, which the producer owns. Any thread. */
struct ek_kafka_health *ek_output_health(struct ek_output *o);
/* Check for recovery if the client is unhealthy, which may block for less than a second. */
void ek_output_probe(struct ek_output *o);
/* Send queued records and serve acknowledgments, for at most wait_ms. */
void ek_output_flush(struct ek_output *o, int wait_ms);
/* Free the producer and drop queued records. Their messages finish without moving an offset. */
void ek_output_free(struct ek_output *o);

#endif
