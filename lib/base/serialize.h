/* Serialization of state (docs/dev/formats/state.md) and of fleet records
 * (docs/dev/formats/fleet.md, fleet/fleet_codec.h).
 *
 * Each part has one function, ek_PART_serialize, that visits its fields in file order for both
 * writing and reading. Numbers are little-endian. The first error stays in `rc`; after it nothing
 * is written, and numbers are read as 0 or their minimum, so callers need not check each field.
 * When reading, the part must be new, and the function must reject invalid values.
 */
#ifndef EK_BASE_SERIALIZE_H
#define EK_BASE_SERIALIZE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

struct ek_serialize {
    struct ek_buf *out;      /* writing; NULL: reading */
    const uint8_t *at, *end; /* reading: rest of the section */
    int rc;                  /* first error */
    size_t start;            /* writing a record: its start in `out` */
};

/* Return true when reading, false when writing. */
static inline bool ek_serialize_is_reading(const struct ek_serialize *s)
{
    return !s->out;
}

/* Set EK_EFORMAT unless `good`. */
void ek_serialize_require(struct ek_serialize *s, bool good);
/* Read or write numbers as they are in memory; they must have no padding. After an error, reading
 * sets them to 0 and writing does nothing. */
void ek_serialize_raw(struct ek_serialize *s, void *numbers, size_t bytes);
/* Read or write *v; reading sets it to 0 after an error. */
void ek_serialize_u32(struct ek_serialize *s, uint32_t *v);
/* Read or write *v. */
void ek_serialize_u64(struct ek_serialize *s, uint64_t *v);
/* Read or write *v. */
void ek_serialize_i64(struct ek_serialize *s, int64_t *v);
/* Read or write *v; any bits are valid, also NaN. */
void ek_serialize_f64(struct ek_serialize *s, double *v);
/* Read or write *v as 32 bits. Reading a value outside [low, high] sets EK_EFORMAT and *v to `low`.
 */
void ek_serialize_int(struct ek_serialize *s, int *v, int low, int high);
/* Read or write a nul-terminated string. Reading sets *text to a new string that the caller frees,
 * or to NULL after an error. */
void ek_serialize_text(struct ek_serialize *s, char **text);
/* Read or write one of the names word_of(0 .. count - 1) as a string; NULL is allowed. Reading sets
 * *word to the name itself, which is not freed; an unknown name sets EK_EFORMAT. */
void ek_serialize_name(struct ek_serialize *s, const char **word, const char *word_of(int i),
                       int count);

#endif
