/* The producer: outputs, dead letters and alerts out, tickets done when the broker has them.
 *
 * Key, timestamp and headers of the consumed message are kept. The partition is kept too where the
 * output has as many partitions as the message's topic; else the key decides (as Java's default
 * does). A message that the broker refuses, such as one too large, is sent once more in a batch of
 * its own; refused again it becomes a dead letter. A dead letter that does not fit, or is refused,
 * goes with less: without the headers the message came with, its value, its key, its time; only one
 * that is refused with nothing left of it is fatal. A broker that is away is waited for without
 * end: the number in flight is the caller's bound. Owner: the caller. Threads: one that reads and
 * serves acknowledgements; each that sends has an outlet of its own, and any may tell an event.
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

/* `bell` rings when there are acknowledgements to serve; it must outlive the output. */
int ek_output_new(struct ek_output **out, const struct ek_config *c,
                  struct ek_partition_offsets *lanes, struct ek_metrics *metrics,
                  struct ek_log *log, const struct ek_wakeup *wakeup, struct ek_error *e);

/* Looks for the brokers and the topics that are written, for at most wait_ms; *ready tells whether
 * all are there. Fails for good when a topic has not been there for long enough. */
int ek_output_prepare(struct ek_output *o, int wait_ms, bool *ready, struct ek_error *e);
/* Whether the output has as many partitions as this topic, so that messages keep theirs. Asks a
 * broker, twice, for at most wait_ms each; -1 when there is no answer. */
int ek_output_has_same_partitions(struct ek_output *o, const char *topic, int wait_ms);

/* What one thread sends with. The output must outlive it. */
struct ek_output_writer;
int ek_output_writer_new(struct ek_output_writer **out, struct ek_output *o, struct ek_error *e);
void ek_output_writer_free(struct ek_output_writer *t);
/* The two below leave the ticket with the caller when they fail, which ends the stage.
 * Sends `bytes` in place of the ticket's message with `word` in header ek-action. Bytes that
 * are the message's own are not copied, the message is kept until it is acknowledged. */
int ek_output_writer_forward(struct ek_output_writer *o, struct ek_inflight *t, const void *bytes,
                             size_t length, uint64_t plan, enum ek_list_outcome word,
                             struct ek_error *e);
/* Sends the ticket's message as it came, with the reason in headers, and as far as the topic takes
 * it. */
int ek_output_writer_dead_letter(struct ek_output_writer *o, struct ek_inflight *t,
                                 enum ek_code code, const char *reason, struct ek_error *e);
/* Finishes a ticket for which nothing was to be sent. */
void ek_output_finish_unsent(struct ek_output *o, struct ek_inflight *t);
/* Gives a ticket up without sending anything: its partition, if it is still ours, commits nothing
 * more. */
void ek_output_abandon(struct ek_output *o, struct ek_inflight *t);
/* Sends one event to the alert topic, if there is one. Losing it is logged, not fatal. */
void ek_output_send_event(struct ek_output *o, const struct ek_event *v, const char *json);

/* A record of a state; the topic has so many partitions once the output was prepared. False when
 * the client takes no more: what was sent of the base is worth nothing then. Thread: the one that
 * reads. */
struct ek_output_record {
    int partition;
    const char *key;
    const void *bytes; /* NULL: the key is deleted */
    size_t key_length, length;
    int64_t time_ms;
};
int ek_output_state_partitions(const struct ek_output *o);
bool ek_output_send_state(struct ek_output *o, const struct ek_output_record *r);
/* At least once: how many of them the brokers have not acknowledged yet; when that is none, whether
 * one was refused since it was so last. */
size_t ek_output_state_unacked(struct ek_output *o, bool *refused);

/* Asks the brokers again how large a message may be; the answer comes with a later poll. */
void ek_output_request_limits(struct ek_output *o);

/* Exactly once (daemon/stage/transactions.h): outlets send while a transaction is open, and
 * keep what comes between two. Alerts go with the next one and are kept until it is committed. All
 * functions but ek_output_open belong to the thread that reads. */
struct ek_txn_batch_size {
    size_t messages, bytes; /* since the last cut */
    bool records;           /* something else waits to be sent */
    bool spoilt;            /* the client takes nothing more: the transaction must be aborted */
};
struct ek_txn_batch {
    struct ek_inflight *sent; /* those of a partition in their order; linked by `back` */
    bool spoilt;
};
struct ek_txn_batch_size ek_output_in_batch(struct ek_output *o);
/* Nothing is sent any more until ek_output_open; the tickets of what was sent are the caller's. */
void ek_output_close_batch(struct ek_output *o, struct ek_txn_batch *out);
/* Sends what came since, then whatever comes. On the thread that has opened a transaction. */
int ek_output_open(struct ek_output *o, struct ek_error *e);
/* Alerts as the last of a transaction; false when the client takes them no more. And what became
 * of them: those that were not committed are sent again. */
bool ek_output_send_records(struct ek_output *o);
void ek_output_finish_records(struct ek_output *o, bool committed);
/* Finishes a ticket of a cut. */
void ek_output_finish(struct ek_output *o, struct ek_inflight *t, bool committed);
/* Finishes tickets that could not be sent because their partition went away. */
void ek_output_finish_dropped(struct ek_output *o);
/* Has tickets that were never settled finished when the output is freed. */
void ek_output_adopt_unfinished(struct ek_output *o, struct ek_inflight *first);

/* Serves acknowledgements, waiting up to wait_ms for the first. Fails only for good. */
int ek_output_poll(struct ek_output *o, int wait_ms, struct ek_error *e);
/* What keeps the producer from its brokers; any thread. And asks, in trouble, whether it is over.
 */
struct ek_kafka_health *ek_output_health(struct ek_output *o);
void ek_output_probe(struct ek_output *o);
/* Sends what is queued now and serves acknowledgements, for at most wait_ms. */
void ek_output_flush(struct ek_output *o, int wait_ms);
/* Throws away what is still queued: their tickets are finished without moving any offset. */
void ek_output_free(struct ek_output *o);

#endif
