/* How it goes with the state, kept for those who ask.
 *
 * Owner: the caller. Threads: any; a page is of one moment.
 */
#ifndef EK_DAEMON_STATE_CHECKPOINT_STATUS_H
#define EK_DAEMON_STATE_CHECKPOINT_STATUS_H

#include "base/buf.h"

#include <stdint.h>

/* Why something of the past is missing in a state. */
enum ek_state_loss {
    EK_LOSS_NOT_FOUND, /* of a base that offsets name: it could not be read */
    EK_LOSS_REFUSED,   /* it was of another manifest, or damaged */
    EK_LOSS_RETENTION, /* messages that should have been read again are gone */
    EK_LOSS_UNSAVED,   /* partitions went away before what was seen of them was written */
    EK_LOSS_KINDS
};

struct ek_checkpoint_status;

/* NULL without memory. */
struct ek_checkpoint_status *ek_checkpoint_status_new(const char *topic);
void ek_checkpoint_status_free(struct ek_checkpoint_status *r);

/* A base was kept: its number, bytes of its records, and how long the guard stood still for it. */
void ek_checkpoint_status_saved(struct ek_checkpoint_status *r, uint64_t base, uint64_t bytes,
                                double seconds, int64_t now_ms);
/* A state was restored, or there was none to. */
void ek_checkpoint_status_restored(struct ek_checkpoint_status *r, double seconds);
void ek_checkpoint_status_gap(struct ek_checkpoint_status *r, enum ek_state_loss gap);

/* Append to `out`; EK_ENOMEM. Prometheus text, with how long a restore has been waiting for
 * brokers; a JSON object. */
int ek_checkpoint_status_metrics(struct ek_checkpoint_status *r, int64_t waiting_ms, int64_t now_ms,
                                 struct ek_buf *out);
int ek_checkpoint_status_json(struct ek_checkpoint_status *r, int64_t now_ms, struct ek_buf *out);

#endif
