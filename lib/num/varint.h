/* Variable-length integers: seven bits per byte, the lowest first, the high bit says that more
 * follow. For what checks the bytes it reads see num/sketch_io.c.
 */
#ifndef EK_NUM_VARINT_H
#define EK_NUM_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { EK_VARINT_BYTES = 10 };

/* The shortest spelling; returns its bytes, EK_VARINT_BYTES at most. */
static inline size_t ek_varint_put(uint8_t *to, uint64_t v)
{
    size_t n = 0;
    for (; v > 0x7f; v >>= 7)
        to[n++] = (uint8_t)(v | 0x80);
    to[n++] = (uint8_t)v;
    return n;
}

/* Of bytes that ek_varint_put wrote; returns what follows them. */
static inline const uint8_t *ek_varint_take(const uint8_t *at, uint64_t *out)
{
    uint64_t byte = *at++, v = byte & 0x7f;
    for (int shift = 7; byte & 0x80; shift += 7) {
        byte = *at++;
        v |= (byte & 0x7f) << shift;
    }
    *out = v;
    return at;
}

#endif
