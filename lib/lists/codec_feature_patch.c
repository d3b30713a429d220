#include "lists/codec_internal.h"
#include "lists/codec_json.h"

#include <math.h>

enum { FLOAT32_BYTES = 5, FLOAT64_BYTES = 9, PER_VALUE_MAX = EK_JSON_NUMBER_BYTES + 2 };

/* State of a patch. `w` reads the msgpack form; `in` is the message. */
struct patching {
    const struct ek_codec *c;
    const struct ek_list *q;
    const uint8_t *in;
    size_t length, copied; /* of `in`: total, and already in the output */
    struct ek_wire w;
    struct ek_feature_patch *patch;
    struct ek_buf *out;
    struct ek_error *e;
    int item;
};

static int mismatch(struct patching *p)
{
    return ek_fail(p->e, EK_ESTATE, "items[%d]: the list is not that of the message", p->item);
}

/* Replace `length` bytes at `offset` of the message. */
static int replace(struct patching *p, size_t offset, size_t length, const void *by, size_t bytes)
{
    if (offset < p->copied || offset > p->length || length > p->length - offset)
        return mismatch(p);
    int rc = ek_buf_add(p->out, p->in + p->copied, offset - p->copied);
    if (!rc)
        rc = ek_buf_add(p->out, by, bytes);
    if (rc)
        return ek_fail(p->e, (enum ek_code)rc, "out of memory");
    p->copied = offset + length;
    p->patch->changed++;
    return EK_OK;
}

/* Return whether to replace `value`, with the new value in *out. */
static bool repair_value(struct patching *p, int feature, double value, bool narrow, double *out)
{
    *out = p->patch->value(p->patch->context, p->item, feature, value, narrow);
    return !(*out == value || (isnan(*out) && isnan(value)));
}

static size_t store_double(uint8_t *to, double value)
{
    to[0] = EK_TAG_FLOAT64;
    ek_store_be64(to + 1, ek_double_to_bits(value));
    return FLOAT64_BYTES;
}

static size_t store_big_endian(uint8_t *to, uint8_t tag, uint64_t bits, int bytes)
{
    to[0] = tag;
    for (int i = 0; i < bytes; i++)
        to[1 + i] = (uint8_t)(bits >> 8 * (bytes - 1 - i));
    return 1 + (size_t)bytes;
}

/* Return the shortest form of a whole number, as encoders write it. */
static size_t store_shortest(uint8_t *to, int64_t value)
{
    uint64_t bits = (uint64_t)value;
    if (value >= -32 && value < EK_TAG_SHORT_MAP)
        return store_big_endian(to, (uint8_t)bits, 0, 0);
    for (int log = 0; log < 3; log++) {
        int bytes = 1 << log;
        if (value >= 0 && !(bits >> 8 * bytes))
            return store_big_endian(to, (uint8_t)(EK_TAG_UINT8 + log), bits, bytes);
        if (value < 0 && value >= -(INT64_C(1) << (8 * bytes - 1)))
            return store_big_endian(to, (uint8_t)(EK_TAG_INT8 + log), bits, bytes);
    }
    return store_big_endian(to, value < 0 ? EK_TAG_INT64 : EK_TAG_UINT64, bits, 8);
}

/* Write a whole number in the form with tag `tag`. Return its bytes, 0 if it does not fit. */
static size_t store_fixed(uint8_t *to, uint8_t tag, int64_t value)
{
    if (tag < EK_TAG_UINT8 || tag > EK_TAG_INT64)
        return 0;
    bool is_signed = tag >= EK_TAG_INT8;
    int bytes = 1 << ((tag - EK_TAG_UINT8) & 3); /* both kinds have 1, 2, 4 and 8 bytes */
    int64_t most = bytes == 8 ? INT64_MAX : (INT64_C(1) << (8 * bytes - is_signed)) - 1;
    if (value > most || value < (is_signed ? -most - 1 : 0))
        return 0;
    return store_big_endian(to, tag, (uint64_t)value, bytes);
}

/* Write a number in place of an integer of `length` bytes. Encoders write the shortest form or a
 * fixed one: the result is what the same encoder writes for the value before the fault. */
static size_t store_whole(uint8_t *to, const uint8_t *was, size_t length, const struct ek_head *h,
                          double value)
{
    static const double EXACT = 0x1p53;
    uint8_t shortest[FLOAT64_BYTES];
    if (value != rint(value) || fabs(value) > EXACT)
        return store_double(to, value);
    bool was_shortest = store_shortest(shortest, (int64_t)h->bits) == length;
    size_t bytes = was_shortest ? 0 : store_fixed(to, *was, (int64_t)value);
    return bytes ? bytes : store_shortest(to, (int64_t)value);
}

/* Write a msgpack number in place of the value with head `h`. */
static size_t store_wire(uint8_t *to, const uint8_t *was, size_t length, const struct ek_head *h,
                         double value)
{
    if (h->kind == EK_WIRE_FLOAT32) {
        to[0] = EK_TAG_FLOAT32;
        ek_store_be32(to + 1, ek_float_to_bits((float)value));
        return FLOAT32_BYTES;
    }
    if (h->kind == EK_WIRE_FLOAT64 || h->kind == EK_WIRE_NIL)
        return store_double(to, value);
    to[0] = EK_TAG_NIL;
    return isnan(value) ? 1 : store_whole(to, was, length, h, value);
}

/* Write a JSON number in place of the text `was`. */
static size_t store_text(char *to, const char *was, size_t length, double value)
{
    if (isnan(value)) {
        memcpy(to, "null", 4);
        return 4;
    }
    size_t bytes = ek_json_double(to, value);
    bool has_point = length > 2 && was[length - 2] == '.' && was[length - 1] == '0';
    if (has_point && !memchr(to, '.', bytes) && !memchr(to, 'e', bytes)) {
        memcpy(to + bytes, ".0", 2);
        bytes += 2;
    }
    return bytes;
}

static bool read_head(struct patching *p, struct ek_head *h)
{
    return !ek_wire_head(&p->w, h);
}

/* Return the number of a head, NaN for nil. */
static double number_of(const struct ek_head *h)
{
    return h->kind == EK_WIRE_NIL ? (double)NAN : ek_head_number(h);
}

/* Patch the value that begins at `start` and was just read. text: its place in JSON. */
static int patch_value(struct patching *p, int feature, const uint8_t *start,
                       const struct ek_head *h, const struct ek_place *text)
{
    uint8_t to[PER_VALUE_MAX];
    double value;
    if (!repair_value(p, feature, number_of(h), h->kind == EK_WIRE_FLOAT32, &value))
        return EK_OK;
    if (text)
        return replace(
            p, text->offset, text->length, to,
            store_text((char *)to, (const char *)p->in + text->offset, text->length, value));
    size_t length = (size_t)(p->w.p - start);
    return replace(p, (size_t)(start - p->w.start), length, to,
                   store_wire(to, start, length, h, value));
}

static int patch_bin(struct patching *p, int count)
{
    int rc = EK_OK;
    size_t at = (size_t)(p->w.p - p->w.start);
    for (int f = 0; f < count && !rc; f++) {
        const uint8_t *is = p->w.p + 4 * (size_t)f;
        uint32_t bits = ek_load_be32(is);
        float was = ek_float_from_bits(__builtin_bswap32(bits));
        uint8_t to[4];
        double value;
        if (!p->patch->wanted[f] || !repair_value(p, f, (double)was, true, &value))
            continue;
        ek_store_be32(to, __builtin_bswap32(ek_float_to_bits((float)value)));
        rc = replace(p, at + 4 * (size_t)f, sizeof to, to, sizeof to);
    }
    return rc;
}

static bool is_between(uint8_t byte)
{
    return byte == ',' || byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Advance *text to the next number or null of a JSON array, which is valid. */
static bool next_text(const struct patching *p, struct ek_place *text)
{
    size_t at = (size_t)text->offset + text->length, end;
    while (at < p->length && is_between(p->in[at]))
        at++;
    for (end = at; end < p->length && !is_between(p->in[end]) && p->in[end] != ']';)
        end++;
    *text = (struct ek_place){(uint32_t)at, (uint32_t)(end - at)};
    return end < p->length && end > at;
}

static int patch_array(struct patching *p, size_t at, int count)
{
    struct ek_place text = {0, 0};
    int rc = EK_OK;
    if (p->q->from_json && !ek_json_place(p->q->json, at, &text))
        return mismatch(p);
    for (int f = 0; f < count && !rc; f++) {
        const uint8_t *start = p->w.p;
        struct ek_head h;
        if (!read_head(p, &h) || (p->q->from_json && !next_text(p, &text)))
            return mismatch(p);
        if (p->patch->wanted[f])
            rc = patch_value(p, f, start, &h, p->q->from_json ? &text : NULL);
    }
    return rc;
}

static int patch_entry(struct patching *p)
{
    struct ek_head key, h;
    if (!read_head(p, &key))
        return mismatch(p);
    const struct ek_text name = {(const char *)p->w.p, key.count};
    p->w.p += key.count;
    int f = ek_names_find(&p->c->item_names, name);
    const uint8_t *start = p->w.p;
    size_t at = (size_t)(start - p->w.start);
    struct ek_place text;
    if (f < 0 || !p->patch->wanted[f])
        return ek_wire_skip(&p->w, EK_WIRE_DEPTH_MAX) ? mismatch(p) : EK_OK;
    if (!read_head(p, &h) || (p->q->from_json && !ek_json_place(p->q->json, at, &text)))
        return mismatch(p);
    return patch_value(p, f, start, &h, p->q->from_json ? &text : NULL);
}

static int patch_item(struct patching *p)
{
    int count = p->c->item_names.count, rc = EK_OK;
    size_t at = p->q->values_at[p->item];
    struct ek_head h;
    if (at > (size_t)(p->w.end - p->w.start))
        return mismatch(p);
    p->w.p = p->w.start + at;
    if (!read_head(p, &h))
        return mismatch(p);
    if (h.kind == EK_WIRE_BIN && h.count == 4 * (uint32_t)count)
        return patch_bin(p, count);
    if (h.kind == EK_WIRE_ARRAY && h.count == (uint32_t)count)
        return patch_array(p, at, count);
    if (h.kind != EK_WIRE_MAP)
        return mismatch(p);
    for (uint32_t i = 0; i < h.count && !rc; i++)
        rc = patch_entry(p);
    return rc;
}

int ek_codec_patch_features(const struct ek_codec *c, const struct ek_list *q, const void *bytes,
                            size_t length, struct ek_feature_patch *patch, struct ek_buf *out,
                            struct ek_error *e)
{
    struct patching p = {
        .c = c, .q = q, .in = bytes, .length = length, .patch = patch, .out = out, .e = e};
    const uint8_t *wire = bytes;
    size_t wire_length = length;
    int rc = EK_OK;
    ek_buf_clear(out);
    patch->changed = 0;
    if (q->from_json)
        wire = ek_json_wire(q->json, &wire_length);
    p.w = (struct ek_wire){wire, wire, wire + wire_length};
    for (p.item = 0; p.item < q->items && !rc && c->item_names.count; p.item++)
        rc = patch_item(&p);
    if (!rc && patch->changed && ek_buf_add(out, p.in + p.copied, length - p.copied))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_buf_clear(out);
    return rc;
}
