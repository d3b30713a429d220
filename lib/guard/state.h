/* Records of a checkpoint: their frame, the head, which is written last, and the set of records
 * that were read back until a guard is made of them (docs/format/state.md).
 *
 * struct ek_state is that of evenkeel.h. Records that a complete base does not need are dropped
 * when its head is added.
 */
#ifndef EK_GUARD_STATE_H
#define EK_GUARD_STATE_H

#include "base/serialize.h"
#include "detect/detector_state.h"
#include "evenkeel.h"
#include "guard/save.h"
#include "guard/guard.h"
#include "rules/rules.h"

#include <stdbool.h>

/* Key of the head. Of other records: what one holds at most besides its frame. */
#define EK_STATE_HEAD "head"
enum { EK_RECORD_BYTES_MAX = 256 * 1024, EK_NOTE_MAX = 64 * 1024 };

struct ek_record_frame {
    uint64_t manifest, base; /* hash of the manifest; the base it was first written with */
};
/* What comes behind it is in *s then. EK_EFORMAT; EK_ESTATE for another version. */
int ek_record_open(const void *bytes, size_t length, struct ek_record_frame *frame,
                   struct ek_serialize *s, struct ek_error *e);
void ek_record_begin(const struct ek_record_frame *frame, struct ek_serialize *s);

struct ek_state_head {
    struct ek_record_frame frame;
    struct ek_detector_kind kind;
    char **dimension; /* [kind.dimensions] */
    struct ek_window_rule windows;
    struct ek_event_clock stream_clock;
    int64_t time_ms, clock_ms;
    uint64_t queries, plan_version;
    struct ek_buf note;              /* of the caller */
    struct ek_checkpoint_part index; /* its records */
};

/* What was read is to be released. */
void ek_state_head_release(struct ek_state_head *h);
/* The whole record, its frame included. */
int ek_state_head_write(struct ek_state_head *h, struct ek_buf *out);
/* *h starts as {0}; EK_EFORMAT, EK_ESTATE, EK_ENOMEM leave nothing in it. */
int ek_state_head_read(struct ek_state_head *h, const void *bytes, size_t length,
                       struct ek_error *e);

struct ek_state_record {
    char key[EK_KEY_BYTES];
    uint64_t hash;  /* of the body */
    uint8_t *bytes; /* the body */
    size_t length;
    bool needed;
};

struct ek_state {
    struct ek_state_record *record;
    size_t capacity;
    int count, sorted;                /* the first `sorted` are in order */
    bool has_base, incomplete;        /* there is a complete base; the last head had none */
    bool other_version;               /* the last head was of one */
    bool damaged;                     /* the last head was */
    struct ek_state_head head;        /* of the complete base */
    struct ek_checkpoint_index index; /* of it */
};

/* The bytes of a part of the complete base; `joined` holds them where they are in pieces. *s->rc is
 * EK_EFORMAT when the base has no such part. */
struct ek_serialize ek_state_part(const struct ek_state *state, const char *name,
                                  struct ek_buf *joined);
/* Return whether the base has a part. */
bool ek_state_has(const struct ek_state *state, const char *name);

#endif
