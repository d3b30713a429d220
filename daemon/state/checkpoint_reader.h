/* Reader of checkpoints from the state topic.
 *
 * Each shard uses one partition of the state topic and a key prefix. A shard is read from
 * the time in its checkpoint reference to the header named there; later records are uncommitted.
 * Shards are read in parallel. One thread at a time.
 */
#ifndef EK_DAEMON_STATE_CHECKPOINT_READER_H
#define EK_DAEMON_STATE_CHECKPOINT_READER_H

#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/state/checkpoint_ref.h"
#include "evenkeel.h"

/* A checkpoint still incomplete this long after the end of its partition counts as lost. */
enum { EK_STATE_LEADER_TIMEOUT_MS = 5000 };

struct ek_checkpoint_reader;

/* Caller waiting for a read. */
struct ek_checkpoint_read_waiter {
    void *context;
    /* Called repeatedly. `why` is the last error while brokers do not respond, else NULL. Return
     * false to cancel. */
    bool (*wait)(void *context, const char *why);
};

/* One checkpoint to read. */
struct ek_checkpoint_read_job {
    struct ek_checkpoint_ref pointer;
    struct ek_state *state; /* records read so far; created empty by the caller */
    bool refused;           /* for the caller: the checkpoint is unusable */
    bool found;             /* the header named by `pointer` and all its records were read */
    /* Progress of the reader. */
    bool earliest, broken; /* read from the beginning; header read, but records are missing */
    int64_t end_ms; /* time the end of the partition was reached after the last record; 0: not
                     * reached */
};

/* Create a reader. `config` and `log` must outlive it. Return 0, EK_ECONFIG for invalid properties
 * of clients, or EK_ENOMEM. */
int ek_checkpoint_reader_new(struct ek_checkpoint_reader **out, const struct ek_config *config,
                             struct ek_log *log, struct ek_error *e);
void ek_checkpoint_reader_free(struct ek_checkpoint_reader *r);

/* Read the checkpoints of jobs [count] into their states and set `found` of each that is complete.
 * Retries while brokers do not respond. Return 0, EK_ENOMEM, or fatal EK_EIO for an error that
 * waiting does not fix. A cancel by the waiter also returns 0, with `found` false for unfinished
 * jobs as for missing checkpoints: only the waiter knows the difference. */
int ek_checkpoint_reader_read(struct ek_checkpoint_reader *r, struct ek_checkpoint_read_job *jobs,
                              size_t count, const struct ek_checkpoint_read_waiter *w,
                              struct ek_error *e);

/* Return the first available offset of a partition, or -1 if the partition does not exist or the
 * wait was canceled. */
int64_t ek_checkpoint_reader_low(struct ek_checkpoint_reader *r, const char *topic, int partition,
                                 const struct ek_checkpoint_read_waiter *w);

enum { EK_STATE_KEY_BYTES = 400 };
/* Write the key of a record of a shard, "TOPIC/PARTITION:NAME", to out [size]. Return its length,
 * or 0 if it does not fit. */
size_t ek_checkpoint_state_key(char *out, size_t size, const char *topic, int partition,
                               const char *name);

#endif
