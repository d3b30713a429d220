/* How it goes with the state, kept for those who ask.
 *
 * Owner: the caller. Threads: any; a page is of one moment.
 */
#ifndef EK_DAEMON_STATE_CHECKPOINT_STATUS_H
#define EK_DAEMON_STATE_CHECKPOINT_STATUS_H

#include "base/buf.h"

#include <stdint.h>

/* Why something of the past is missing in a state. */
enum ek_state_gap {
    EK_GAP_NOT_FOUND, /* of a base that offsets name: it could not be read */
    EK_GAP_REFUSED,   /* it was of another manifest, or damaged */
    EK_GAP_RETENTION, /* messages that should have been read again are gone */
    EK_GAP_UNSAVED,   /* partitions went away before what was seen of them was written */
    EK_GAPS
};

struct ek_state_report;

/* NULL without memory. */
struct ek_state_report *ek_state_report_new(const char *topic);
void ek_state_report_free(struct ek_state_report *r);

/* A base was kept: its number, bytes of its records, and how long the guard stood still for it. */
void ek_state_report_saved(struct ek_state_report *r, uint64_t base, uint64_t bytes, double seconds,
                           int64_t now_ms);
/* A state was restored, or there was none to. */
void ek_state_report_restored(struct ek_state_report *r, double seconds);
void ek_state_report_gap(struct ek_state_report *r, enum ek_state_gap gap);

/* Append to `out`; EK_ENOMEM. Prometheus text, with how long a restore has been waiting for
 * brokers; a JSON object. */
int ek_state_report_metrics(struct ek_state_report *r, int64_t waiting_ms, int64_t now_ms,
                            struct ek_buf *out);
int ek_state_report_json(struct ek_state_report *r, int64_t now_ms, struct ek_buf *out);

#endif
