/* Thread that makes all transactional calls of the producer.
 *
 * librdkafka allows one transactional call at a time and blocks while brokers are away; the reader
 * continues meanwhile. The reader requests the end of a transaction; `wakeup` is signaled when it
 * is done. The next transaction opens at once after a commit. After an abort the client cannot be
 * used any more, see daemon/stage/transactions.c.
 *
 *     opening -> open -> committing -> opening
 *                open -> aborting, or committing failed -> aborting -> aborted
 *
 * Any thread may produce from the `opened` hook until the reader requests the end; the reader must
 * close the writers first (daemon/kafka/output_writer.h). Retriable errors are retried, abortable
 * ones abort; only fatal errors are returned. After most of them a new client with the same
 * transactional id can continue, ek_txn_is_lost.
 *
 * The internal lock is a leaf, not held during hooks or client calls. The hook may take hold queue
 * locks. client, watch and wakeup must outlive the thread. One calling thread.
 */
#ifndef EK_DAEMON_KAFKA_TRANSACTION_THREAD_H
#define EK_DAEMON_KAFKA_TRANSACTION_THREAD_H

#include "daemon/base/wakeup.h"
#include "daemon/kafka/errors.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_txn;

enum ek_txn_state {
    EK_TXN_BUSY,      /* in transition: `wakeup` will be signaled */
    EK_TXN_OPEN,      /* can be ended */
    EK_TXN_COMMITTED, /* returned once; the next transaction is open */
    EK_TXN_ABORTED,   /* the last state */
    EK_TXN_BROKEN,    /* fatal error */
};

struct ek_txn_tools {
    rd_kafka_t *client; /* with a transactional.id */
    struct ek_kafka_watch *watch;
    const struct ek_wakeup *wakeup;
    void *context;
    /* Called on the transaction thread after a transaction opens. An error is fatal. */
    int (*opened)(void *context, struct ek_error *e);
};

/* Return true if the error means that this producer has lost its transactional id or transaction,
 * and set a fatal message in *e; else *e is unchanged. */
bool ek_txn_is_fenced(rd_kafka_resp_err_t err, const char *text, struct ek_error *e);
/* Return true if a fatal error of a client concerns its transactional id, epoch or sequence
 * numbers: a new client gets new ones, and brokers abort the open transaction. */
bool ek_txn_is_recoverable(rd_kafka_resp_err_t err);

/* Create the thread's state; ek_txn_start starts the thread. The tools are copied. Return 0 or
 * EK_ENOMEM. */
int ek_txn_new(struct ek_txn **out, const struct ek_txn_tools *tools, struct ek_error *e);
/* Start the thread, register with the coordinator and open a transaction. Return 0, or EK_EIO if
 * the thread cannot start. */
int ek_txn_start(struct ek_txn *t, struct ek_error *e);

/* Return the state; EK_TXN_COMMITTED is returned once per commit. With EK_TXN_BROKEN set *e to the
 * fatal error, otherwise *e is unchanged. */
enum ek_txn_state ek_txn_state(struct ek_txn *t, struct ek_error *e);

/* Return true if the error of EK_TXN_BROKEN is recoverable by a new client. */
bool ek_txn_is_lost(struct ek_txn *t);

/* Start the commit of the open transaction, without waiting; ek_txn_state reports the result. Takes
 * ownership of `offsets` (may be NULL or empty) and `group`. */
void ek_txn_commit(struct ek_txn *t, rd_kafka_topic_partition_list_t *offsets,
                   rd_kafka_consumer_group_metadata_t *group);
/* Start the abort of the open transaction, without waiting; ek_txn_state reports the result. */
void ek_txn_abort(struct ek_txn *t);
/* Return the error that caused the last abort; 0 if the caller requested it. */
rd_kafka_resp_err_t ek_txn_abort_reason(struct ek_txn *t);

/* Abort the open transaction and end the thread within wait_ms. Return false if a client call still
 * blocks, which only a broker response can end. */
bool ek_txn_stop(struct ek_txn *t, int64_t wait_ms);
/* Wait for the thread without a limit and free it. NULL is allowed. */
void ek_txn_free(struct ek_txn *t);

#endif
