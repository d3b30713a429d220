/* Errors of the decoder: every one names the field by its path. */
#include "lists/codec_inner.h"

#include <stdarg.h>
#include <stdio.h>

enum { PATH_BYTES = 256, SHOWN_KEY_BYTES = 60, MESSAGE_BYTES = 400 };

struct path {
    char text[PATH_BYTES];
    size_t length;
};

static void add(struct path *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct path *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(p->text + p->length, sizeof p->text - p->length, format, args);
    va_end(args);
    if (more > 0)
        p->length += (size_t)more;
    if (p->length >= sizeof p->text)
        p->length = sizeof p->text - 1;
}

/* Keys come from outside: cut to a length and freed of control characters. */
static void add_key(struct path *p, struct ek_text key)
{
    add(p, "%s", p->length ? "." : "");
    for (size_t i = 0; i < key.length && i < SHOWN_KEY_BYTES; i++) {
        unsigned char byte = (unsigned char)key.text[i];
        add(p, "%c", byte < 0x20 || byte == 0x7f ? '?' : byte);
    }
    if (key.length > SHOWN_KEY_BYTES)
        add(p, "...");
}

/* `items[3].features.price`, or `message` for the message itself. */
static void write_path(const struct ek_decode *d, struct path *p)
{
    if (d->item >= 0 && d->c->layout == EK_LAYOUT_ITEM)
        add(p, "%s", d->c->items->path);
    else if (d->item >= 0)
        add(p, "%s[%d]", d->c->items->path, d->item);
    if (d->field)
        add(p, "%s%s", p->length ? "." : "", d->field->path);
    if (d->key.text)
        add_key(p, d->key);
    if (d->index >= 0)
        add(p, "[%d]", d->index);
    if (!p->length)
        add(p, "message");
}

int ek_decode_fail(struct ek_decode *d, enum ek_code code, const char *format, ...)
{
    struct path path = {"", 0};
    char what[MESSAGE_BYTES];
    va_list args;
    if (!d->e)
        return (int)code;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    write_path(d, &path);
    return ek_fail(d->e, code, "%s: %s", path.text, what);
}

const struct ek_words ek_words_msgpack = {
    .map = "a map",
    .nil = "nil",
    .number = "a number or nil",
    .id = "text, bin or an integer",
    .values = "an array, bin or a map",
};
const struct ek_words ek_words_json = {
    .map = "an object",
    .nil = "null",
    .number = "a number or null",
    .id = "text or an integer",
    .values = "an array or an object",
};

const char *ek_decode_kind(const struct ek_decode *d, enum ek_wire_kind kind)
{
    if (kind == EK_WIRE_NIL)
        return d->words->nil;
    return kind == EK_WIRE_MAP ? d->words->map : ek_wire_kind_name(kind);
}

int ek_decode_wire_fail(struct ek_decode *d, enum ek_wire_result result)
{
    if (result == EK_WIRE_CUT)
        return ek_decode_fail(d, EK_EFORMAT, "the message of %zu bytes is cut short",
                              (size_t)(d->w.end - d->w.start));
    if (result == EK_WIRE_DEEP)
        return ek_decode_fail(d, EK_ELIMIT, "nested deeper than %d levels", d->c->limits.depth);
    return ek_decode_fail(d, EK_EFORMAT, "byte %zu is 0xc1, which no msgpack has",
                          (size_t)(d->w.p - d->w.start));
}
