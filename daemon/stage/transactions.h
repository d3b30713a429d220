/* Exactly once: what was read, what came of it and how far we are, in one transaction after the
 * other.
 *
 * Workers hand outputs and dead letters over while a transaction is open. It is ended when it is
 * old or large enough (input.commit_interval, limits.transaction_bytes): the gates are shut, what
 * was handed over is gathered, and the offsets behind it are given to the thread of the
 * transactions (daemon/kafka/transaction_thread.h) with it. Meanwhile reading and scoring go on,
 * and outputs wait at the gates. Two things hold for each input partition: a message is sent if it
 * lies at or behind the committed offset, and taken into account by the guard if it lies at or
 * behind `seen`. After an abort reading goes back to the committed offset, `seen` does not: what
 * comes again is sent again and counted once. A base of the state is the last part of a transaction
 * now and then, and alerts go with it: what comes again after a crash is what had not been told. A
 * transaction that has a message of a partition which is not ours any more is aborted. Where a
 * broker refuses a message, fewer go together until it is found out. Owner: the caller; what it is
 * made with must outlive it. Threads: the one that reads.
 */
#ifndef EK_DAEMON_STAGE_TRANSACTIONS_H
#define EK_DAEMON_STAGE_TRANSACTIONS_H

#include "daemon/kafka/producer.h"
#include "daemon/stage/consumer.h"

struct ek_txn_coordinator;

struct ek_txn_coordinator_tools {
    const struct ek_config *config;
    struct ek_partition_offsets *lanes;
    struct ek_input *input;
    struct ek_output *output;                     /* that ek_output_prepare has found ready */
    struct ek_checkpoint_store *checkpoint_store; /* of the state; NULL: none is kept */
    struct ek_metrics *metrics;
    struct ek_log *log;
    const struct ek_wakeup *wakeup;
};

int ek_txn_coordinator_new(struct ek_txn_coordinator **out,
                           const struct ek_txn_coordinator_tools *tools, struct ek_error *e);

/* Finishes what was committed or aborted and ends what is due; `now`: ends it in any case. Never
 * waits for a broker. Fails only for good. */
int ek_txn_coordinator_step(struct ek_txn_coordinator *t, bool now, struct ek_error *e);
/* How many messages are to be in flight, because a broker has refused one that is to be found out;
 * 0: as many as ever. */
size_t ek_txn_coordinator_inflight_max(const struct ek_txn_coordinator *t);
/* How long until something is due, at most `most`. */
int ek_txn_coordinator_wait_ms(const struct ek_txn_coordinator *t, int most);

/* Aborts what is open and ends, within wait_ms; false when the client does not come back in time:
 * then freeing waits until a broker answers. */
bool ek_txn_coordinator_stop(struct ek_txn_coordinator *t, int64_t wait_ms);
void ek_txn_coordinator_free(struct ek_txn_coordinator *t);

#endif
