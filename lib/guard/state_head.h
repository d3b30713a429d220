/* The frame of a record of the state, and the head, the record that is written last
 * (docs/format/state.md). */
#ifndef EK_GUARD_STATE_HEAD_H
#define EK_GUARD_STATE_HEAD_H

#include "base/snap.h"
#include "rules/rules.h"
#include "detect/detector_parts.h"
#include "guard/ledger.h"
#include "guard/stream_clock.h"

/* Key of the head. Of other records: what one holds at most besides its frame. */
#define EK_STATE_HEAD "head"
enum { EK_RECORD_MOST = 256 * 1024, EK_NOTE_MAX = 64 * 1024 };

struct ek_record_frame {
    uint64_t manifest, base; /* hash of the manifest; the base it was first written with */
};
/* What comes behind it is in *s then. EK_EFORMAT; EK_ESTATE for another version. */
int ek_record_open(const void *bytes, size_t length, struct ek_record_frame *frame,
                   struct ek_snap *s, struct ek_error *e);
void ek_record_begin(const struct ek_record_frame *frame, struct ek_snap *s);

struct ek_state_head {
    struct ek_record_frame frame;
    struct ek_detector_kind kind;
    char **dimension; /* [kind.dimensions] */
    struct ek_window_rule windows;
    struct ek_stream_clock stream_clock;
    int64_t time_ms, clock_ms;
    uint64_t queries, plan_version;
    struct ek_buf note;          /* of the caller */
    struct ek_ledger_part index; /* its records */
};

/* What was read is to be released. */
void ek_state_head_release(struct ek_state_head *h);
/* The whole record, its frame included. */
int ek_state_head_write(struct ek_state_head *h, struct ek_buf *out);
/* *h starts as {0}; EK_EFORMAT, EK_ESTATE, EK_ENOMEM leave nothing in it. */
int ek_state_head_read(struct ek_state_head *h, const void *bytes, size_t length,
                       struct ek_error *e);

#endif
