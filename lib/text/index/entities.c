#include "text/index/entities.h"

#include <stdint.h>
#include <string.h>

enum { NAME_MOST = 10, CODE_MOST = 0x10ffff };

/* Encode a code point as UTF-8. Return the bytes, fewer than those of any reference: "&#1;" has
 * four. */
static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Parse "#38" or "#x26". Return 0 if invalid. */
static uint32_t number_of(const char *name, size_t length)
{
    size_t i = 1;
    int base = 10;
    uint32_t code = 0;
    if (length > 2 && (name[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    }
    for (; i < length; i++) {
        int digit = digit_of(name[i]);
        if (digit >= base)
            return 0;
        code = code * (uint32_t)base + (uint32_t)digit;
        if (code > CODE_MOST)
            return 0;
    }
    return code >= 0xd800 && code < 0xe000 ? 0 : code;
}

static uint32_t code_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        uint32_t code;
    } NAMES[] = {{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
                 {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xa0}};
    if (length && name[0] == '#')
        return number_of(name, length);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strlen(NAMES[i].name) == length && !memcmp(NAMES[i].name, name, length))
            return NAMES[i].code;
    return 0;
}

size_t ek_entities(char *text, size_t length)
{
    size_t from = 0, to = 0;
    while (from < length) {
        size_t left = length - from - 1, most = left < NAME_MOST ? left : NAME_MOST;
        const char *end = text[from] == '&' ? memchr(text + from + 1, ';', most) : NULL;
        size_t size = end ? (size_t)(end - text) - from - 1 : 0;
        uint32_t code = end ? code_of(text + from + 1, size) : 0;
        if (code) {
            to += encode(code, text + to);
            from += size + 2;
        } else {
            text[to++] = text[from++];
        }
    }
    return to;
}
