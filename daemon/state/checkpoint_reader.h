/* Reads states back from the topic they were written to.
 *
 * Each shard has the partition of the topic with its own number, and a prefix before its keys. From
 * the time that a pointer names it is read up to the head that the pointer names: what comes behind
 * was written by somebody whose offsets were never committed. Several shards are read at a time.
 * Owner: the caller. Threads: one at a time.
 */
#ifndef EK_DAEMON_STATE_CHECKPOINT_READER_H
#define EK_DAEMON_STATE_CHECKPOINT_READER_H

#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/state/checkpoint_ref.h"
#include "evenkeel.h"

/* What is not there so long after the end of its partition was reached is taken for lost. */
enum { EK_STATE_LEADER_TIMEOUT_MS = 5000 };

struct ek_checkpoint_reader;

/* Who waits for what is read. */
struct ek_checkpoint_read_waiter {
    void *context;
    /* Called again and again. `why`: brokers have not answered for a while, and what was heard of
     * them last; NULL: they do answer. False: nobody waits any more. */
    bool (*wait)(void *context, const char *why);
};

/* One state that is to be read. */
struct ek_checkpoint_read_job {
    struct ek_checkpoint_ref pointer;
    struct ek_state *state; /* of the caller, empty; the records that were read */
    bool refused;           /* for the caller: it is no use to him */
    bool found;             /* the head that the pointer names, and all that belongs to it */
    /* How the reader goes about it. */
    bool earliest, broken; /* from the beginning; the head came, and not all that belongs to it */
    int64_t end_ms; /* when the end of the partition was reached behind its records; 0: not */
};

/* The configuration must outlive it. EK_ECONFIG, EK_ENOMEM. */
int ek_checkpoint_reader_new(struct ek_checkpoint_reader **out, const struct ek_config *config,
                             struct ek_log *log, struct ek_error *e);
void ek_checkpoint_reader_free(struct ek_checkpoint_reader *r);

/* What is not found is left. Brokers that do not answer are waited for. EK_EIO for what waiting
 * does not mend, such as a right that is missing (fatal); EK_ENOMEM. */
int ek_checkpoint_reader_read(struct ek_checkpoint_reader *r, struct ek_checkpoint_read_job *jobs,
                              size_t count, const struct ek_checkpoint_read_waiter *w,
                              struct ek_error *e);

/* First offset that a partition still has; -1: there is no such partition, or nobody waits any
 * more. */
int64_t ek_checkpoint_reader_low(struct ek_checkpoint_reader *r, const char *topic, int partition,
                                 const struct ek_checkpoint_read_waiter *w);

/* Key of a record of a shard: SHARD:NAME. The length; 0 when it does not fit. */
enum { EK_STATE_KEY_BYTES = 400 };
size_t ek_checkpoint_state_key(char *out, size_t size, const char *topic, int partition,
                               const char *name);

#endif
