#include "lists/schema_message.h"
#include "base/json.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"

#include <math.h>

enum { FLOAT32_BYTES = 5, FLOAT64_BYTES = 9, PER_VALUE_MAX = EK_JSON_NUMBER_BYTES + 4 };

/* State of a patch, which visits the features in the order of the message. `w` reads the msgpack
 * form; `in` is the message. */
struct patching {
    const struct ek_codec *c;
    const struct ek_list *q;
    const uint8_t *in;
    size_t length, copied; /* of `in`: total, and already in the output */
    struct ek_wire w;
    struct ek_feature_patch *patch;
    struct ek_buf *out;
    struct ek_error *e;
    int item;                     /* QUERY: the query features */
    const struct ek_names *names; /* of the features of the item or the query */
    bool queries;                 /* some query feature is wanted */
    bool grown;                   /* columns were appended */
};

enum { QUERY = -1 };

/* Set *e to the position and a text. Return `code`. */
static int fail_at(const struct patching *p, enum ek_code code, const char *text)
{
    return p->item == QUERY ? ek_fail(p->e, code, "query_features: %s", text)
                            : ek_fail(p->e, code, "items[%d]: %s", p->item, text);
}

static int mismatch(struct patching *p)
{
    return fail_at(p, EK_ESTATE, "the list is not that of the message");
}

/* Return the number of feature `f` of the item or the query among the watched ones, or -1. */
static int number_of(const struct patching *p, int f)
{
    return p->item == QUERY ? p->c->manifest->watched_of_query[f] : f;
}

static bool is_wanted(const struct patching *p, int f)
{
    int number = number_of(p, f);
    return number >= 0 && p->patch->wanted[number];
}

static int out_of_memory(struct patching *p)
{
    return ek_fail(p->e, EK_ENOMEM, "out of memory");
}

/* Put other bytes in place of `length` bytes at `offset` of the message. */
static int splice(struct patching *p, size_t offset, size_t length, const void *by, size_t bytes)
{
    if (offset < p->copied && p->q->from_schema)
        return fail_at(
            p, EK_EFORMAT,
            "the parts of a repeated field are not in one place, so that features cannot "
            "be repaired");
    if (offset < p->copied || offset > p->length || length > p->length - offset)
        return mismatch(p);
    int rc = ek_buf_add(p->out, p->in + p->copied, offset - p->copied);
    if (!rc)
        rc = ek_buf_add(p->out, by, bytes);
    if (rc)
        return ek_fail(p->e, (enum ek_code)rc, "out of memory");
    p->copied = offset + length;
    return EK_OK;
}

/* Replace a value. */
static int replace(struct patching *p, size_t offset, size_t length, const void *by, size_t bytes)
{
    int rc = splice(p, offset, length, by, bytes);
    p->patch->changed += !rc;
    return rc;
}

/* Return whether to replace `value`, with the new value in *out. */
static bool repair_value(struct patching *p, int feature, double value, bool narrow, double *out)
{
    *out = p->patch->value(p->patch->context, p->item, number_of(p, feature), value, narrow);
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

/* Write a number as text in place of text. */
static size_t store_text(uint8_t *to, double value)
{
    size_t bytes = ek_json_plain((char *)to + 1, value);
    to[0] = (uint8_t)(EK_TAG_SHORT_TEXT | bytes);
    return 1 + bytes;
}

/* Write a msgpack number in place of the value with head `h`. */
static size_t store_wire(uint8_t *to, const uint8_t *was, size_t length, const struct ek_head *h,
                         double value)
{
    bool is_bool = h->kind == EK_WIRE_BOOL && (value == 0 || value == 1);
    if (h->kind == EK_WIRE_FLOAT32) {
        to[0] = EK_TAG_FLOAT32;
        ek_store_be32(to + 1, ek_float_to_bits((float)value));
        return FLOAT32_BYTES;
    }
    if (h->kind == EK_WIRE_FLOAT64 || h->kind == EK_WIRE_NIL)
        return store_double(to, value);
    to[0] = (uint8_t)(is_bool ? EK_TAG_FALSE + (value == 1) : EK_TAG_NIL);
    if (is_bool || isnan(value))
        return 1;
    return h->kind == EK_WIRE_TEXT ? store_text(to, value) : store_whole(to, was, length, h, value);
}

static size_t store_word(char *to, const char *word)
{
    size_t length = strlen(word);
    memcpy(to, word, length);
    return length;
}

/* Write a JSON number in place of the number, null, boolean or text `was`. */
static size_t store_json(char *to, const char *was, size_t length, double value)
{
    size_t quote = *was == '"';
    bool is_bool = *was == 't' || *was == 'f';
    if (isnan(value))
        return store_word(to, "null");
    if (is_bool && (value == 0 || value == 1))
        return store_word(to, value == 1 ? "true" : "false");
    to[0] = '"';
    size_t bytes = quote + ek_json_plain(to + quote, value);
    const char *end = was + length - quote;
    bool has_point = length > 2 + 2 * quote && end[-2] == '.' && end[-1] == '0';
    if (has_point && !memchr(to, '.', bytes) && !memchr(to, 'e', bytes))
        bytes += store_word(to + bytes, ".0");
    return bytes + (quote ? store_word(to + bytes, "\"") : 0);
}

static bool read_head(struct patching *p, struct ek_head *h)
{
    return !ek_wire_head(&p->w, h);
}

static int skip(struct patching *p)
{
    return ek_wire_skip(&p->w, EK_WIRE_DEPTH_MAX) ? mismatch(p) : EK_OK;
}

/* Set *value to the number of a value and move past it. Return false if it is another one. */
static bool read_value(struct patching *p, struct ek_head *h, double *value)
{
    if (!read_head(p, h))
        return false;
    *value = h->kind == EK_WIRE_NIL    ? (double)NAN
             : h->kind == EK_WIRE_BOOL ? (double)h->bits
             : ek_head_is_number(h)    ? ek_head_number(h)
                                       : 0;
    if (h->kind != EK_WIRE_TEXT)
        return h->kind <= EK_WIRE_FLOAT64;
    struct ek_text text = {(const char *)p->w.p, h->count};
    p->w.p += h->count;
    return p->c->numeric_strings && ek_text_number(text, value);
}

/* Replace a value of a schema in its width; an integer or boolean has none, and its neighbors
 * cannot move. */
static int patch_schema(struct patching *p, size_t offset, size_t length, double value)
{
    uint8_t to[PER_VALUE_MAX];
    if (length)
        return replace(p, offset, length, to, ek_schema_store(to, length, value));
    return fail_at(p, EK_EFORMAT,
                   ek_schema_is_proto(p->q->converted)
                       ? "a feature is an integer, or in several parts of the message, and cannot "
                         "be repaired in place; use float or double, packed if repeated"
                       : "a feature is an Avro integer, which has no fixed width and cannot be "
                         "repaired in place; use float or double");
}

/* Patch the next value. The null of a union stays. */
static int patch_value(struct patching *p, int feature)
{
    uint8_t to[PER_VALUE_MAX];
    const uint8_t *start = p->w.p;
    size_t at = (size_t)(start - p->w.start);
    struct ek_place text;
    struct ek_head h;
    double value;
    if (!is_wanted(p, feature))
        return skip(p);
    if (p->item >= p->q->items || !read_value(p, &h, &value))
        return mismatch(p);
    if (p->q->from_schema && h.kind == EK_WIRE_NIL)
        return EK_OK;
    if (!repair_value(p, feature, value, h.kind == EK_WIRE_FLOAT32, &value))
        return EK_OK;
    if (p->q->from_schema) {
        bool has_width = ek_schema_place(p->q->converted, at, &text);
        return patch_schema(p, has_width ? text.offset : 0, has_width ? text.length : 0, value);
    }
    size_t length = (size_t)(p->w.p - start);
    if (!p->q->from_json)
        return replace(p, at, length, to, store_wire(to, start, length, &h, value));
    if (!ek_json_place(p->q->json, at, &text) || text.offset > p->length ||
        text.length > p->length - text.offset)
        return mismatch(p);
    return replace(p, text.offset, text.length, to,
                   store_json((char *)to, (const char *)p->in + text.offset, text.length, value));
}

/* Return whether the features of this item grow. */
static bool grows(const struct patching *p)
{
    return p->item != QUERY && p->patch->columns && !p->q->from_schema &&
           p->c->layout != EK_LAYOUT_COLUMNS;
}

/* Write the head of a container. Return its bytes. */
static size_t store_head(uint8_t *to, enum ek_wire_kind kind, uint32_t count)
{
    enum { SHORT_ARRAY = 0x90, SHORT_COUNT = 15 };
    int width = count > UINT16_MAX ? 2 : kind != EK_WIRE_BIN || count > UINT8_MAX;
    if (kind == EK_WIRE_BIN)
        return store_big_endian(to, (uint8_t)(EK_TAG_BIN8 + width), count, 1 << width);
    bool is_map = kind == EK_WIRE_MAP;
    if (count <= SHORT_COUNT)
        return store_big_endian(to, (uint8_t)((is_map ? EK_TAG_SHORT_MAP : SHORT_ARRAY) | count), 0,
                                0);
    uint8_t tag = (uint8_t)((is_map ? EK_TAG_MAP32 : EK_TAG_ARRAY32) - 2 + width);
    return store_big_endian(to, tag, count, 1 << width);
}

/* Replace the head of `bytes` bytes at `at` of a msgpack message by that of a larger container. */
static int grow_head(struct patching *p, size_t at, size_t bytes, enum ek_wire_kind kind,
                     uint32_t count)
{
    uint8_t to[PER_VALUE_MAX];
    p->grown = true;
    return splice(p, at, bytes, to, store_head(to, kind, count));
}

static const double *columns_of(const struct patching *p)
{
    return p->patch->column + (size_t)p->item * (size_t)p->patch->columns;
}

static size_t store_column(uint8_t *to, double value)
{
    if (isnan(value))
        return store_big_endian(to, EK_TAG_NIL, 0, 0);
    to[0] = EK_TAG_FLOAT32;
    ek_store_be32(to + 1, ek_float_to_bits((float)value));
    return FLOAT32_BYTES;
}

static size_t store_json_column(char *to, double value)
{
    return isnan(value) ? store_word(to, "null") : ek_json_double(to, value);
}

/* Append the columns after the last element of an array, which ends at `at`. */
static int append_elements(struct patching *p, size_t at)
{
    uint8_t to[PER_VALUE_MAX];
    bool json = p->q->from_json;
    int rc = splice(p, at, 0, "", 0);
    for (int i = 0; i < p->patch->columns && !rc; i++) {
        double value = columns_of(p)[i];
        size_t bytes =
            json ? store_json_column((char *)to + 1, value) + 1 : store_column(to, value);
        to[0] = json ? ',' : to[0];
        rc = ek_buf_add(p->out, to, bytes) ? out_of_memory(p) : EK_OK;
    }
    return rc;
}

/* Append the columns after the float32 of a `bin`, which end at `at`. */
static int append_floats(struct patching *p, size_t at)
{
    int rc = splice(p, at, 0, "", 0);
    for (int i = 0; i < p->patch->columns && !rc; i++) {
        uint8_t to[4];
        ek_store_be32(to, __builtin_bswap32(ek_float_to_bits((float)columns_of(p)[i])));
        rc = ek_buf_add(p->out, to, sizeof to) ? out_of_memory(p) : EK_OK;
    }
    return rc;
}

/* Add a msgpack string. */
static int add_wire_text(struct ek_buf *out, const char *text)
{
    uint8_t to[PER_VALUE_MAX];
    size_t length = strlen(text);
    bool is_short = length < EK_TAG_NIL - EK_TAG_SHORT_TEXT;
    size_t bytes = is_short ? store_big_endian(to, (uint8_t)(EK_TAG_SHORT_TEXT | length), 0, 0)
                            : store_big_endian(to, EK_TAG_TEXT16, length, 2);
    int rc = ek_buf_add(out, to, bytes);
    return rc ? rc : ek_buf_add(out, text, length);
}

/* Add a name and its value to a map, or as a map of its own. */
static int add_wire_name(struct ek_buf *out, const char *name, double value, bool pair)
{
    uint8_t to[PER_VALUE_MAX];
    static const uint8_t TWO = EK_TAG_SHORT_MAP | 2;
    int rc = pair ? ek_buf_add(out, &TWO, 1) : EK_OK;
    if (!rc && pair)
        rc = add_wire_text(out, "name");
    if (!rc)
        rc = add_wire_text(out, name);
    if (!rc && pair)
        rc = add_wire_text(out, "value");
    return rc ? rc : ek_buf_add(out, to, store_column(to, value));
}

/* The same as JSON text, with a comma after it. */
static int add_json_name(struct ek_buf *out, const char *name, double value, bool pair, bool more)
{
    char number[PER_VALUE_MAX];
    struct ek_json_writer w;
    int rc = pair ? ek_buf_text(out, "{\"name\":") : EK_OK;
    ek_json_init(&w, out);
    ek_json_add_text(&w, NULL, name);
    rc = rc ? rc : w.rc;
    if (!rc)
        rc = ek_buf_text(out, pair ? ",\"value\":" : ":");
    if (!rc)
        rc = ek_buf_add(out, number, store_json_column(number, value));
    if (!rc && pair)
        rc = ek_buf_text(out, "}");
    return rc || !more ? rc : ek_buf_text(out, ",");
}

/* Put the columns before the entries of a map, or of an array of {name, value}, whose head is at
 * `at`. */
static int add_names(struct patching *p, size_t at, const struct ek_head *h, bool pair)
{
    int count = p->patch->columns, rc;
    struct ek_place text;
    if (!p->q->from_json)
        rc = grow_head(p, at, (size_t)(p->w.p - p->w.start) - at, h->kind,
                       h->count + (uint32_t)count);
    else if (ek_json_place(p->q->json, at, &text))
        rc = splice(p, text.offset + 1, 0, "", 0);
    else
        rc = mismatch(p);
    p->grown |= !rc;
    for (int i = 0; i < count && !rc; i++) {
        const char *name = p->patch->name[i];
        double value = columns_of(p)[i];
        rc = p->q->from_json ? add_json_name(p->out, name, value, pair, i + 1 < count || h->count)
                             : add_wire_name(p->out, name, value, pair);
        rc = rc ? out_of_memory(p) : EK_OK;
    }
    return rc;
}

/* Set *end to the end of the value at `at` in the message, whose msgpack form ends here. */
static bool find_end(struct patching *p, size_t at, size_t *end)
{
    struct ek_place text;
    *end = (size_t)(p->w.p - p->w.start);
    if (!p->q->from_json)
        return true;
    bool found = ek_json_place(p->q->json, at, &text);
    *end = found ? text.offset + text.length : 0;
    return found;
}

/* Patch the floats of a `bin` whose head is at `head`. */
static int patch_bin(struct patching *p, size_t head, int count)
{
    int rc = EK_OK;
    size_t at = (size_t)(p->w.p - p->w.start);
    bool grow = grows(p) && p->item < p->q->items;
    if (grow)
        rc = grow_head(p, head, at - head, EK_WIRE_BIN, 4 * (uint32_t)(count + p->patch->columns));
    for (int f = 0; f < count && !rc; f++) {
        const uint8_t *is = p->w.p + 4 * (size_t)f;
        uint32_t bits = ek_load_be32(is);
        float was = ek_float_from_bits(__builtin_bswap32(bits));
        uint8_t to[4];
        double value;
        if (!is_wanted(p, f) || !repair_value(p, f, (double)was, true, &value))
            continue;
        ek_store_be32(to, __builtin_bswap32(ek_float_to_bits((float)value)));
        rc = replace(p, at + 4 * (size_t)f, sizeof to, to, sizeof to);
    }
    p->w.p += 4 * (size_t)count;
    return rc || !grow ? rc : append_floats(p, at + 4 * (size_t)count);
}

/* Patch an array or bytes of a message with a schema, whose `bin` begins at `at`. Nulls stay. */
static int patch_schema_row(struct patching *p, size_t at, int count)
{
    struct ek_schema_row row;
    struct ek_schema_value v;
    int rc = EK_OK;
    if (!ek_schema_row_start(p->q->converted, at, p->in, p->length, p->w.p, (size_t)count, &row))
        return mismatch(p);
    for (int f = 0; f < count && !rc; f++) {
        double value;
        if (!ek_schema_row_next(&row, &v))
            return mismatch(p);
        if (!is_wanted(p, f) || v.is_null ||
            !repair_value(p, f, v.number, v.length == sizeof(float), &value))
            continue;
        rc = patch_schema(p, v.at, v.length, value);
    }
    p->w.p += 4 * (size_t)count;
    return rc;
}

/* Patch an array of values whose head is at `at`. */
static int patch_array(struct patching *p, size_t at, int count)
{
    int rc = EK_OK;
    size_t last = 0, end;
    bool grow = grows(p) && p->item < p->q->items;
    if (grow && !p->q->from_json)
        rc = grow_head(p, at, (size_t)(p->w.p - p->w.start) - at, EK_WIRE_ARRAY,
                       (uint32_t)(count + p->patch->columns));
    for (int f = 0; f < count && !rc; f++) {
        last = (size_t)(p->w.p - p->w.start);
        rc = patch_value(p, f);
    }
    if (rc || !grow)
        return rc;
    p->grown = true;
    return find_end(p, last, &end) ? append_elements(p, end) : mismatch(p);
}

/* Read a key; text NULL: another type, which was skipped. */
static int read_key(struct patching *p, struct ek_text *key)
{
    const uint8_t *start = p->w.p;
    struct ek_head h;
    if (!read_head(p, &h))
        return mismatch(p);
    *key = (struct ek_text){NULL, 0};
    if (h.kind != EK_WIRE_TEXT) {
        p->w.p = start;
        return skip(p);
    }
    *key = (struct ek_text){(const char *)p->w.p, h.count};
    p->w.p += h.count;
    return EK_OK;
}

/* Patch an array of {name, value}. */
static int patch_pairs(struct patching *p, uint32_t count)
{
    int rc = EK_OK;
    for (uint32_t i = 0; i < count && !rc; i++) {
        struct ek_pair pair;
        struct ek_head h;
        if (!read_head(p, &h) || h.kind != EK_WIRE_MAP ||
            ek_pair_read(&p->w, h.count, EK_WIRE_DEPTH_MAX, &pair) || !pair.name.text)
            return mismatch(p);
        const uint8_t *after = p->w.p;
        int f = pair.value ? ek_names_find(p->names, pair.name) : -1;
        if (f < 0)
            continue;
        p->w.p = pair.value;
        rc = patch_value(p, f);
        p->w.p = after;
    }
    return rc;
}

static int patch_column(struct patching *p, int feature)
{
    struct ek_head h;
    int rc = EK_OK;
    if (!is_wanted(p, feature))
        return skip(p);
    if (!read_head(p, &h) ||
        (h.kind != EK_WIRE_NIL && (h.kind != EK_WIRE_ARRAY || h.count != (uint32_t)p->q->items)))
        return mismatch(p);
    for (p->item = 0; h.kind == EK_WIRE_ARRAY && p->item < p->q->items && !rc; p->item++)
        rc = patch_value(p, feature);
    return rc;
}

/* Patch a map of feature names to values or, with columns, to arrays. */
static int patch_names(struct patching *p, uint32_t pairs)
{
    bool columns = p->c->layout == EK_LAYOUT_COLUMNS && p->item != QUERY;
    int rc = EK_OK;
    for (uint32_t i = 0; i < pairs && !rc; i++) {
        struct ek_text name;
        rc = read_key(p, &name);
        int f = rc || !name.text ? -1 : ek_names_find(p->names, name);
        if (!rc)
            rc = f < 0 ? skip(p) : columns ? patch_column(p, f) : patch_value(p, f);
    }
    return rc;
}

/* Patch values in any of their forms. */
static int patch_values(struct patching *p)
{
    int count = p->names->count;
    size_t at = (size_t)(p->w.p - p->w.start);
    struct ek_head h;
    if (!read_head(p, &h))
        return mismatch(p);
    bool pairs = h.kind == EK_WIRE_ARRAY && h.count && ek_wire_at_map(&p->w);
    bool named = (pairs || h.kind == EK_WIRE_MAP) && grows(p) && p->item < p->q->items;
    int rc = named ? add_names(p, at, &h, pairs) : EK_OK;
    if (rc)
        return rc;
    if (h.kind == EK_WIRE_MAP)
        return patch_names(p, h.count);
    if (h.kind == EK_WIRE_BIN && h.count == 4 * (uint32_t)count)
        return p->q->from_schema ? patch_schema_row(p, at, count) : patch_bin(p, at, count);
    if (pairs)
        return patch_pairs(p, h.count);
    if (h.kind == EK_WIRE_ARRAY && h.count == (uint32_t)count)
        return patch_array(p, at, count);
    return h.kind == EK_WIRE_NIL ? EK_OK : mismatch(p);
}

/* Patch the query features: all of them, or the one with number `feature`. */
static int patch_queries(struct patching *p, int feature)
{
    if (!p->queries)
        return skip(p);
    int item = p->item;
    p->item = QUERY;
    p->names = &p->c->query_names;
    int rc = feature < 0 ? patch_values(p) : patch_value(p, feature);
    p->item = item;
    p->names = &p->c->item_names;
    return rc;
}

static int patch_field(struct patching *p, const struct ek_field *field);

static int patch_map(struct patching *p, uint32_t pairs, int group)
{
    int rc = EK_OK;
    for (uint32_t i = 0; i < pairs && !rc; i++) {
        struct ek_text key;
        rc = read_key(p, &key);
        int found = rc || !key.text ? -1 : ek_field_find(p->c, group, key);
        if (!rc)
            rc = found < 0 ? skip(p) : patch_field(p, &p->c->fields[found]);
    }
    return rc;
}

/* Patch a map or array within a path; another value has no features. */
static int patch_group(struct patching *p, int group)
{
    const uint8_t *start = p->w.p;
    struct ek_head h;
    int rc = EK_OK;
    if (!read_head(p, &h))
        return mismatch(p);
    if (h.kind == EK_WIRE_MAP)
        return patch_map(p, h.count, group);
    if (h.kind != EK_WIRE_ARRAY) {
        p->w.p = start;
        return skip(p);
    }
    for (uint32_t i = 0; i < h.count && !rc; i++) {
        int found = ek_field_element(p->c, group, i);
        rc = found < 0 ? skip(p) : patch_field(p, &p->c->fields[found]);
    }
    return rc;
}

static int patch_items(struct patching *p)
{
    struct ek_head h;
    int rc = EK_OK;
    if (!read_head(p, &h) || h.kind != EK_WIRE_ARRAY || h.count != (uint32_t)p->q->items)
        return mismatch(p);
    for (p->item = 0; p->item < p->q->items && !rc; p->item++)
        rc = patch_group(p, EK_FIELD_OF_ITEM);
    return rc;
}

static int patch_field(struct patching *p, const struct ek_field *field)
{
    switch (field->id) {
    case EK_FIELD_GROUP:
        return patch_group(p, (int)(field - p->c->fields));
    case EK_FIELD_ITEMS:
        return patch_items(p);
    case EK_FIELD_ITEM:
        return patch_group(p, EK_FIELD_OF_ITEM);
    case EK_FIELD_QUERY_FEATURES:
        return patch_queries(p, -1);
    case EK_FIELD_QUERY_FEATURE:
        return patch_queries(p, field->number);
    case EK_FIELD_FEATURES:
        return patch_values(p);
    case EK_FIELD_FEATURE:
        return patch_value(p, field->number);
    case EK_FIELD_COLUMN:
        return field->of == EK_FIELD_FEATURE    ? patch_column(p, field->number)
               : field->of == EK_FIELD_FEATURES ? patch_values(p)
                                                : skip(p);
    default:
        return skip(p);
    }
}

static bool wants_queries(const struct ek_manifest *m, const uint8_t *wanted)
{
    for (int f = m->item_count; f < m->watched_count; f++)
        if (wanted[f])
            return true;
    return false;
}

int ek_codec_patch_features(const struct ek_codec *c, const struct ek_list *q, const void *bytes,
                            size_t length, struct ek_feature_patch *patch, struct ek_buf *out,
                            struct ek_error *e)
{
    struct patching p = {.c = c,
                         .q = q,
                         .in = bytes,
                         .length = length,
                         .patch = patch,
                         .out = out,
                         .e = e,
                         .names = &c->item_names,
                         .queries = wants_queries(c->manifest, patch->wanted)};
    const uint8_t *wire = bytes;
    size_t wire_length = length;
    int rc = EK_OK;
    ek_buf_clear(out);
    patch->changed = 0;
    if (q->from_json)
        wire = ek_json_wire(q->json, &wire_length);
    else if (q->from_schema)
        wire = ek_schema_wire(q->converted, &wire_length);
    p.w = (struct ek_wire){wire, wire, wire + wire_length};
    if (q->items && c->item_names.count)
        rc = patch_group(&p, EK_FIELD_TOP);
    bool differs = patch->changed || p.grown;
    if (!rc && differs && ek_buf_add(out, p.in + p.copied, length - p.copied))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_buf_clear(out);
    return rc;
}
