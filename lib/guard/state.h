/* Records of a checkpoint: frame, checkpoint header, and the set of records for a restore
 * (docs/dev/formats/state.md).
 *
 * Adding the header of a complete checkpoint drops all records that it does not need.
 */
#ifndef EK_GUARD_STATE_H
#define EK_GUARD_STATE_H

#include "base/serialize.h"
#include "detect/detector_state.h"
#include "evenkeel.h"
#include "guard/save.h"
#include "guard/event_clock.h"
#include "rules/rules.h"

#include <stdbool.h>

/* Key of the checkpoint header. Maximum body size of other records, and of the user data. */
#define EK_STATE_HEAD "head"
enum { EK_RECORD_BYTES_MAX = 256 * 1024, EK_NOTE_MAX = 64 * 1024 };

struct ek_record_frame {
    uint64_t manifest, base; /* manifest hash; checkpoint that wrote the record */
};
/* Read the frame of a record into *frame; *s is then at its body, a view of the bytes. Return 0,
 * EK_EFORMAT, or EK_ESTATE for another version. */
int ek_record_open(const void *bytes, size_t length, struct ek_record_frame *frame,
                   struct ek_serialize *s, struct ek_error *e);
/* Write the frame of a record to `s`. Errors are in s->rc. */
void ek_record_begin(const struct ek_record_frame *frame, struct ek_serialize *s);

struct ek_state_head {
    struct ek_record_frame frame;
    struct ek_detector_kind kind;
    char **dimension; /* [kind.dimensions] */
    struct ek_window_rule windows;
    struct ek_event_clock stream_clock;
    int64_t time_ms, clock_ms;
    uint64_t queries, plan_version;
    struct ek_buf note;              /* user data of the caller */
    struct ek_checkpoint_part index; /* records of the index part */
};

/* Free the members of a header that was read; it is then empty. */
void ek_state_head_release(struct ek_state_head *h);
/* Append the whole record with its frame and checksum. Return 0 or EK_ENOMEM. */
int ek_state_head_write(struct ek_state_head *h, struct ek_buf *out);
/* Read a header; *h starts as {0}. Return 0, EK_EFORMAT if it is damaged, EK_ESTATE for another
 * version, or EK_ENOMEM; on error *h is empty. */
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
    int count, sorted;         /* `sorted`: number of sorted records */
    bool has_base, incomplete; /* a complete checkpoint exists; the last header was incomplete */
    bool other_version;        /* of the last header */
    bool damaged;              /* of the last header */
    struct ek_state_head head; /* of the complete checkpoint */
    struct ek_checkpoint_index index; /* of the complete checkpoint */
};

/* Return a reader of a part of the complete checkpoint, which refers to `state` or to `joined`, an
 * initialized buffer. Its rc is EK_EFORMAT if the part is missing. */
struct ek_serialize ek_state_part(const struct ek_state *state, const char *name,
                                  struct ek_buf *joined);
/* Return whether the checkpoint has a part. */
bool ek_state_has(const struct ek_state *state, const char *name);

#endif
