/* Status of checkpoints and restores for metrics and the API. Thread-safe; each page is
 * consistent. */
#ifndef EK_DAEMON_STATE_CHECKPOINT_STATUS_H
#define EK_DAEMON_STATE_CHECKPOINT_STATUS_H

#include "base/buf.h"

#include <stdint.h>

/* Reason for lost state. */
enum ek_state_loss {
    EK_LOSS_NOT_FOUND, /* referenced checkpoint not readable */
    EK_LOSS_REFUSED,   /* other manifest, or damaged */
    EK_LOSS_RETENTION, /* messages to read again are deleted */
    EK_LOSS_UNSAVED,   /* partitions were revoked before their state was written */
    EK_LOSS_KINDS
};

struct ek_checkpoint_status;

/* Return a new status, or NULL if out of memory. `topic` must outlive it. */
struct ek_checkpoint_status *ek_checkpoint_status_new(const char *topic);
void ek_checkpoint_status_free(struct ek_checkpoint_status *r);

/* Record a stored checkpoint: number, bytes of its records, and time the guard was locked. */
void ek_checkpoint_status_saved(struct ek_checkpoint_status *r, uint64_t base, uint64_t bytes,
                                double seconds, int64_t now_ms);
/* Record a finished restore, also without a checkpoint. */
void ek_checkpoint_status_restored(struct ek_checkpoint_status *r, double seconds);
/* Count a loss of state. */
void ek_checkpoint_status_gap(struct ek_checkpoint_status *r, enum ek_state_loss gap);

/* Append the metric families. waiting_ms: time that a restore has been waiting, 0: none. Return 0
 * or EK_ENOMEM. */
int ek_checkpoint_status_metrics(struct ek_checkpoint_status *r, int64_t waiting_ms, int64_t now_ms,
                                 struct ek_buf *out);
/* Append the status as a JSON object. Return 0 or EK_ENOMEM. */
int ek_checkpoint_status_json(struct ek_checkpoint_status *r, int64_t now_ms, struct ek_buf *out);

#endif
