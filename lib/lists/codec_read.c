#include "base/date.h"
#include "base/parse.h"
#include "lists/schema_message.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"

#include <math.h>
#include <stdio.h>

/* Skip a value from its start, after its header was read. Used for optional fields of an unexpected
 * type, which must not turn live messages into dead letters. */
static int decode_skip_from(struct ek_decode *d, const uint8_t *start)
{
    d->w.p = start;
    return ek_decode_skip(d);
}

static int decode_list_items(struct ek_decode *d)
{
    static const double MOST = 1e9;
    const uint8_t *start = d->w.p;
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
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
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    *mean = NAN;
    if (h.kind == EK_WIRE_NIL)
        return EK_OK;
    if (!ek_head_is_number(&h))
        return ek_decode_wrong_kind(d, &h, d->words->number);
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
    int rc = ek_decode_head(d, &h);
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

/* Set *text to the digits of an integer that is an element of a JSON array, where the msgpack form
 * has a double. */
static bool json_digits(const struct ek_decode *d, const uint8_t *start, const struct ek_head *h,
                        struct ek_text *text)
{
    struct ek_place at;
    if (!d->text || h->kind != EK_WIRE_FLOAT64 ||
        !ek_json_place(d->q->json, (size_t)(start - d->w.start), &at))
        return false;
    *text = (struct ek_text){(const char *)d->text + at.offset, at.length};
    size_t sign = *text->text == '-';
    for (size_t i = sign; i < text->length; i++)
        if (text->text[i] < '0' || text->text[i] > '9')
            return false;
    static const char MOST[] = "18446744073709551615"; /* 2^64 - 1 */
    size_t digits = text->length - sign;
    return digits < sizeof MOST - 1 ||
           (digits == sizeof MOST - 1 && !sign && memcmp(text->text, MOST, digits) <= 0);
}

/* Read text, bin or an integer as text. *whole: an integer without text in the message; *text is
 * unchanged then, and for nil. */
static int read_id(struct ek_decode *d, struct ek_text *text, struct ek_head *h, bool *whole)
{
    const uint8_t *start = d->w.p;
    int rc = ek_decode_head(d, h);
    *whole = !rc && is_whole(h);
    if (rc || *whole || h->kind == EK_WIRE_NIL)
        return rc;
    if (h->kind == EK_WIRE_TEXT || h->kind == EK_WIRE_BIN)
        *text = ek_decode_text(d, h);
    else if (!json_digits(d, start, h, text))
        return ek_decode_wrong_kind(d, h, d->words->id);
    return EK_OK;
}

static int read_query_id(struct ek_decode *d)
{
    struct ek_head h;
    bool whole;
    int rc = read_id(d, &d->q->id, &h, &whole);
    if (whole)
        d->q->id = digits_of(&h, d->q->number_text[EK_SEGMENTS_MAX]);
    return rc;
}

static int read_item_id(struct ek_decode *d)
{
    struct ek_text *id = &d->q->item_id[d->item];
    struct ek_head h;
    bool whole;
    if (ek_wire_short_text(&d->w, id))
        return EK_OK;
    int rc = read_id(d, id, &h, &whole);
    if (!whole)
        return rc;
    char *room = ek_list_item_id_buffer(d->q, d->item);
    if (!room)
        return ek_decode_fail(d, EK_ENOMEM, "out of memory");
    *id = digits_of(&h, room);
    return EK_OK;
}

static int read_time_text(struct ek_decode *d, const struct ek_head *h, double *value, bool *done)
{
    struct ek_text text = {(const char *)d->w.p, h->count};
    *done = !ek_parse_time_ms(text.text, text.length, &d->q->time_ms);
    d->w.p += h->count;
    return *done || (d->c->numeric_strings && ek_text_number(text, value) && !isnan(*value))
               ? EK_OK
               : ek_decode_wrong_kind(d, h, "a number, or a time such as 2027-01-31T12:00:00Z");
}

static int read_time(struct ek_decode *d)
{
    static const double LATEST = 9e15; /* exact as a double, in the far future */
    static const double SECONDS_BELOW = 1e11, MS = 1000;
    struct ek_head h;
    double value = 0;
    bool done = false;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind == EK_WIRE_TEXT)
        rc = read_time_text(d, &h, &value, &done);
    else if (ek_head_is_number(&h))
        value = ek_head_number(&h);
    else
        rc = ek_decode_wrong_kind(d, &h, "a number or text");
    if (rc || done)
        return rc;
    if (d->c->has_seconds && fabs(value) < SECONDS_BELOW)
        value = round(value * MS);
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
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (is_whole(&h)) {
        theirs = h.bits;
    } else if (h.kind == EK_WIRE_TEXT) {
        struct ek_text text = ek_decode_text(d, &h);
        if (ek_parse_hash(text.text, text.length, &theirs))
            return ek_decode_fail(d, EK_EFORMAT, "not a hash of 16 hexadecimal digits");
    } else {
        return ek_decode_wrong_kind(d, &h, "an integer or 16 hexadecimal digits");
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

static int add_segment(struct ek_decode *d, struct ek_text name)
{
    struct ek_list *q = d->q;
    const uint8_t *start = d->w.p;
    struct ek_text value = {NULL, 0};
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (has_segment(q, name))
        return ek_decode_fail(d, EK_EFORMAT, "given twice");
    if (q->segment_count == EK_SEGMENTS_MAX)
        return ek_decode_fail(d, EK_ELIMIT, "more than %d segments", EK_SEGMENTS_MAX);
    if (h.kind == EK_WIRE_TEXT)
        value = ek_decode_text(d, &h);
    else if (is_whole(&h))
        value = digits_of(&h, q->number_text[q->segment_count]);
    else if (h.kind == EK_WIRE_BOOL)
        value = h.bits ? (struct ek_text){"true", 4} : (struct ek_text){"false", 5};
    else if (!json_digits(d, start, &h, &value))
        return ek_decode_wrong_kind(d, &h, "text, an integer or a boolean");
    q->segments[q->segment_count++] = (struct ek_segment){name, value};
    return EK_OK;
}

static int read_segment(struct ek_decode *d)
{
    return add_segment(d, d->key);
}

static int read_dimension(struct ek_decode *d)
{
    const char *name = d->c->dimension[d->field->number];
    return add_segment(d, (struct ek_text){name, strlen(name)});
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
    return ek_decode_key(d, &d->key);
}

/* An entry without a readable name is skipped with its value. */
static int read_segment_entry(struct ek_decode *d)
{
    int rc = read_optional(d, EK_OPTIONAL_SEGMENTS, read_segment_name);
    if (rc)
        return rc;
    rc = d->key.text ? read_optional(d, EK_OPTIONAL_SEGMENTS, read_segment) : ek_decode_skip(d);
    d->key.text = rc ? d->key.text : NULL;
    return rc;
}

static int read_segments(struct ek_decode *d)
{
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind != EK_WIRE_MAP)
        return ek_decode_wrong_kind(d, &h, d->words->map);
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
    if (d->q->from_schema && !ek_schema_place(d->q->converted, place->offset, place))
        *place = (struct ek_place){0, 0};
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
        int rc = ek_decode_head(d, &h);
        if (rc)
            return rc;
        if (h.kind != EK_WIRE_NIL && !ek_decode_number(d, &h, &d->q->score[d->item]))
            return ek_decode_wrong_kind(d, &h, d->words->number);
    }
    return note_place(d, start);
}

/* Labels are for training only, so another type counts as no label and must not turn live messages
 * into dead letters. */
static int read_label(struct ek_decode *d)
{
    const uint8_t *start = d->w.p;
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    double value;
    if (!ek_decode_number(d, &h, &value))
        return decode_skip_from(d, start);
    d->q->label[d->item] = (float)value;
    return EK_OK;
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
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    struct ek_text text;
    if (h.kind == EK_WIRE_TEXT || h.kind == EK_WIRE_BIN)
        text = ek_decode_text(d, &h);
    else if (is_whole(&h))
        text = digits_of(&h, digits);
    else if (!json_digits(d, start, &h, &text))
        return decode_skip_from(d, start);
    int number = source_number(d, text, digits);
    if (number >= 0) {
        d->q->source[d->item] = (uint8_t)number;
        d->sourced++;
    }
    return EK_OK;
}

/* Fail if a field is missing that has `values` values. */
static int require(struct ek_decode *d, const struct ek_field *field, int values)
{
    if (!values || !field || d->seen[field->tree] & field->bit)
        return EK_OK;
    d->field = field;
    ek_decode_fail(d, EK_EFORMAT, "missing");
    if (d->e)
        d->e->flags |= EK_ERR_FIELD;
    return EK_EFORMAT;
}

typedef int read_fn(struct ek_decode *d);

static read_fn *const readers[EK_FIELD_IDS];
static int read_map(struct ek_decode *d, uint32_t pairs, int group);
static int read_field(struct ek_decode *d, const struct ek_field *field);

static void clear_item(struct ek_list *q, int i)
{
    q->item_id[i] = (struct ek_text){NULL, 0};
    q->score[i] = NAN;
    q->label[i] = NAN;
    q->place[i] = (struct ek_place){0, 0};
}

static float *row_of(const struct ek_list *q, int i)
{
    return q->x + (size_t)i * (size_t)q->item_features;
}

/* Read the fields of an item whose features have paths of their own. */
static int read_item_paths(struct ek_decode *d, uint32_t pairs)
{
    size_t features = (size_t)d->q->item_features;
    float *row = row_of(d->q, d->item);
    ek_row_begin(row, features);
    int rc = read_map(d, pairs, EK_FIELD_OF_ITEM);
    ek_row_end(row, features);
    return rc;
}

static inline int read_item(struct ek_decode *d, int i)
{
    const struct ek_list *q = d->q;
    struct ek_head h;
    d->item = i;
    d->field = NULL;
    d->seen[EK_FIELD_OF_ITEM] = 0;
    clear_item(d->q, i);
    int rc;
    if (!ek_wire_map(&d->w, &h.count)) {
        rc = ek_decode_head(d, &h);
        if (rc)
            return rc;
        if (h.kind != EK_WIRE_MAP)
            return ek_decode_wrong_kind(d, &h, d->words->map);
    }
    if (d->c->has_features)
        return read_item_paths(d, h.count);
    rc = read_map(d, h.count, EK_FIELD_OF_ITEM);
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
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_ARRAY)
        return ek_decode_wrong_kind(d, &h, "an array");
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
    return ek_decode_values(d, &d->c->item_names, row_of(d->q, d->item));
}

static int read_feature(struct ek_decode *d)
{
    return ek_decode_once(d, row_of(d->q, d->item) + d->number);
}

/* The first column sets the number of items, which the others must have. */
static int begin_column(struct ek_decode *d, uint32_t count)
{
    struct ek_list *q = d->q;
    if (d->columns >= 0)
        return count == (uint32_t)d->columns
                   ? EK_OK
                   : ek_decode_fail(d, EK_EFORMAT, "%u values, another column has %d", count,
                                    d->columns);
    if (count > (uint32_t)d->c->limits.items)
        return ek_decode_fail(d, EK_ELIMIT, "%u items, the limit is %d", count, d->c->limits.items);
    if (ek_list_resize(q, (int)count, q->item_features, q->query_features))
        return ek_decode_fail(d, EK_ENOMEM, "out of memory");
    d->columns = (int)count;
    for (int i = 0; i < q->items; i++)
        clear_item(q, i);
    ek_row_begin(q->x, (size_t)q->items * (size_t)q->item_features);
    return EK_OK;
}

/* Read an array with a value of each item; nil is an absent one. */
static int read_column(struct ek_decode *d, read_fn *read)
{
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind != EK_WIRE_ARRAY)
        return ek_decode_wrong_kind(d, &h, "an array");
    rc = begin_column(d, h.count);
    for (d->item = 0; !rc && d->item < d->columns; d->item += !rc)
        rc = read(d);
    if (!rc)
        d->item = -1;
    return rc;
}

/* Read a map of feature names to columns. */
static int read_columns(struct ek_decode *d)
{
    const struct ek_names *names = &d->c->item_names;
    int next = 0;
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind != EK_WIRE_MAP)
        return ek_decode_wrong_kind(d, &h, d->words->map);
    for (uint32_t i = 0; !rc && i < h.count; i++) {
        rc = ek_decode_name(d, names, next, &d->number);
        if (rc)
            return rc;
        if (d->number >= 0)
            d->key = (struct ek_text){names->features[d->number]->name, names->lengths[d->number]};
        rc = d->number < 0 ? ek_decode_skip(d) : read_column(d, read_feature);
        next = d->number + 1;
        d->key.text = rc ? d->key.text : NULL;
    }
    return rc;
}

static int read_column_field(struct ek_decode *d)
{
    enum ek_field_id of = d->field->of;
    return of == EK_FIELD_FEATURES ? read_columns(d) : read_column(d, readers[of]);
}

/* Finish after the last column. */
static int end_columns(struct ek_decode *d)
{
    struct ek_list *q = d->q;
    d->field = NULL;
    if (d->columns < 0) {
        ek_decode_fail(d, EK_EFORMAT, "it has none of the columns, such as '%s'",
                       d->c->fields[d->c->fields[EK_FIELD_TOP].last].path);
        if (d->e)
            d->e->flags |= EK_ERR_FIELD;
        return EK_EFORMAT;
    }
    ek_row_end(q->x, (size_t)q->items * (size_t)q->item_features);
    end_items(d, NULL);
    return EK_OK;
}

/* Read the elements of an array by their index. */
static int read_elements(struct ek_decode *d, uint32_t count, int group)
{
    const struct ek_field *parent = d->field;
    int rc = EK_OK;
    for (uint32_t i = 0; !rc && i < count; i++) {
        int found = ek_field_element(d->c, group, i);
        rc = found < 0 ? ek_decode_skip(d) : read_field(d, &d->c->fields[found]);
        d->field = rc ? d->field : parent;
    }
    return rc;
}

static int read_group(struct ek_decode *d)
{
    int group = (int)(d->field - d->c->fields);
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind == EK_WIRE_ARRAY && d->c->fields[d->field->child].element >= 0)
        return read_elements(d, h.count, group);
    if (h.kind != EK_WIRE_MAP)
        return ek_decode_wrong_kind(d, &h, d->words->map);
    return read_map(d, h.count, group);
}

static int read_optional_time(struct ek_decode *d)
{
    return read_optional(d, EK_OPTIONAL_TIME, read_time);
}

static int read_optional_segments(struct ek_decode *d)
{
    return read_optional(d, EK_OPTIONAL_SEGMENTS, read_segments);
}

static int read_optional_dimension(struct ek_decode *d)
{
    return read_optional(d, EK_OPTIONAL_SEGMENTS, read_dimension);
}

static int read_query_features(struct ek_decode *d)
{
    return ek_decode_values(d, &d->c->query_names, d->q->query);
}

static int read_query_feature(struct ek_decode *d)
{
    return ek_decode_once(d, d->q->query + d->number);
}

/* A call per field by table: nested switches took more instructions for an item. */
static read_fn *const readers[EK_FIELD_IDS] = {
    [EK_FIELD_GROUP] = read_group,
    [EK_FIELD_QUERY] = read_query_id,
    [EK_FIELD_TIME] = read_optional_time,
    [EK_FIELD_SEGMENTS] = read_optional_segments,
    [EK_FIELD_QUERY_FEATURES] = read_query_features,
    [EK_FIELD_MANIFEST] = read_manifest,
    [EK_FIELD_LIST_ITEMS] = decode_list_items,
    [EK_FIELD_LOG_MEANS] = decode_log_means,
    [EK_FIELD_ITEMS] = read_items,
    [EK_FIELD_ITEM] = read_one_item,
    [EK_FIELD_ITEM_ID] = read_item_id,
    [EK_FIELD_SCORE] = read_score,
    [EK_FIELD_FEATURES] = read_features,
    [EK_FIELD_LABEL] = read_label,
    [EK_FIELD_SOURCE] = read_source,
    [EK_FIELD_SEGMENT] = read_optional_dimension,
    [EK_FIELD_QUERY_FEATURE] = read_query_feature,
    [EK_FIELD_FEATURE] = read_feature,
    [EK_FIELD_COLUMN] = read_column_field,
};

static int read_field(struct ek_decode *d, const struct ek_field *field)
{
    d->field = field;
    d->number = field->number;
    if (d->seen[field->tree] & field->bit)
        return ek_decode_fail(d, EK_EFORMAT, "given twice");
    d->seen[field->tree] |= field->bit;
    return readers[field->id](d);
}

/* Read a key. *field is NULL for an unknown key, which is then in d->key; keys that are not strings
 * are unknown. Tries `guess` first, because writers keep their order. */
static int read_key(struct ek_decode *d, int group, int guess, const struct ek_field **field)
{
    const uint8_t *start = d->w.p;
    struct ek_head h;
    *field = guess >= 0 ? &d->c->fields[guess] : NULL;
    if (*field && ek_key_match(&(*field)->key, &d->w))
        return EK_OK;
    *field = NULL;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_TEXT)
        return decode_skip_from(d, start);
    struct ek_text key = ek_decode_text(d, &h);
    int found = ek_field_find(d->c, group, key);
    if (found >= 0)
        *field = &d->c->fields[found];
    else
        d->key = key;
    return EK_OK;
}

static int read_map(struct ek_decode *d, uint32_t pairs, int group)
{
    const struct ek_field *parent = d->field;
    int guess = d->c->fields[group].child, rc = EK_OK;
    for (uint32_t i = 0; !rc && i < pairs; i++) {
        const struct ek_field *field;
        rc = read_key(d, group, guess, &field);
        if (rc)
            return rc;
        if (field) {
            rc = read_field(d, field);
            guess = field->next;
            d->field = parent;
        } else {
            rc = ek_decode_skip(d);
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
    q->from_json = q->from_schema = false;
}

static int check_complete(struct ek_decode *d)
{
    int rc = d->c->layout == EK_LAYOUT_COLUMNS ? end_columns(d) : require(d, d->c->items, 1);
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

bool ek_codec_has_json(const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    size_t frame = ek_json_frame(bytes, length);
    return ek_codec_is_json(p + frame, length - frame);
}

static bool is_msgpack_map(const void *bytes, size_t length)
{
    uint8_t first = length ? *(const uint8_t *)bytes : 0;
    return (first & 0xf0) == 0x80 || first == 0xde || first == 0xdf;
}

const char *ek_codec_other_encoding(enum ek_message_encoding expected, const void *bytes,
                                    size_t length)
{
    if (expected == EK_MESSAGES_MSGPACK && ek_codec_has_json(bytes, length))
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
    struct ek_json_fault fault;
    size_t length = ek_wire_left(&d->w);
    d->words = &ek_words_json;
    d->text = d->w.start;
    d->q->from_json = true;
    int rc =
        ek_json_read(&d->q->json, d->w.start, length, d->c->limits.depth + EK_FIELD_LEVELS, &fault);
    if (rc)
        return json_fail(d, rc, &fault);
    const uint8_t *wire = ek_json_wire(d->q->json, &length);
    d->w = (struct ek_wire){wire, wire, wire + length};
    return EK_OK;
}

static bool wants_json(const struct ek_codec *c, const void *bytes, size_t length)
{
    return c->encoding == EK_MESSAGES_JSON ||
           (c->encoding == EK_MESSAGES_EITHER && ek_codec_has_json(bytes, length));
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

/* Read the fields of a message whose query features have paths of their own. */
static int read_query_paths(struct ek_decode *d, uint32_t pairs)
{
    size_t features = (size_t)d->c->query_names.count;
    ek_row_begin(d->q->query, features);
    int rc = read_map(d, pairs, EK_FIELD_TOP);
    ek_row_end(d->q->query, features);
    return rc;
}

static int read_message(struct ek_decode *d)
{
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_MAP)
        return ek_decode_wrong_kind(d, &h, d->words->map);
    rc = d->c->has_query_features ? read_query_paths(d, h.count)
                                  : read_map(d, h.count, EK_FIELD_TOP);
    if (!rc)
        rc = check_complete(d);
    return rc ? rc : decode_whole(d);
}

int ek_codec_decode(const struct ek_codec *c, const void *bytes, size_t length, struct ek_list *q,
                    struct ek_error *e)
{
    const struct ek_manifest *m = c->manifest;
    struct ek_decode d = {
        .c = c, .q = q, .e = e, .item = -1, .index = -1, .list_items = -1, .columns = -1};
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
    if (!rc && ek_encoding_has_schemas(c->encoding))
        rc = ek_decode_open_schema(&d);
    else if (!rc && wants_json(c, bytes, length))
        rc = open_json(&d);
    if (!rc)
        rc = read_message(&d);
    if (!rc)
        ek_list_derive(q, m);
    return rc;
}
