/* Walks over state (docs/format/state.md) and over the records of a fleet (docs/format/fleet.md,
 * fleet/fleet_codec.h) that write or read them.
 *
 * A part has one walk, ek_PART_serialize, which goes over its fields in the order of the file.
 * Writing, it changes nothing; reading, it fills them: what is written is what is read. Numbers are
 * little-endian. The first failure stays in `rc`: behind it nothing is written, and numbers are
 * read as 0 or as the least that is allowed, so a walk need not ask field by field. A walk that
 * reads must refuse what the part would not survive; it is given a part that is new.
 * Owner: the caller, on the stack.
 */
#ifndef EK_BASE_SERIALIZE_H
#define EK_BASE_SERIALIZE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

struct ek_serialize {
    struct ek_buf *out;      /* writing; NULL: reading */
    const uint8_t *at, *end; /* reading: what is left of the section */
    int rc;                  /* of the first failure */
    size_t start;            /* writing a record: where it begins in `out` */
};

static inline bool ek_serialize_is_reading(const struct ek_serialize *s)
{
    return !s->out;
}

/* What was read is refused when it is not `good`. */
void ek_serialize_require(struct ek_serialize *s, bool good);
/* Numbers of any type as they lie in memory, without padding between them. */
void ek_serialize_raw(struct ek_serialize *s, void *numbers, size_t bytes);
void ek_serialize_u32(struct ek_serialize *s, uint32_t *v);
void ek_serialize_u64(struct ek_serialize *s, uint64_t *v);
void ek_serialize_i64(struct ek_serialize *s, int64_t *v);
void ek_serialize_f64(struct ek_serialize *s, double *v);
/* 32 bits, between low and high. */
void ek_serialize_int(struct ek_serialize *s, int *v, int low, int high);
/* A text; reading, it is the caller's (NULL after a failure). */
void ek_serialize_text(struct ek_serialize *s, char **text);
/* One of the words that word_of(0 .. count - 1) gives, as its text; NULL is allowed. */
void ek_serialize_name(struct ek_serialize *s, const char **word, const char *word_of(int i),
                       int count);

#endif
