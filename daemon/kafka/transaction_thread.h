/* The transactions of the producer: one thread that opens and ends them.
 *
 * librdkafka takes one transactional call at a time and blocks in it, for as long as brokers are
 * away. So this thread makes all of them, and whoever reads goes on reading. A transaction is open
 * most of the time. The reader decides when it ends and asks for it; the bell rings when that is
 * done. After a commit the next transaction is opened at once; after an abort only when the reader
 * says so, because it must first take back what was to follow the aborted messages.
 *
 *     opening -> open -> committing -> opening
 *                open -> aborting, or committing failed -> aborting -> aborted -> opening
 *
 * Messages may be produced from when the `opened` hook is called until the reader asks for the end,
 * by any thread; shutting them out in time is the reader's job (daemon/kafka/output_writer.h).
 * Every error is classified by what the client says of it: to be repeated (the same call again),
 * to be aborted, or the end. Only the end comes out as an error.
 * Lock order: the lock inside is a leaf; it is held for a few assignments and never while a hook or
 * the client is called. The hook may take the locks of gates.
 * Owner: the caller; client, watch and bell must outlive it. Threads: one that asks, all functions
 * are its.
 */
#ifndef EK_DAEMON_KAFKA_TRANSACTION_THREAD_H
#define EK_DAEMON_KAFKA_TRANSACTION_THREAD_H

#include "daemon/base/wakeup.h"
#include "daemon/kafka/errors.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_txn;

enum ek_txn_state {
    EK_TXN_BUSY,      /* neither of these: the bell will ring */
    EK_TXN_OPEN,      /* may be ended */
    EK_TXN_COMMITTED, /* told once; the next one is being opened */
    EK_TXN_ABORTED,   /* waits for ek_txn_reopen */
    EK_TXN_BROKEN,    /* cannot go on */
};

struct ek_txn_tools {
    rd_kafka_t *client; /* with a transactional.id */
    struct ek_kafka_watch *watch;
    const struct ek_wakeup *wakeup;
    void *context;
    /* A transaction was opened. On the thread of the transactions; a failure ends them all. */
    int (*opened)(void *context, struct ek_error *e);
};

/* Whether the error says that the transactional id or the transaction is no longer this producer's;
 * then it says so in a sentence. */
bool ek_txn_is_fenced(rd_kafka_resp_err_t err, const char *text, struct ek_error *e);

int ek_txn_new(struct ek_txn **out, const struct ek_txn_tools *tools, struct ek_error *e);
/* Registers with the coordinator and opens the first transaction. EK_EIO without a thread. */
int ek_txn_start(struct ek_txn *t, struct ek_error *e);

/* EK_TXN_COMMITTED is told once, the next call tells what comes after it. With EK_TXN_BROKEN the
 * error says why. */
enum ek_txn_state ek_txn_state(struct ek_txn *t, struct ek_error *e);

/* Ends the transaction that is open. Takes the offsets, NULL or empty for none, and the group. */
void ek_txn_commit(struct ek_txn *t, rd_kafka_topic_partition_list_t *offsets,
                   rd_kafka_consumer_group_metadata_t *group);
void ek_txn_abort(struct ek_txn *t);
/* Why the last transaction that was not to be aborted was; 0 when it was asked for. */
rd_kafka_resp_err_t ek_txn_abort_reason(struct ek_txn *t);
/* After EK_TXN_ABORTED: opens the next one. */
void ek_txn_reopen(struct ek_txn *t);

/* Ends the thread, after aborting what is open, within wait_ms; false when it is still inside the
 * client then, which only a broker can end. */
bool ek_txn_stop(struct ek_txn *t, int64_t wait_ms);
/* Waits for the thread for as long as it takes. */
void ek_txn_free(struct ek_txn *t);

#endif
