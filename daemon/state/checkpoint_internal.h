/* Checkpoint store of an instance: its state, shared by the writer (checkpoint_store.c) and the
 * restore (checkpoint_restore.c), for the reading thread; and its status for metrics and the API,
 * for any thread. */
#ifndef EK_DAEMON_STATE_CHECKPOINT_INTERNAL_H
#define EK_DAEMON_STATE_CHECKPOINT_INTERNAL_H

#include "base/buf.h"
#include "daemon/state/checkpoint_reader.h"
#include "daemon/state/checkpoint_store.h"

#include <stdint.h>

/* Partition in the sent checkpoint. */
struct ek_checkpoint_partition {
    struct ek_partition *assignment;
    int64_t seen;
};

struct ek_checkpoint_store {
    struct ek_checkpoint_store_tools tools;
    struct ek_checkpoint_reader *reader;
    struct ek_checkpoint_status *status;
    struct ek_kafka_health *health; /* reason that a restore waits */
    int64_t next_log_ms;            /* time of the next log line */
    /* Sent checkpoint without a result. */
    struct ek_checkpoint_ref sent;
    struct ek_checkpoint_partition *partitions;
    size_t count, capacity;
    uint64_t bytes;
    double seconds;
    bool pending, sent_handover;
    /* Earlier checkpoints. */
    struct ek_partition *home;
    struct ek_checkpoint_ref last; /* last stored checkpoint */
    bool needs_full;               /* the next checkpoint must be full */
    uint64_t queries, events;      /* at the last checkpoint */
    int64_t due_ms, next_ms;       /* monotonic: next regular checkpoint, earliest checkpoint */
    int64_t blocked_ms;            /* earliest attempt after a failure */
    int64_t next_full_ms;          /* time of the next full checkpoint */
    bool handover_due;             /* a checkpoint is required before partitions close */
    bool handover_stored;          /* and was stored */
    bool unowned;                  /* no partitions, so the guard belongs to none */
    bool unowned_stored;           /* and equals the last checkpoint */
    int failures;                  /* attempts since the last stored checkpoint */
    bool degraded;                 /* reported */
    bool disabled;                 /* a restore failed: its checkpoint must not be overwritten */
};

/* Schedule the next regular checkpoint, and record the numbers of lists and events of this one. */
void ek_checkpoint_store_remaining(struct ek_checkpoint_store *k);

/* Status of checkpoints and restores for metrics and the API. Thread-safe; each page is
 * consistent. */

/* Reason for lost state. */
enum ek_state_loss {
    EK_LOSS_NOT_FOUND, /* referenced checkpoint not readable */
    EK_LOSS_REFUSED,   /* other manifest, or damaged */
    EK_LOSS_RETENTION, /* messages to read again are deleted */
    EK_LOSS_UNSAVED,   /* partitions were revoked before their state was written */
    EK_LOSS_KINDS
};

struct ek_checkpoint_status;

/* Return a new status, or NULL if out of memory. `topic` is not copied and must outlive it. */
struct ek_checkpoint_status *ek_checkpoint_status_new(const char *topic);
void ek_checkpoint_status_free(struct ek_checkpoint_status *r);

/* Record a stored checkpoint: number, bytes of its records, and time the guard was locked. */
void ek_checkpoint_status_saved(struct ek_checkpoint_status *r, uint64_t base, uint64_t bytes,
                                double seconds, int64_t now_ms);
/* Record a finished restore, also without a checkpoint. */
void ek_checkpoint_status_restored(struct ek_checkpoint_status *r, double seconds);
/* Count a loss of state. */
void ek_checkpoint_status_gap(struct ek_checkpoint_status *r, enum ek_state_loss gap);

/* Append the metric families. waiting_ms: time that a restore has waited so far; 0: none waits.
 * now_ms: time on the clock of ek_checkpoint_status_saved. Return 0 or EK_ENOMEM. */
int ek_checkpoint_status_metrics(struct ek_checkpoint_status *r, int64_t waiting_ms, int64_t now_ms,
                                 struct ek_buf *out);
/* Append the status as a JSON object. Return 0 or EK_ENOMEM. */
int ek_checkpoint_status_json(struct ek_checkpoint_status *r, int64_t now_ms, struct ek_buf *out);

#endif
