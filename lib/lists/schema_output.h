/* MessagePack output of a conversion, and the places of values in the message.
 *
 * Writers without a return code need EK_OUTPUT_ROOM bytes, which the caller reserves. The output
 * belongs to the message and is at most `limit` bytes. One thread at a time.
 */
#ifndef EK_LISTS_SCHEMA_OUTPUT_H
#define EK_LISTS_SCHEMA_OUTPUT_H

#include "lists/codec_wire.h"
#include "lists/schema_graph.h"

#include <string.h>

enum {
    EK_OUTPUT_ROOM = 16, /* of a number or of the head of another value */
    EK_OUTPUT_BIN16_HEAD = 3,
    EK_OUTPUT_VALUES_MAX = 1 << 20 /* values without bytes, such as null, or work without output */
};

struct ek_schema_fault;

struct ek_schema_output {
    struct ek_schema_message *m;
    uint8_t *to, *end;
    size_t limit;
    const char *what; /* reason of an error; NULL: the bytes end too early */
};

/* Start the output of a message of `length` bytes. Return 0 or EK_ENOMEM. */
int ek_output_begin(struct ek_schema_output *o, struct ek_schema_message **m,
                    const struct ek_message_schema *s, size_t length);
/* End the output at `at` of the message with the result of the conversion. Return it, with *fault
 * set for an error. */
int ek_output_end(struct ek_schema_output *o, int rc, size_t at, struct ek_schema_fault *fault);
/* Reserve `more` bytes. Return 0, EK_ENOMEM or EK_ELIMIT. */
int ek_output_grow(struct ek_schema_output *o, size_t more);

static inline int ek_output_reserve(struct ek_schema_output *o, size_t more)
{
    return (size_t)(o->end - o->to) >= more ? EK_OK : ek_output_grow(o, more);
}

/* Note that the next value is at `at` of the message. Return 0 or EK_ENOMEM. */
static inline int ek_output_note(struct ek_schema_output *o, size_t at, size_t length,
                                 uint32_t type)
{
    enum { PLACES_FIRST = 256 };
    struct ek_schema_message *m = o->m;
    if (m->place_count == m->place_capacity &&
        ek_schema_reserve((void **)&m->places, m->place_count, PLACES_FIRST, &m->place_capacity,
                          sizeof *m->places))
        return EK_ENOMEM;
    m->places[m->place_count++] =
        (struct ek_schema_noted){(uint32_t)(o->to - m->wire), (uint32_t)at, (uint32_t)length, type};
    return EK_OK;
}

static inline void ek_output_tag(struct ek_schema_output *o, uint8_t tag, uint64_t value, int bytes)
{
    uint8_t *to = o->to; /* in a register: a byte that is written may be part of *o */
    *to++ = tag;
    for (int i = bytes - 1; i >= 0; i--)
        *to++ = (uint8_t)(value >> 8 * i);
    o->to = to;
}

static inline void ek_output_integer(struct ek_schema_output *o, int64_t value)
{
    if (value >= 0 && value < EK_TAG_SHORT_MAP)
        *o->to++ = (uint8_t)value;
    else
        ek_output_tag(o, EK_TAG_INT64, (uint64_t)value, 8);
}

/* Write text or `bin`. Return as ek_output_reserve. */
static inline int ek_output_bytes(struct ek_schema_output *o, bool is_text, const uint8_t *bytes,
                                  size_t length)
{
    int rc = ek_output_reserve(o, EK_OUTPUT_ROOM + length);
    if (rc)
        return rc;
    if (is_text && length < 32)
        *o->to++ = (uint8_t)(EK_TAG_SHORT_TEXT | length);
    else if (length <= UINT8_MAX)
        ek_output_tag(o, is_text ? EK_TAG_TEXT8 : EK_TAG_BIN8, length, 1);
    else if (length <= UINT16_MAX)
        ek_output_tag(o, is_text ? EK_TAG_TEXT16 : EK_TAG_BIN16, length, 2);
    else
        ek_output_tag(o, is_text ? EK_TAG_TEXT32 : EK_TAG_BIN32, length, 4);
    if (length)
        memcpy(o->to, bytes, length);
    o->to += length;
    return EK_OK;
}

/* Write a name or symbol. Return as ek_output_reserve. */
static inline int ek_output_word(struct ek_schema_output *o, const struct ek_schema_link *l)
{
    const uint8_t *word = o->m->schema->words + l->key;
    int rc = ek_output_reserve(o, l->key_length + EK_SCHEMA_KEY_SLACK);
    if (rc)
        return rc;
    if (l->key_length <= EK_SCHEMA_KEY_SLACK)
        memcpy(o->to, word, EK_SCHEMA_KEY_SLACK);
    else
        memcpy(o->to, word, l->key_length);
    o->to += l->key_length;
    return EK_OK;
}

/* Write a float (4 bytes) or double (8) in little endian. */
static inline void ek_output_real(struct ek_schema_output *o, const uint8_t *bytes, size_t length)
{
    o->to[0] = length == EK_SCHEMA_DOUBLE_BYTES ? EK_TAG_FLOAT64 : EK_TAG_FLOAT32;
    if (length == EK_SCHEMA_DOUBLE_BYTES)
        ek_store_be64(o->to + 1, ek_load_le64(bytes));
    else
        ek_store_be32(o->to + 1, ek_load_le32(bytes));
    o->to += 1 + length;
}

/* Rows of features: values become float32 in little endian. */

static inline void ek_output_float(struct ek_schema_output *o, float value)
{
    ek_store_le32(o->to, ek_float_to_bits(value));
    o->to += EK_SCHEMA_FLOAT_BYTES;
}

/* Copy floats; the room is reserved. */
static inline void ek_output_floats(struct ek_schema_output *o, const uint8_t *bytes,
                                    uint64_t count)
{
    if (count)
        memcpy(o->to, bytes, EK_SCHEMA_FLOAT_BYTES * count);
    o->to += EK_SCHEMA_FLOAT_BYTES * count;
}

/* Convert doubles; the room is reserved. */
static inline void ek_output_doubles(struct ek_schema_output *o, const uint8_t *restrict p,
                                     uint64_t count)
{
    uint8_t *restrict to = o->to;
    for (uint64_t i = 0; i < count; i++) {
        float value = (float)ek_double_from_bits(ek_load_le64(p + EK_SCHEMA_DOUBLE_BYTES * i));
        ek_store_le32(to + EK_SCHEMA_FLOAT_BYTES * i, ek_float_to_bits(value));
    }
    o->to += EK_SCHEMA_FLOAT_BYTES * count;
}

/* Begin a row of features: a `bin` whose length is not known yet. Return its offset. */
size_t ek_output_begin_row(struct ek_schema_output *o);
/* Write the head of the row that begins at `head`. */
void ek_output_end_row(struct ek_schema_output *o, size_t head);

#endif
