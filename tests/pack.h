/* Messages for tests, written as text: ek_pack(&buf, "{query:'q1', items:[{score:1.5, x:[1,
 * nil]}]}").
 *
 *   {key: value, ...}  a map of at most 15 pairs; keys are any value, bare words are strings
 *   [value, ...]       an array of at most 15 elements
 *   'text' or word     a string of at most 31 bytes; nil, true, false are themselves
 *   12 -3              an integer in its shortest form (up to 32 bits)
 *   1.5 / 1.5d         float32 / float64; nan and inf as nan, inf
 *   (1.5, nan)         bin of little-endian float32
 *   #cd0102            raw bytes
 */
#ifndef EK_TESTS_PACK_H
#define EK_TESTS_PACK_H

#include "base/buf.h"
#include "lists/codec_wire.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#define EK_PACK_WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789."

static inline void ek_pack_value(struct ek_buf *out, const char **s);

static inline void ek_pack_space(const char **s)
{
    while (**s == ' ' || **s == ',' || **s == ':')
        ++*s;
}

static inline void ek_pack_bytes(struct ek_buf *out, uint8_t tag, const void *bytes, size_t length)
{
    if (ek_buf_add(out, &tag, 1) || ek_buf_add(out, bytes, length))
        abort();
}

static inline void ek_pack_container(struct ek_buf *out, const char **s, char end)
{
    size_t at = out->length, count = 0;
    ek_pack_bytes(out, 0, "", 0);
    for (++*s, ek_pack_space(s); **s != end; ek_pack_space(s), count++)
        ek_pack_value(out, s);
    ++*s;
    if (count > (end == '}' ? 31 : 15))
        abort();
    out->data[at] = (uint8_t)(end == '}' ? 0x80 | count / 2 : 0x90 | count);
}

static inline void ek_pack_bin(struct ek_buf *out, const char **s)
{
    size_t at = out->length + 1;
    ek_pack_bytes(out, EK_TAG_BIN8, "", 1);
    for (++*s, ek_pack_space(s); **s != ')'; ek_pack_space(s)) {
        char *end;
        uint32_t bits = ek_float_to_bits(strtof(*s, &end));
        uint8_t le[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                         (uint8_t)(bits >> 24)};
        if (end == *s || ek_buf_add(out, le, 4))
            abort();
        *s = end;
    }
    ++*s;
    out->data[at] = (uint8_t)(out->length - at - 1);
}

static inline void ek_pack_float(struct ek_buf *out, const char **s)
{
    char *end;
    double value = strtod(*s, &end);
    uint8_t bytes[8];
    if (*end == 'd') {
        ek_store_be64(bytes, ek_double_to_bits(value));
        ek_pack_bytes(out, EK_TAG_FLOAT64, bytes, 8);
        end++;
    } else {
        ek_store_be32(bytes, ek_float_to_bits((float)value));
        ek_pack_bytes(out, EK_TAG_FLOAT32, bytes, 4);
    }
    *s = end;
}

static inline void ek_pack_number(struct ek_buf *out, const char **s)
{
    char *end;
    long value = strtol(*s, &end, 10);
    uint8_t bytes[4];
    if (*end == '.' || *end == 'e' || *end == 'd' || isalpha((unsigned char)(*s)[**s == '-'])) {
        ek_pack_float(out, s);
        return;
    }
    *s = end;
    ek_store_be32(bytes, (uint32_t)value);
    if (value >= -32 && value < 128)
        ek_pack_bytes(out, (uint8_t)value, "", 0);
    else
        ek_pack_bytes(out, value < 0 ? 0xd2 : 0xce, bytes, 4);
}

static inline void ek_pack_hex(struct ek_buf *out, const char **s)
{
    for (++*s; isxdigit((unsigned char)**s); *s += 2) {
        char digits[3] = {(*s)[0], (*s)[1], 0};
        ek_pack_bytes(out, (uint8_t)strtoul(digits, NULL, 16), "", 0);
    }
}

static inline void ek_pack_word(struct ek_buf *out, const char **s)
{
    const char *start = *s + (**s == '\'');
    size_t length = **s == '\'' ? strcspn(start, "'") : strspn(start, EK_PACK_WORD);
    *s = start + length + (**s == '\'');
    if (start[-1] != '\'' && length == 3 && !memcmp(start, "nil", 3))
        ek_pack_bytes(out, EK_TAG_NIL, "", 0);
    else if (start[-1] != '\'' && length == 4 && !memcmp(start, "true", 4))
        ek_pack_bytes(out, 0xc3, "", 0);
    else if (start[-1] != '\'' && length == 5 && !memcmp(start, "false", 5))
        ek_pack_bytes(out, 0xc2, "", 0);
    else if (length < 32 && (length || start[-1] == '\''))
        ek_pack_bytes(out, (uint8_t)(0xa0 | length), start, length);
    else
        abort();
}

static inline bool ek_pack_is_number(const char *s)
{
    s += *s == '-';
    return isdigit((unsigned char)*s) || !strncmp(s, "nan", 3) || !strncmp(s, "inf", 3);
}

static inline void ek_pack_value(struct ek_buf *out, const char **s)
{
    if (**s == '{')
        ek_pack_container(out, s, '}');
    else if (**s == '[')
        ek_pack_container(out, s, ']');
    else if (**s == '(')
        ek_pack_bin(out, s);
    else if (**s == '#')
        ek_pack_hex(out, s);
    else if (ek_pack_is_number(*s))
        ek_pack_number(out, s);
    else
        ek_pack_word(out, s);
}

/* Replace `out` by the encoded message. Invalid notation fails the test. */
static inline void ek_pack(struct ek_buf *out, const char *text)
{
    ek_buf_clear(out);
    ek_pack_space(&text);
    while (*text) {
        ek_pack_value(out, &text);
        ek_pack_space(&text);
    }
}

#endif
