/* LEB128 variable-length integers: seven bits per byte, lowest first; the high bit marks a
 * continuation. */
#ifndef EK_NUM_VARINT_H
#define EK_NUM_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_VARINT_BYTES = 10 };

/* Write the shortest encoding, at most EK_VARINT_BYTES bytes. Return its length. */
static inline size_t ek_varint_write(uint8_t *to, uint64_t v)
{
    size_t n = 0;
    for (; v > 0x7f; v >>= 7)
        to[n++] = (uint8_t)(v | 0x80);
    to[n++] = (uint8_t)v;
    return n;
}

/* Decode trusted bytes from ek_varint_write into *out. Return the position behind them. */
static inline const uint8_t *ek_varint_decode(const uint8_t *at, uint64_t *out)
{
    uint64_t byte = *at++, v = byte & 0x7f;
    for (int shift = 7; byte & 0x80; shift += 7) {
        byte = *at++;
        v |= (byte & 0x7f) << shift;
    }
    *out = v;
    return at;
}

/* Decode untrusted bytes before `end` into *out, and advance *at. Return false unless they are a
 * shortest encoding, so that equal numbers have equal bytes. */
static inline bool ek_varint_read(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t v = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint64_t byte = *(*at)++;
        if (shift == 63 && byte > 1)
            return false;
        v |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        *out = v;
        return byte || !shift;
    }
    return false;
}

#endif
