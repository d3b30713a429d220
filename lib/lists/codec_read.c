#include "base/parse.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"

#include <math.h>
#include <stdio.h>

static int decode_head(struct ek_decode *d, struct ek_head *h)
{
    enum ek_wire_result result = ek_wire_head(&d->w, h);
    return result ? ek_decode_wire_fail(d, result) : EK_OK;
}

/* Marks unset entries of a row: a NaN that no arithmetic produces. In a message it is a missing
 * value, too. */
static const uint32_t UNSEEN = 0x7fe5e11eu;

static int read_number(struct ek_decode *d, float *out)
{
    struct ek_head h;
    if (ek_wire_float32(&d->w, out))
        return EK_OK;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (ek_head_is_number(&h))
        *out = (float)ek_head_number(&h);
    else if (h.kind == EK_WIRE_NIL)
        *out = NAN;
    else
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h.kind),
                              d->words->number);
    return EK_OK;
}

/* Read runs of one type, with nil; other values one by one. */
static int read_array(struct ek_decode *d, float *row, size_t count)
{
    const struct ek_codec *c = d->c;
    struct ek_wire *w = &d->w;
    size_t i = 0;
    for (;;) {
        size_t from = i;
        i += c->swap(&w->p, w->end, row + i, count - i);
        if (i == count)
            return EK_OK;
        i += c->swap64(&w->p, w->end, row + i, count - i);
        if (i == count)
            return EK_OK;
        if (i > from)
            continue;
        d->index = (int)i;
        int rc = read_number(d, row + i++);
        if (rc)
            return rc;
        d->index = -1;
    }
}

static void read_bin(struct ek_wire *w, float *row, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (count)
        memcpy(row, w->p, 4 * count);
#else
    for (size_t i = 0; i < count; i++)
        row[i] = ek_float_from_bits(__builtin_bswap32(ek_load_be32(w->p + 4 * i)));
#endif
    w->p += 4 * count;
}

static struct ek_text read_text(struct ek_decode *d, const struct ek_head *h)
{
    struct ek_text text = {(const char *)d->w.p, h->count};
    d->w.p += h->count;
    return text;
}

/* Read a map key, which must be a string. */
static int decode_key(struct ek_decode *d, struct ek_text *key)
{
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_TEXT)
        return ek_decode_fail(d, EK_EFORMAT, "a key is %s, expected text",
                              ek_decode_kind(d, h.kind));
    *key = read_text(d, &h);
    return EK_OK;
}

/* Read a key as a feature's index, or -1 for an unknown name, which is then in d->key. Tries
 * `guess` first, because most writers use the manifest's order. */
static int read_name(struct ek_decode *d, const struct ek_names *names, int guess, int *number)
{
    if (guess < names->count && ek_key_match(&names->keys[guess], &d->w)) {
        *number = guess;
        return EK_OK;
    }
    int rc = decode_key(d, &d->key);
    if (rc)
        return rc;
    *number = ek_names_find(names, d->key);
    if (*number >= 0)
        d->key.text = NULL;
    return EK_OK;
}

/* Skip a value. */
static int decode_skip(struct ek_decode *d)
{
    enum ek_wire_result result = ek_wire_skip(&d->w, d->c->limits.depth);
    return result ? ek_decode_wire_fail(d, result) : EK_OK;
}

static int read_entry(struct ek_decode *d, const struct ek_names *names, float *row, int *next)
{
    int number;
    int rc = read_name(d, names, *next, &number);
    if (rc)
        return rc;
    if (number < 0) {
        rc = decode_skip(d);
        if (!rc)
            d->key.text = NULL;
        return rc;
    }
    *next = number + 1;
    bool twice = ek_float_to_bits(row[number]) != UNSEEN;
    if (!twice && ek_wire_float32(&d->w, row + number))
        return EK_OK;
    d->key = (struct ek_text){names->features[number]->name, names->lengths[number]};
    rc = twice ? ek_decode_fail(d, EK_EFORMAT, "given twice") : read_number(d, row + number);
    if (!rc)
        d->key.text = NULL;
    return rc;
}

static int read_values_map(struct ek_decode *d, const struct ek_names *names, float *row,
                           uint32_t pairs)
{
    int next = 0, rc = EK_OK;
    for (int i = 0; i < names->count; i++)
        memcpy(row + i, &UNSEEN, sizeof UNSEEN);
    for (uint32_t i = 0; !rc && i < pairs; i++)
        rc = read_entry(d, names, row, &next);
    for (int i = 0; i < names->count; i++)
        if (ek_float_to_bits(row[i]) == UNSEEN)
            row[i] = NAN;
    return rc;
}

/* Fast path for `bin` of 64 and more values. */
static bool read_bin16(struct ek_wire *w, float *row, size_t count)
{
    size_t size = 4 * count, left = ek_wire_left(w);
    if (left < 3 || left - 3 < size || w->p[0] != EK_TAG_BIN16 ||
        ((size_t)w->p[1] << 8 | w->p[2]) != size)
        return false;
    w->p += 3;
    read_bin(w, row, count);
    return true;
}

/* Read an array, bin or map of `count` numbers into row[count]. */
static int decode_values(struct ek_decode *d, const struct ek_names *names, float *row, int count)
{
    struct ek_head h;
    if (read_bin16(&d->w, row, (size_t)count))
        return EK_OK;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    switch (h.kind) {
    case EK_WIRE_ARRAY:
        if (h.count != (uint32_t)count)
            return ek_decode_fail(d, EK_EFORMAT, "%u values, the manifest has %d", h.count, count);
        return read_array(d, row, (size_t)count);
    case EK_WIRE_BIN:
        if (h.count != 4 * (uint32_t)count)
            return ek_decode_fail(d, EK_EFORMAT, "%u bytes, the %d features of the manifest are %u",
                                  h.count, count, 4 * (uint32_t)count);
        read_bin(&d->w, row, (size_t)count);
        return EK_OK;
    case EK_WIRE_MAP:
        return read_values_map(d, names, row, h.count);
    default:
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h.kind),
                              d->words->values);
    }
}

/* Skip a value from its start, after its header was read. Used for optional fields of an unexpected
 * type, which must not turn live messages into dead letters. */
static int decode_skip_from(struct ek_decode *d, const uint8_t *start)
{
    d->w.p = start;
    return decode_skip(d);
}

static int decode_list_items(struct ek_decode *d)
{
    static const double MOST = 1e9;
    const uint8_t *start = d->w.p;
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (!ek_head_is_number(&h))
        return decode_skip_from(d, start);
    double value = ek_head_number(&h);
    if (!(value >= 0 && value <= MOST) || value != floor(value))
        return ek_decode_fail(d, EK_EFORMAT, "not the number of items of a list");
    d->list_items = (int)value;
    return EK_OK;
}

/* Logarithms of doubles are smaller. */
static const double LOG_MOST = 745;

static int read_mean(struct ek_decode *d, double *mean)
{
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    *mean = NAN;
    if (h.kind == EK_WIRE_NIL)
        return EK_OK;
    if (!ek_head_is_number(&h))
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h.kind),
                              d->words->number);
    *mean = ek_head_number(&h);
    if (fabs(*mean) > LOG_MOST)
        return ek_decode_fail(d, EK_EFORMAT, "%g is no mean of logarithms", *mean);
    return EK_OK;
}

/* Read `log_means`; skip another type. */
static int decode_log_means(struct ek_decode *d)
{
    int count = d->c->manifest->routable_count;
    const uint8_t *start = d->w.p;
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind != EK_WIRE_ARRAY)
        return decode_skip_from(d, start);
    if (h.count != (uint32_t)count)
        return ek_decode_fail(d, EK_EFORMAT, "%u means, %d features are routable", h.count, count);
    if (ek_list_reserve_means(d->q, count))
        return ek_decode_fail(d, EK_ENOMEM, "out of memory");
    for (d->index = 0; !rc && d->index < count; d->index += !rc)
        rc = read_mean(d, &d->q->log_mean[d->index]);
    if (rc)
        return rc;
    d->index = -1;
    d->q->has_log_means = true;
    return EK_OK;
}

/* Fail for a derived list length in an item message without `list_items`. */
static int without_length(struct ek_decode *d)
{
    const struct ek_manifest *m = d->c->manifest;
    if (d->c->layout != EK_LAYOUT_ITEM || !m->derived_count)
        return EK_OK;
    d->field = d->c->list_items;
    return ek_decode_fail(d, EK_EFORMAT, "missing: the query feature '%s' is of the whole list",
                          m->query[m->query_count - 1]->name);
}

/* Check `list_items` against the items after the message is read. */
static int decode_whole(struct ek_decode *d)
{
    if (d->list_items < 0)
        return without_length(d);
    if (d->list_items < d->q->items) {
        d->field = d->c->list_items;
        return ek_decode_fail(d, EK_EFORMAT, "%d, but the message has %d items", d->list_items,
                              d->q->items);
    }
    d->q->list_items = d->list_items;
    return EK_OK;
}

static int wrong_kind(struct ek_decode *d, const struct ek_head *h, const char *expected)
{
    return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h->kind), expected);
}

static bool is_whole(const struct ek_head *h)
{
    return h->kind == EK_WIRE_UINT || h->kind == EK_WIRE_INT;
}

/* Write an integer into `room` and return a view of its digits. */
static struct ek_text digits_of(const struct ek_head *h, char room[EK_NUMBER_TEXT])
{
    bool negative = h->kind == EK_WIRE_INT && (int64_t)h->bits < 0;
    uint64_t rest = negative ? 0 - h->bits : h->bits;
    char *p = room + EK_NUMBER_TEXT;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (negative)
        *--p = '-';
    return (struct ek_text){p, (size_t)(room + EK_NUMBER_TEXT - p)};
}

static int read_query_id(struct ek_decode *d)
{
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind == EK_WIRE_TEXT || h.kind == EK_WIRE_BIN)
        d->q->id = read_text(d, &h);
    else if (is_whole(&h))
        d->q->id = digits_of(&h, d->q->number_text[EK_SEGMENTS_MAX]);
    else if (h.kind != EK_WIRE_NIL)
        return wrong_kind(d, &h, d->words->id);
    return EK_OK;
}

static int read_item_id(struct ek_decode *d)
{
    struct ek_text *id = &d->q->item_id[d->item];
    struct ek_head h;
    if (ek_wire_short_text(&d->w, id))
        return EK_OK;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind == EK_WIRE_TEXT || h.kind == EK_WIRE_BIN) {
        *id = read_text(d, &h);
    } else if (is_whole(&h)) {
        char *room = ek_list_item_id_buffer(d->q, d->item);
        if (!room)
            return ek_decode_fail(d, EK_ENOMEM, "out of memory");
        *id = digits_of(&h, room);
    } else if (h.kind != EK_WIRE_NIL) {
        return wrong_kind(d, &h, d->words->id);
    }
    return EK_OK;
}

static int read_time(struct ek_decode *d)
{
    static const double LATEST = 9e15; /* exact as a double, in the far future */
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (!ek_head_is_number(&h))
        return wrong_kind(d, &h, "milliseconds as an integer");
    double value = ek_head_number(&h);
    if (!(value >= 0 && value <= LATEST) || value != floor(value))
        return ek_decode_fail(d, EK_EFORMAT,
                              "%.17g is not a whole number of milliseconds since 1970", value);
    d->q->time_ms = (int64_t)value;
    return EK_OK;
}

static int read_manifest(struct ek_decode *d)
{
    struct ek_head h;
    uint64_t theirs = 0, ours = d->c->manifest->hash;
    int rc = decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (is_whole(&h)) {
        theirs = h.bits;
    } else if (h.kind == EK_WIRE_TEXT) {
        struct ek_text text = read_text(d, &h);
        if (ek_parse_hash(text.text, text.length, &theirs))
            return ek_decode_fail(d, EK_EFORMAT, "not a hash of 16 hexadecimal digits");
    } else {
        return wrong_kind(d, &h, "an integer or 16 hexadecimal digits");
    }
    if (theirs != ours)
        return ek_decode_fail(d, EK_ESTATE, "the message is for manifest %016llx, this is %016llx",
                              (unsigned long long)theirs, (unsigned long long)ours);
    return EK_OK;
}

static bool has_segment(const struct ek_list *q, struct ek_text name)
{
    for (int i = 0; i < q->segment_count; i++)
        if (ek_text_same(q->segments[i].name, name))
            return true;
    return false;
}

static int read_segment(struct ek_decode *d)
{
    struct ek_list *q = d->q;
    struct ek_text value = {NULL, 0};
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (has_segment(q, d->key))
        return ek_decode_fail(d, EK_EFORMAT, "given twice");
    if (q->segment_count == EK_SEGMENTS_MAX)
        return ek_decode_fail(d, EK_ELIMIT, "more than %d segments", EK_SEGMENTS_MAX);
    if (h.kind == EK_WIRE_TEXT)
        value = read_text(d, &h);
    else if (is_whole(&h))
        value = digits_of(&h, q->number_text[q->segment_count]);
    else if (h.kind == EK_WIRE_BOOL)
        value = h.bits ? (struct ek_text){"true", 4} : (struct ek_text){"false", 5};
    else
        return wrong_kind(d, &h, "text, an integer or a boolean");
    q->segments[q->segment_count++] = (struct ek_segment){d->key, value};
    return EK_OK;
}

/* Read an optional value. One that cannot be read is skipped and noted in the list; truncated
 * messages still fail. */
static int read_optional(struct ek_decode *d, enum ek_optional_field which,
                         int (*read)(struct ek_decode *d))
{
    const uint8_t *start = d->w.p;
    struct ek_error *e = d->e, why;
    d->e = &why;
    int rc = read(d);
    d->e = e;
    if (rc && rc != EK_EFORMAT && e)
        *e = why;
    if (rc != EK_EFORMAT)
        return rc;
    d->q->unreadable |= (uint8_t)(1u << which);
    snprintf(d->q->unreadable_text, sizeof d->q->unreadable_text, "%.*s", EK_UNREADABLE_BYTES - 1,
             why.message);
    d->key.text = NULL;
    return decode_skip_from(d, start);
}

static int read_segment_name(struct ek_decode *d)
{
    return decode_key(d, &d->key);
}

/* An entry without a readable name is skipped with its value. */
static int read_segment_entry(struct ek_decode *d)
{
    int rc = read_optional(d, EK_OPTIONAL_SEGMENTS, read_segment_name);
    if (rc)
        return rc;
    rc = d->key.text ? read_optional(d, EK_OPTIONAL_SEGMENTS, read_segment) : decode_skip(d);
    d->key.text = rc ? d->key.text : NULL;
    return rc;
}

static int read_segments(struct ek_decode *d)
{
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind != EK_WIRE_MAP)
        return wrong_kind(d, &h, d->words->map);
    for (uint32_t i = 0; !rc && i < h.count; i++)
        rc = read_segment_entry(d);
    return rc;
}

/* Store the position in the message of the value that began at `start`. */
static int note_place(struct ek_decode *d, const uint8_t *start)
{
    struct ek_place *place = &d->q->place[d->item];
    *place = (struct ek_place){(uint32_t)(start - d->w.start), (uint32_t)(d->w.p - start)};
    if (d->q->from_json && !ek_json_place(d->q->json, place->offset, place))
        return ek_decode_fail(d, EK_EFORMAT, "it has no place in the message");
    return EK_OK;
}

static int read_score(struct ek_decode *d)
{
    const uint8_t *start = d->w.p;
    float narrow;
    if (ek_wire_float32(&d->w, &narrow)) {
        d->q->score[d->item] = (double)narrow;
    } else {
        struct ek_head h;
        int rc = decode_head(d, &h);
        if (rc)
            return rc;
        if (ek_head_is_number(&h))
            d->q->score[d->item] = ek_head_number(&h);
        else if (h.kind != EK_WIRE_NIL)
            return wrong_kind(d, &h, d->words->number);
    }
    return note_place(d, start);
}

/* Labels are for training only, so another type counts as no label and must not turn live messages
 * into dead letters. */
static int read_label(struct ek_decode *d)
{
    const uint8_t *start = d->w.p;
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (ek_head_is_number(&h)) {
        d->q->label[d->item] = (float)ek_head_number(&h);
        return EK_OK;
    }
    return decode_skip_from(d, start);
}

/* Return the number of a source, or -1 if the list has too many. */
static int source_number(struct ek_decode *d, struct ek_text text, const char *digits)
{
    for (int i = 0; i < d->sources; i++)
        if (ek_text_same(d->source[i], text))
            return i;
    if (d->sources == EK_SOURCES_MAX)
        return -1;
    if (text.text == digits + EK_NUMBER_TEXT - text.length) {
        memcpy(d->source_text[d->sources], digits, EK_NUMBER_TEXT);
        text.text = d->source_text[d->sources] + EK_NUMBER_TEXT - text.length;
    }
    d->source[d->sources] = text;
    return d->sources++;
}

/* Read a source; skip another type, as for labels. */
static int read_source(struct ek_decode *d)
{
    const uint8_t *start = d->w.p;
    char digits[EK_NUMBER_TEXT];
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    bool text = h.kind == EK_WIRE_TEXT || h.kind == EK_WIRE_BIN;
    if (!text && !is_whole(&h))
        return decode_skip_from(d, start);
    int number = source_number(d, text ? read_text(d, &h) : digits_of(&h, digits), digits);
    if (number >= 0) {
        d->q->source[d->item] = (uint8_t)number;
        d->sourced++;
    }
    return EK_OK;
}

/* Fail if a field is missing that has `values` values. */
static int require(struct ek_decode *d, const struct ek_field *field, int values)
{
    if (!values || d->seen & ek_field_bit(d->c, field))
        return EK_OK;
    d->field = field;
    ek_decode_fail(d, EK_EFORMAT, "missing");
    if (d->e)
        d->e->flags |= EK_ERR_FIELD;
    return EK_EFORMAT;
}

static int read_map(struct ek_decode *d, uint32_t pairs, int first);

static int read_item(struct ek_decode *d, int i)
{
    const struct ek_list *q = d->q;
    struct ek_head h;
    d->item = i;
    d->field = NULL;
    d->seen &= ~d->c->item_fields;
    q->item_id[i] = (struct ek_text){NULL, 0};
    q->score[i] = NAN;
    q->label[i] = NAN;
    q->place[i] = (struct ek_place){0, 0};
    int rc;
    if (!ek_wire_short_map(&d->w, &h.count)) {
        rc = decode_head(d, &h);
        if (rc)
            return rc;
        if (h.kind != EK_WIRE_MAP)
            return wrong_kind(d, &h, d->words->map);
    }
    rc = read_map(d, h.count, d->c->item);
    return rc ? rc : require(d, d->c->features, q->item_features);
}

static bool all_labelled(const struct ek_list *q)
{
    for (int i = 0; i < q->items; i++)
        if (!isfinite(q->label[i]))
            return false;
    return q->items > 0;
}

/* Finish after the last item of `field`. */
static void end_items(struct ek_decode *d, const struct ek_field *field)
{
    d->item = -1;
    d->field = field;
    d->q->has_label = all_labelled(d->q);
    d->q->sources = d->sourced == d->q->items ? d->sources : 0;
}

static int read_one_item(struct ek_decode *d)
{
    const struct ek_field *field = d->field;
    if (ek_list_resize(d->q, 1, d->q->item_features, d->q->query_features))
        return ek_decode_fail(d, EK_ENOMEM, "out of memory");
    d->q->one_item = true;
    int rc = read_item(d, 0);
    if (!rc)
        end_items(d, field);
    return rc;
}

static int read_items(struct ek_decode *d)
{
    const struct ek_field *field = d->field;
    const struct ek_codec *c = d->c;
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_ARRAY)
        return wrong_kind(d, &h, "an array");
    if (h.count > (uint32_t)c->limits.items)
        return ek_decode_fail(d, EK_ELIMIT, "%u items, the limit is %d", h.count, c->limits.items);
    if (ek_list_resize(d->q, (int)h.count, d->q->item_features, d->q->query_features))
        return ek_decode_fail(d, EK_ENOMEM, "out of memory");
    for (uint32_t i = 0; !rc && i < h.count; i++)
        rc = read_item(d, (int)i);
    if (!rc)
        end_items(d, field);
    return rc;
}

static int read_features(struct ek_decode *d)
{
    struct ek_list *q = d->q;
    q->values_at[d->item] = (uint32_t)(d->w.p - d->w.start);
    return decode_values(d, &d->c->item_names, q->x + (size_t)d->item * (size_t)q->item_features,
                         q->item_features);
}

static int read_group(struct ek_decode *d, const struct ek_field *field)
{
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind != EK_WIRE_MAP)
        return wrong_kind(d, &h, d->words->map);
    return read_map(d, h.count, field->child);
}

static int read_field(struct ek_decode *d, const struct ek_field *field)
{
    uint64_t bit = ek_field_bit(d->c, field);
    d->field = field;
    if (d->seen & bit)
        return ek_decode_fail(d, EK_EFORMAT, "given twice");
    d->seen |= bit;
    switch (field->id) {
    case EK_FIELD_QUERY:
        return read_query_id(d);
    case EK_FIELD_TIME:
        return read_optional(d, EK_OPTIONAL_TIME, read_time);
    case EK_FIELD_SEGMENTS:
        return read_optional(d, EK_OPTIONAL_SEGMENTS, read_segments);
    case EK_FIELD_QUERY_FEATURES:
        return decode_values(d, &d->c->query_names, d->q->query, d->c->query_names.count);
    case EK_FIELD_MANIFEST:
        return read_manifest(d);
    case EK_FIELD_LIST_ITEMS:
        return decode_list_items(d);
    case EK_FIELD_LOG_MEANS:
        return decode_log_means(d);
    case EK_FIELD_ITEMS:
        return read_items(d);
    case EK_FIELD_ITEM:
        return read_one_item(d);
    case EK_FIELD_ITEM_ID:
        return read_item_id(d);
    case EK_FIELD_SCORE:
        return read_score(d);
    case EK_FIELD_FEATURES:
        return read_features(d);
    case EK_FIELD_LABEL:
        return read_label(d);
    case EK_FIELD_SOURCE:
        return read_source(d);
    default:
        return read_group(d, field);
    }
}

/* Read a key. *field is NULL for an unknown key, which is then in d->key; keys that are not strings
 * are unknown. Tries `guess` first, because writers keep their order. */
static int read_key(struct ek_decode *d, int first, int guess, const struct ek_field **field)
{
    const uint8_t *start = d->w.p;
    struct ek_head h;
    *field = guess >= 0 ? &d->c->fields[guess] : NULL;
    if (*field && ek_key_match(&(*field)->key, &d->w))
        return EK_OK;
    *field = NULL;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_TEXT)
        return decode_skip_from(d, start);
    struct ek_text key = read_text(d, &h);
    int found = ek_field_find(d->c, first, key);
    if (found >= 0)
        *field = &d->c->fields[found];
    else
        d->key = key;
    return EK_OK;
}

static int read_map(struct ek_decode *d, uint32_t pairs, int first)
{
    const struct ek_field *parent = d->field;
    int guess = first, rc = EK_OK;
    for (uint32_t i = 0; !rc && i < pairs; i++) {
        const struct ek_field *field;
        rc = read_key(d, first, guess, &field);
        if (rc)
            return rc;
        if (field) {
            rc = read_field(d, field);
            guess = field->next;
            d->field = parent;
        } else {
            rc = decode_skip(d);
            d->key.text = NULL;
        }
    }
    return rc;
}

static void clear(struct ek_list *q)
{
    q->id = (struct ek_text){NULL, 0};
    q->time_ms = -1;
    q->segment_count = 0;
    q->unreadable = 0;
    q->has_label = false;
    q->has_log_means = false;
    q->from_json = false;
}

static int check_complete(struct ek_decode *d)
{
    int rc = require(d, d->c->items, 1);
    if (!rc && d->c->layout == EK_LAYOUT_ITEM && !d->q->id.text) {
        d->field = d->c->query;
        rc = ek_decode_fail(d, EK_EFORMAT, "missing: it groups the items of a list");
    }
    if (!rc)
        rc = require(d, d->c->query_features, d->c->query_names.count);
    if (!rc && d->w.p != d->w.end)
        rc = ek_decode_fail(d, EK_EFORMAT, "%zu bytes follow its end", ek_wire_left(&d->w));
    return rc;
}

bool ek_codec_is_json(const void *bytes, size_t length)
{
    const char *p = bytes;
    size_t spaces = 0;
    while (spaces < length && strchr(" \t\r\n", p[spaces]) && p[spaces])
        spaces++;
    return spaces < length && p[spaces] == '{';
}

static bool is_msgpack_map(const void *bytes, size_t length)
{
    uint8_t first = length ? *(const uint8_t *)bytes : 0;
    return (first & 0xf0) == 0x80 || first == 0xde || first == 0xdf;
}

const char *ek_codec_other_encoding(enum ek_message_encoding expected, const void *bytes,
                                    size_t length)
{
    if (expected == EK_MESSAGES_MSGPACK && ek_codec_is_json(bytes, length))
        return "it begins as JSON does, and MessagePack is expected";
    if (expected == EK_MESSAGES_JSON && is_msgpack_map(bytes, length))
        return "it begins as MessagePack does, and JSON is expected";
    return NULL;
}

static int json_fail(struct ek_decode *d, int rc, const struct ek_json_fault *fault)
{
    size_t length = ek_wire_left(&d->w);
    if (rc == EK_ENOMEM)
        return ek_decode_fail(d, EK_ENOMEM, "out of memory");
    if (rc == EK_ELIMIT)
        return ek_decode_wire_fail(d, EK_WIRE_DEEP);
    if (fault->at == SIZE_MAX)
        return ek_decode_fail(d, EK_EFORMAT, "the %zu bytes are no JSON: %s", length, fault->what);
    return ek_decode_fail(d, EK_EFORMAT, "byte %zu is no JSON: %s", fault->at, fault->what);
}

/* Replace a JSON message by its msgpack form. */
static int open_json(struct ek_decode *d)
{
    /* Levels of the mapped fields, in addition to those of skipped fields. */
    enum { FIELD_LEVELS = 2 * EK_FIELD_DEPTH_MAX + 4 };
    struct ek_json_fault fault;
    size_t length = ek_wire_left(&d->w);
    d->words = &ek_words_json;
    d->q->from_json = true;
    int rc =
        ek_json_read(&d->q->json, d->w.start, length, d->c->limits.depth + FIELD_LEVELS, &fault);
    if (rc)
        return json_fail(d, rc, &fault);
    const uint8_t *wire = ek_json_wire(d->q->json, &length);
    d->w = (struct ek_wire){wire, wire, wire + length};
    return EK_OK;
}

static bool wants_json(const struct ek_codec *c, const void *bytes, size_t length)
{
    return c->encoding == EK_MESSAGES_JSON ||
           (c->encoding == EK_MESSAGES_EITHER && ek_codec_is_json(bytes, length));
}

static int check_encoding(struct ek_decode *d, size_t length)
{
    const char *wrong = ek_codec_other_encoding(d->c->encoding, d->w.start, length);
    if (!wrong)
        return EK_OK;
    int rc = ek_decode_fail(d, EK_EFORMAT, "%s", wrong);
    if (d->e)
        d->e->flags |= EK_ERR_ENCODING;
    return rc;
}

static int read_message(struct ek_decode *d)
{
    struct ek_head h;
    int rc = decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_MAP)
        return wrong_kind(d, &h, d->words->map);
    rc = read_map(d, h.count, d->c->top);
    if (!rc)
        rc = check_complete(d);
    return rc ? rc : decode_whole(d);
}

int ek_codec_decode(const struct ek_codec *c, const void *bytes, size_t length, struct ek_list *q,
                    struct ek_error *e)
{
    const struct ek_manifest *m = c->manifest;
    struct ek_decode d = {.c = c, .q = q, .e = e, .item = -1, .index = -1, .list_items = -1};
    d.words = &ek_words_msgpack;
    if (!length) /* a tombstone: `bytes` may be NULL */
        return ek_decode_fail(&d, EK_EFORMAT, "it is empty");
    d.w = (struct ek_wire){.start = bytes, .p = bytes, .end = (const uint8_t *)bytes + length};
    if (length > c->limits.message_bytes)
        return ek_decode_fail(&d, EK_ELIMIT, "%zu bytes, the limit is %u", length,
                              c->limits.message_bytes);
    clear(q);
    if (ek_list_resize(q, 0, m->item_count, m->query_count))
        return ek_decode_fail(&d, EK_ENOMEM, "out of memory");
    int rc = check_encoding(&d, length);
    if (!rc && wants_json(c, bytes, length))
        rc = open_json(&d);
    if (!rc)
        rc = read_message(&d);
    if (!rc)
        ek_list_derive(q, m);
    return rc;
}
