/* Variable-length integers, with seven bits per byte, low bits first, and a high bit that marks
 * that a byte follows; and a checked cursor that reads them. */
#ifndef EK_TEXT_INDEX_VARINT_H
#define EK_TEXT_INDEX_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_VARINT_BYTES_MAX = 10 };

/* Encode a value to out [EK_VARINT_BYTES_MAX]. Return the bytes written. */
static inline size_t ek_varint_write(uint8_t *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

/* Input cursor. `bad` is set after a truncated or invalid read; all later reads return 0. */
struct ek_bytes {
    const uint8_t *at, *end;
    bool bad;
};

/* Read a value and advance b; a damaged or truncated one sets b->bad and returns 0. */
static inline uint64_t ek_varint_get(struct ek_bytes *b)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && b->at < b->end; shift += 7) {
        uint8_t byte = *b->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    b->bad = true;
    b->at = b->end;
    return 0;
}

/* Read a value of at most `most` and advance b; a larger, damaged or truncated one sets b->bad and
 * returns 0. */
static inline uint64_t ek_varint_get_bounded(struct ek_bytes *b, uint64_t most)
{
    uint64_t value = ek_varint_get(b);
    if (value <= most)
        return value;
    b->bad = true;
    b->at = b->end;
    return 0;
}

/* Return a pointer to the next `length` bytes of the input and advance b. Return NULL and set
 * b->bad if fewer are left. */
static inline const uint8_t *ek_bytes_read(struct ek_bytes *b, uint64_t length)
{
    const uint8_t *at = b->at;
    if (length > (uint64_t)(b->end - b->at)) {
        b->bad = true;
        b->at = b->end;
        return NULL;
    }
    b->at += length;
    return at;
}

#endif
