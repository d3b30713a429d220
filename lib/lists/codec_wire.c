#include "lists/codec_wire.h"

#include "lists/codec.h"

struct form {
    uint8_t kind;
    uint8_t extra; /* bytes of value or length after the tag */
};

/* Tags 0xc0 .. 0xdf. Extensions of fixed size have no length; their type byte is payload. */
static const struct form forms[32] = {
    {EK_WIRE_NIL, 0},   {EK_WIRE_NEVER, 0}, {EK_WIRE_BOOL, 0},    {EK_WIRE_BOOL, 0},
    {EK_WIRE_BIN, 1},   {EK_WIRE_BIN, 2},   {EK_WIRE_BIN, 4},     {EK_WIRE_EXT, 1},
    {EK_WIRE_EXT, 2},   {EK_WIRE_EXT, 4},   {EK_WIRE_FLOAT32, 4}, {EK_WIRE_FLOAT64, 8},
    {EK_WIRE_UINT, 1},  {EK_WIRE_UINT, 2},  {EK_WIRE_UINT, 4},    {EK_WIRE_UINT, 8},
    {EK_WIRE_INT, 1},   {EK_WIRE_INT, 2},   {EK_WIRE_INT, 4},     {EK_WIRE_INT, 8},
    {EK_WIRE_EXT, 0},   {EK_WIRE_EXT, 0},   {EK_WIRE_EXT, 0},     {EK_WIRE_EXT, 0},
    {EK_WIRE_EXT, 0},   {EK_WIRE_TEXT, 1},  {EK_WIRE_TEXT, 2},    {EK_WIRE_TEXT, 4},
    {EK_WIRE_ARRAY, 2}, {EK_WIRE_ARRAY, 4}, {EK_WIRE_MAP, 2},     {EK_WIRE_MAP, 4},
};

enum { FIRST_FORM = 0xc0, FIXEXT_FIRST = 0xd4, FIXEXT_LAST = 0xd8 };

static uint64_t load(const uint8_t *p, unsigned bytes)
{
    if (bytes < 4)
        return !bytes ? 0 : bytes == 1 ? *p : (uint64_t)p[0] << 8 | p[1];
    return bytes == 4 ? ek_load_be32(p) : ek_load_be64(p);
}

static uint64_t extend_sign(uint64_t value, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(value << shift) >> shift);
}

static void small_head(uint8_t tag, struct ek_head *h)
{
    h->count = 0;
    h->bits = 0;
    if (tag < 0x80) {
        h->kind = EK_WIRE_UINT;
        h->bits = tag;
    } else if (tag < 0x90) {
        h->kind = EK_WIRE_MAP;
        h->count = tag & 0x0f;
    } else if (tag < 0xa0) {
        h->kind = EK_WIRE_ARRAY;
        h->count = tag & 0x0f;
    } else if (tag < 0xc0) {
        h->kind = EK_WIRE_TEXT;
        h->count = tag & 0x1f;
    } else {
        h->kind = EK_WIRE_INT;
        h->bits = (uint64_t)(int64_t)(int8_t)tag;
    }
}

/* Read tags 0xc0 .. 0xdf. *size is the bytes of tag, length and value; the payload follows. */
static enum ek_wire_result large_head(const struct ek_wire *w, struct ek_head *h, size_t *size)
{
    uint8_t tag = *w->p;
    struct form form = forms[tag - FIRST_FORM];
    if (form.kind == EK_WIRE_NEVER)
        return EK_WIRE_BAD;
    if (ek_wire_left(w) <= form.extra)
        return EK_WIRE_TRUNCATED;
    uint64_t value = load(w->p + 1, form.extra);
    *size = 1u + form.extra;
    h->kind = form.kind;
    h->count = 0;
    h->bits = form.kind == EK_WIRE_INT ? extend_sign(value, form.extra) : value;
    if (form.kind == EK_WIRE_BOOL)
        h->bits = tag == EK_TAG_TRUE;
    else if (form.kind >= EK_WIRE_TEXT)
        h->count = (uint32_t)value;
    if (tag >= FIXEXT_FIRST && tag <= FIXEXT_LAST)
        h->count = 1u << (tag - FIXEXT_FIRST);
    return EK_WIRE_OK;
}

enum ek_wire_result ek_wire_head(struct ek_wire *w, struct ek_head *h)
{
    if (w->p == w->end)
        return EK_WIRE_TRUNCATED;
    size_t size = 1;
    if (*w->p >= FIRST_FORM && *w->p < 0xe0) {
        enum ek_wire_result result = large_head(w, h, &size);
        if (result)
            return result;
    } else {
        small_head(*w->p, h);
    }
    uint64_t payload = h->count;
    if (h->kind == EK_WIRE_MAP)
        payload *= 2;
    else if (h->kind == EK_WIRE_EXT)
        payload += 1;
    if (payload > ek_wire_left(w) - size)
        return EK_WIRE_TRUNCATED;
    w->p += size;
    return EK_WIRE_OK;
}

/* Return the number of objects within a container; skip any other payload. */
static uint64_t enter(struct ek_wire *w, const struct ek_head *h)
{
    switch (h->kind) {
    case EK_WIRE_TEXT:
    case EK_WIRE_BIN:
        w->p += h->count;
        return 0;
    case EK_WIRE_EXT:
        w->p += (size_t)h->count + 1;
        return 0;
    case EK_WIRE_ARRAY:
        return h->count;
    case EK_WIRE_MAP:
        return 2 * (uint64_t)h->count;
    default:
        return 0;
    }
}

/* Return the bytes of a scalar of fixed size, tag included; 0 for other tags. */
static size_t fixed_size(uint8_t tag)
{
    if (tag < FIRST_FORM || tag >= EK_TAG_SHORT_NEGATIVE)
        return tag < EK_TAG_SHORT_MAP || tag >= EK_TAG_SHORT_NEGATIVE;
    struct form form = forms[tag - FIRST_FORM];
    return form.kind <= EK_WIRE_FLOAT64 ? 1u + form.extra : 0;
}

/* Skip a run of values with the same tag, at most *todo. */
static void pass_run(struct ek_wire *w, uint64_t *todo)
{
    uint8_t tag = w->p < w->end ? *w->p : EK_TAG_SHORT_MAP;
    size_t size = fixed_size(tag);
    if (!size || ek_wire_left(w) < size)
        return;
    const uint8_t *p = w->p, *last = w->end - size;
    uint64_t left = *todo;
    for (; left && p <= last && *p == tag; left--)
        p += size;
    w->p = p;
    *todo = left;
}

enum ek_wire_result ek_wire_skip(struct ek_wire *w, int depth)
{
    uint64_t left[EK_WIRE_DEPTH_MAX];
    int level = 0;
    uint64_t todo = 1; /* remaining objects of the innermost container */
    if (depth > EK_WIRE_DEPTH_MAX)
        depth = EK_WIRE_DEPTH_MAX;
    for (;;) {
        while (!todo) {
            if (!level)
                return EK_WIRE_OK;
            todo = left[--level];
        }
        struct ek_head h;
        pass_run(w, &todo);
        if (!todo)
            continue;
        enum ek_wire_result result = ek_wire_head(w, &h);
        if (result)
            return result;
        todo--;
        uint64_t inside = enter(w, &h);
        if (!inside)
            continue;
        if (level >= depth)
            return EK_WIRE_DEEP;
        left[level++] = todo;
        todo = inside;
    }
}

enum ek_wire_result ek_wire_walk(struct ek_wire *w, uint64_t *todo)
{
    for (;;) {
        struct ek_head h;
        pass_run(w, todo);
        if (!*todo)
            return EK_WIRE_OK;
        enum ek_wire_result result = ek_wire_head(w, &h);
        if (result)
            return result;
        *todo += enter(w, &h) - 1;
    }
}

int ek_codec_extent(const void *bytes, size_t length, size_t *extent, struct ek_error *e)
{
    if (!length) {
        *extent = 0;
        return EK_OK;
    }
    struct ek_wire w = {.start = bytes, .p = bytes, .end = (const uint8_t *)bytes + length};
    uint64_t todo = 1;
    enum ek_wire_result result = ek_wire_walk(&w, &todo);
    size_t passed = (size_t)(w.p - w.start);
    if (result == EK_WIRE_BAD)
        return ek_fail(e, EK_EFORMAT, "byte %zu is 0xc1, which no msgpack has", passed);
    *extent = result == EK_WIRE_TRUNCATED ? 0 : passed;
    return EK_OK;
}

double ek_head_number(const struct ek_head *h)
{
    switch (h->kind) {
    case EK_WIRE_INT:
        return (double)(int64_t)h->bits;
    case EK_WIRE_FLOAT32:
        return (double)ek_float_from_bits((uint32_t)h->bits);
    case EK_WIRE_FLOAT64:
        return ek_double_from_bits(h->bits);
    default:
        return (double)h->bits;
    }
}

const char *ek_wire_kind_name(enum ek_wire_kind kind)
{
    static const char *const names[] = {"nil",      "a boolean", "an integer",   "an integer",
                                        "a number", "a number",  "text",         "bin",
                                        "an array", "a map",     "an extension", "an unknown tag"};
    return names[kind];
}
