/* Bounds-checked MessagePack primitives for the codec and capture files.
 *
 * start <= p <= end; nothing at or after `end` is read. After a header `p` is at the payload of
 * string, bin and extensions, which is then known to be within bounds, or after any other value. A
 * container never claims more elements than bytes are left. No allocation or recursion. Wire
 * numbers are big-endian.
 */
#ifndef EK_LISTS_CODEC_WIRE_H
#define EK_LISTS_CODEC_WIRE_H

#include "lists/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { EK_WIRE_DEPTH_MAX = 1024 };

enum ek_wire_result {
    EK_WIRE_OK,
    EK_WIRE_TRUNCATED, /* the bytes end within an object */
    EK_WIRE_BAD,       /* the byte 0xc1, which is never used */
    EK_WIRE_DEEP,      /* nested deeper than allowed */
};

enum ek_wire_kind {
    EK_WIRE_NIL,
    EK_WIRE_BOOL,
    EK_WIRE_UINT,
    EK_WIRE_INT, /* a signed form; the value may be positive */
    EK_WIRE_FLOAT32,
    EK_WIRE_FLOAT64,
    EK_WIRE_TEXT,
    EK_WIRE_BIN,
    EK_WIRE_ARRAY,
    EK_WIRE_MAP,
    EK_WIRE_EXT,
    EK_WIRE_NEVER
};

enum ek_wire_tag {
    EK_TAG_SHORT_MAP = 0x80,  /* .. 0x8f, the pairs in the low bits */
    EK_TAG_SHORT_TEXT = 0xa0, /* .. 0xbf, the length in the low bits */
    EK_TAG_NIL = 0xc0,
    EK_TAG_FALSE = 0xc2,
    EK_TAG_TRUE = 0xc3,
    EK_TAG_BIN8 = 0xc4,
    EK_TAG_BIN16 = 0xc5,
    EK_TAG_BIN32 = 0xc6,
    EK_TAG_FLOAT32 = 0xca,
    EK_TAG_FLOAT64 = 0xcb,
    EK_TAG_UINT8 = 0xcc, /* and 16, 32, 64 */
    EK_TAG_UINT32 = 0xce,
    EK_TAG_UINT64 = 0xcf,
    EK_TAG_INT8 = 0xd0, /* and 16, 32, 64 */
    EK_TAG_INT32 = 0xd2,
    EK_TAG_INT64 = 0xd3,
    EK_TAG_TEXT8 = 0xd9,
    EK_TAG_TEXT16 = 0xda,
    EK_TAG_TEXT32 = 0xdb,
    EK_TAG_ARRAY16 = 0xdc,
    EK_TAG_ARRAY32 = 0xdd,
    EK_TAG_MAP32 = 0xdf,
    EK_TAG_SHORT_NEGATIVE = 0xe0 /* .. 0xff */
};

struct ek_wire {
    const uint8_t *start, *p, *end;
};

struct ek_head {
    enum ek_wire_kind kind;
    uint32_t count; /* bytes of string, bin and ext; elements of an array; pairs of a map */
    uint64_t bits;  /* value of BOOL, UINT, INT (sign-extended); bits of floats */
};

/* Return the 32 big-endian bits at `p`; any alignment. */
static inline uint32_t ek_load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Return the 64 big-endian bits at `p`; any alignment. */
static inline uint64_t ek_load_be64(const uint8_t *p)
{
    return (uint64_t)ek_load_be32(p) << 32 | ek_load_be32(p + 4);
}

/* Return the 32 little-endian bits at `p`; any alignment. */
static inline uint32_t ek_load_le32(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t bits;
    memcpy(&bits, p, sizeof bits);
    return bits;
#else
    return __builtin_bswap32(ek_load_be32(p));
#endif
}

/* Return the 64 little-endian bits at `p`; any alignment. */
static inline uint64_t ek_load_le64(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t bits;
    memcpy(&bits, p, sizeof bits);
    return bits;
#else
    return __builtin_bswap64(ek_load_be64(p));
#endif
}

/* Return eight bytes in native order, for comparison; any alignment. */
static inline uint64_t ek_load_word(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Write `bits` to `p` in little-endian order; any alignment. */
static inline void ek_store_le32(uint8_t *p, uint32_t bits)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits = __builtin_bswap32(bits);
#endif
    memcpy(p, &bits, sizeof bits);
}

/* Write `bits` to `p` in big-endian order; any alignment. */
static inline void ek_store_be32(uint8_t *p, uint32_t bits)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(bits >> (24 - 8 * i));
}

/* Write `bits` to `p` in big-endian order; any alignment. */
static inline void ek_store_be64(uint8_t *p, uint64_t bits)
{
    ek_store_be32(p, (uint32_t)(bits >> 32));
    ek_store_be32(p + 4, (uint32_t)bits);
}

/* Return the float with this bit pattern. */
static inline float ek_float_from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Return the double with this bit pattern. */
static inline double ek_double_from_bits(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Return the bit pattern of a float. */
static inline uint32_t ek_float_to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Return the bit pattern of a double. */
static inline uint64_t ek_double_to_bits(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* Return the bytes between `p` and `end`. */
static inline size_t ek_wire_left(const struct ek_wire *w)
{
    return (size_t)(w->end - w->p);
}

/* Read the next tag with its value or length into *h. Return EK_WIRE_OK, or the error with `p`
 * unchanged. */
enum ek_wire_result ek_wire_head(struct ek_wire *w, struct ek_head *h);

/* Read a string of at most 31 bytes, the usual form of names and ids, into *text, which points into
 * the message. Return false for other objects, with `p` unchanged. */
static inline bool ek_wire_short_text(struct ek_wire *w, struct ek_text *text)
{
    size_t left = ek_wire_left(w);
    unsigned length = left ? *w->p ^ (unsigned)EK_TAG_SHORT_TEXT : 32;
    if (length >= 32 || length >= left)
        return false;
    *text = (struct ek_text){(const char *)w->p + 1, length};
    w->p += 1 + length;
    return true;
}

/* Read the header of a map of at most 15 pairs, or of 32 bits, as conversions write it. Return
 * false for other objects, with `p` unchanged. */
static inline bool ek_wire_map(struct ek_wire *w, uint32_t *pairs)
{
    size_t left = ek_wire_left(w), size = 1;
    uint32_t count = left ? *w->p ^ (unsigned)EK_TAG_SHORT_MAP : 16;
    if (count >= 16) {
        if (left < 5 || *w->p != EK_TAG_MAP32)
            return false;
        count = ek_load_be32(w->p + 1);
        size = 5;
    }
    if (2 * (uint64_t)count > left - size)
        return false;
    *pairs = count;
    w->p += size;
    return true;
}

/* Read a float32 with its tag. Return false for other objects, with `p` unchanged. */
static inline bool ek_wire_float32(struct ek_wire *w, float *out)
{
    if (ek_wire_left(w) < 5 || *w->p != EK_TAG_FLOAT32)
        return false;
    *out = ek_float_from_bits(ek_load_be32(w->p + 1));
    w->p += 5;
    return true;
}

/* Skip a nil and return true; return false for other objects, with `p` unchanged. */
static inline bool ek_wire_nil(struct ek_wire *w)
{
    bool nil = ek_wire_left(w) && *w->p == EK_TAG_NIL;
    w->p += nil;
    return nil;
}

/* Skip one object that nests at most `depth` levels (at most EK_WIRE_DEPTH_MAX). Return EK_WIRE_OK,
 * or the error with `p` at the failing position. */
enum ek_wire_result ek_wire_skip(struct ek_wire *w, int depth);

/* Skip *todo objects of any depth, counting down. Return EK_WIRE_OK or the error. If truncated, `p`
 * and *todo are the progress, and the call can be repeated with more bytes. */
enum ek_wire_result ek_wire_walk(struct ek_wire *w, uint64_t *todo);

/* Return true if the header is that of an integer or a float. */
static inline bool ek_head_is_number(const struct ek_head *h)
{
    return h->kind >= EK_WIRE_UINT && h->kind <= EK_WIRE_FLOAT64;
}

/* Return the value of a header for which ek_head_is_number is true; integers beyond 2^53 are
 * rounded. */
double ek_head_number(const struct ek_head *h);

/* Return the name of a type for errors: "text", "an array", ... The string is static. */
const char *ek_wire_kind_name(enum ek_wire_kind kind);

#endif
