/* Transaction coordinator for exactly-once delivery: outputs and input offsets commit together.
 *
 * Workers produce while a transaction is open. At input.commit_interval or limits.transaction_bytes
 * the writers are closed, and the sent messages and their offsets pass to the transaction thread
 * (daemon/kafka/transaction_thread.h). Reading and scoring continue; outputs are buffered
 * meanwhile.
 *
 * Per input partition: messages at or above the committed offset are sent; messages at or above
 * `seen` are counted by the guard. An abort rewinds to the committed offset but keeps `seen`, so
 * messages are sent again and counted once. Checkpoints and alerts are the last part of a
 * transaction; after a crash only uncommitted alerts are repeated.
 *
 * A transaction with a message of a revoked partition is aborted. If a broker rejects a message,
 * transactions shrink until it is isolated. The objects in `tools` must outlive the coordinator.
 * For the reading thread.
 */
#ifndef EK_DAEMON_STAGE_TRANSACTIONS_H
#define EK_DAEMON_STAGE_TRANSACTIONS_H

#include "daemon/kafka/producer.h"
#include "daemon/stage/consumer.h"

struct ek_txn_coordinator;

struct ek_txn_coordinator_tools {
    const struct ek_config *config;
    struct ek_partition_offsets *partitions;
    struct ek_input *input;
    struct ek_output *output;                     /* prepared by ek_output_prepare */
    struct ek_checkpoint_store *checkpoint_store; /* NULL: no checkpoints */
    struct ek_metrics *metrics;
    struct ek_log *log;
    const struct ek_wakeup *wakeup;
};

/* Create a coordinator and start its transaction thread, which opens the first transaction. Return
 * 0, EK_EIO if the thread cannot start, or EK_ENOMEM. */
int ek_txn_coordinator_new(struct ek_txn_coordinator **out,
                           const struct ek_txn_coordinator_tools *tools, struct ek_error *e);

/* Finish a committed or aborted transaction, and end the open one if due or `now`. Never waits for
 * a broker. Return 0, or an error, which is fatal. */
int ek_txn_coordinator_step(struct ek_txn_coordinator *t, bool now, struct ek_error *e);
/* Return false while the committed offsets are unknown: then no message may be read. */
bool ek_txn_coordinator_may_read(const struct ek_txn_coordinator *t);
/* Return the limit of messages in flight during the search for a rejected message; 0: no limit. */
size_t ek_txn_coordinator_inflight_max(const struct ek_txn_coordinator *t);
/* Return the milliseconds until the next transaction is due, at most `most`. */
int ek_txn_coordinator_wait_ms(const struct ek_txn_coordinator *t, int most);

/* Abort the open transaction and stop within wait_ms. Return false if a client call still blocks;
 * then ek_txn_coordinator_free waits until a broker responds. */
bool ek_txn_coordinator_stop(struct ek_txn_coordinator *t, int64_t wait_ms);
/* Free the coordinator, after ek_txn_coordinator_stop; unfinished messages pass to the producer.
 * NULL is allowed. */
void ek_txn_coordinator_free(struct ek_txn_coordinator *t);

#endif
