#include "base/buf.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };
static const size_t DEFAULT_LIMIT = (size_t)1 << 30;

void ek_buf_init(struct ek_buf *b, size_t limit)
{
    memset(b, 0, sizeof *b);
    b->limit = limit ? limit : DEFAULT_LIMIT;
}

void ek_buf_release(struct ek_buf *b)
{
    ek_free(b->data);
    b->data = NULL;
    b->length = b->capacity = 0;
    b->rc = EK_OK;
}

void ek_buf_clear(struct ek_buf *b)
{
    ek_buf_truncate(b, 0);
}

void ek_buf_truncate(struct ek_buf *b, size_t length)
{
    b->length = length;
    b->rc = EK_OK;
}

int ek_buf_reserve(struct ek_buf *b, size_t more)
{
    if (b->rc)
        return b->rc;
    if (more <= b->capacity - b->length)
        return EK_OK;
    if (more > b->limit - b->length)
        return EK_ELIMIT;
    size_t want = b->length + more, size = b->capacity ? b->capacity : FIRST_CAPACITY;
    while (size < want)
        size = size > b->limit / 2 ? b->limit : size * 2;
    if (size > b->limit)
        size = b->limit;
    uint8_t *data = ek_realloc(b->data, size, 1);
    if (!data)
        return EK_ENOMEM;
    b->data = data;
    b->capacity = size;
    return EK_OK;
}

int ek_buf_add(struct ek_buf *b, const void *bytes, size_t length)
{
    b->rc = ek_buf_reserve(b, length);
    if (b->rc || !length)
        return b->rc;
    memcpy(b->data + b->length, bytes, length);
    b->length += length;
    return EK_OK;
}

int ek_buf_text(struct ek_buf *b, const char *text)
{
    return ek_buf_add(b, text, strlen(text));
}

int ek_buf_printf(struct ek_buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (!b->rc)
        b->rc = size < 0 ? EK_EFORMAT : ek_buf_reserve(b, (size_t)size + 1);
    if (!b->rc) {
        vsnprintf((char *)b->data + b->length, (size_t)size + 1, format, again);
        b->length += (size_t)size;
    }
    va_end(again);
    return b->rc;
}

size_t ek_utf8_length(const unsigned char *p, size_t n)
{
    size_t want = p[0] < 0x80   ? 1
                  : p[0] < 0xc2 ? 0
                  : p[0] < 0xe0 ? 2
                  : p[0] < 0xf0 ? 3
                  : p[0] < 0xf5 ? 4
                                : 0;
    if (!want || want > n)
        return 0;
    for (size_t i = 1; i < want; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0; /* overlong, surrogate or beyond U+10FFFF */
    return want;
}

bool ek_utf8_is_valid(const char *text, size_t length)
{
    for (size_t i = 0, size; i < length; i += size) {
        size = ek_utf8_length((const unsigned char *)text + i, length - i);
        if (!size)
            return false;
    }
    return true;
}

size_t ek_utf8_within(const char *text, size_t most)
{
    size_t length = strlen(text), at = 0;
    if (length <= most)
        return length;
    while (at < most) {
        size_t one = ek_utf8_length((const unsigned char *)text + at, length - at);
        if (at + (one ? one : 1) > most)
            break;
        at += one ? one : 1;
    }
    return at;
}

/* Return the code point of a valid sequence. */
static unsigned code_point(const unsigned char *p, size_t size)
{
    unsigned code = size < 2 ? p[0] : p[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (p[i] & 0x3fu);
    return code;
}

/* Return true for what YAML forbids or takes for a line end, and terminals may execute: control
 * characters, line separators and noncharacters. */
static bool needs_escape(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           code == 0xfffe || code == 0xffff;
}

static void add_json_char(struct ek_buf *b, const unsigned char *p, size_t size)
{
    unsigned code = code_point(p, size);
    if (!size)
        ek_buf_text(b, "\xef\xbf\xbd");
    else if (needs_escape(code))
        ek_buf_printf(b, "\\u%04x", code);
    else if (code == '"' || code == '\\')
        ek_buf_printf(b, "\\%c", p[0]);
    else
        ek_buf_add(b, p, size);
}

int ek_buf_json(struct ek_buf *b, const char *text, size_t length)
{
    size_t start = b->length;
    ek_buf_text(b, "\"");
    for (size_t i = 0; !b->rc && i < length;) {
        const unsigned char *p = (const unsigned char *)text + i;
        size_t size = ek_utf8_length(p, length - i);
        add_json_char(b, p, size);
        i += size ? size : 1;
    }
    if (ek_buf_text(b, "\""))
        b->length = start;
    return b->rc;
}

static int add_ascii_char(struct ek_buf *b, unsigned code)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = code && code < 0x80 ? strchr(escaped, (int)code) : NULL;
    if (found)
        return ek_buf_printf(b, "\\%c", letters[found - escaped]);
    if (code >= 0x20 && code < 0x80)
        return ek_buf_printf(b, "%c", (char)code);
    if (code < 0x10000)
        return ek_buf_printf(b, "\\u%04X", code);
    code -= 0x10000;
    return ek_buf_printf(b, "\\u%04X\\u%04X", 0xd800 | code >> 10, 0xdc00 | (code & 0x3ff));
}

int ek_buf_json_ascii(struct ek_buf *b, const char *text, size_t length)
{
    size_t start = b->length;
    int rc = ek_buf_text(b, "\"");
    for (size_t i = 0; !rc && i < length;) {
        const unsigned char *p = (const unsigned char *)text + i;
        size_t size = ek_utf8_length(p, length - i);
        rc = add_ascii_char(b, size ? code_point(p, size) : 0xfffd);
        i += size ? size : 1;
    }
    if (!rc)
        rc = ek_buf_text(b, "\"");
    if (rc)
        b->length = start;
    return rc;
}

const char *ek_buf_string(struct ek_buf *b)
{
    if (ek_buf_reserve(b, 1))
        return NULL;
    b->data[b->length] = 0;
    return (const char *)b->data;
}
