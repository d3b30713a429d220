#include "lists/letor.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/parse.h"
#include "base/file.h"
#include "base/hash.h"
#include "lists/codec_json.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 40, QID_BYTES = 24 };

/* Fail with EK_EFORMAT at a position in the line. */
static int letor_fail(const struct ek_letor_line *line, const char *at, struct ek_error *e,
                      const char *format, ...)
{
    char message[sizeof e->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return ek_fail_at(e, EK_EFORMAT, line->name, line->number, (long)(at - line->text) + 1, "%s",
                      message);
}

static int letor_width(const struct ek_manifest *m)
{
    int last = m->unused_count ? m->unused[m->unused_count - 1] : 0;
    return last > m->width ? last : m->width;
}

/* Return the slots of all indices from 0 to the highest of the manifest, or NULL if out of
 * memory. */
static int *letor_slots(const struct ek_manifest *m)
{
    int width = letor_width(m);
    int *slots = ek_calloc((size_t)width + 1, sizeof *slots);
    if (!slots)
        return NULL;
    for (int i = 0; i <= width; i++)
        slots[i] = EK_SLOT_UNKNOWN;
    for (int i = 0; i < m->unused_count; i++)
        slots[m->unused[i]] = EK_SLOT_UNUSED;
    for (int i = 0; i < m->item_count; i++)
        slots[m->item[i]->index] = i;
    for (int i = 0; i < m->query_count - m->derived_count; i++)
        slots[m->query[i]->index] = -1 - i;
    return slots;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool ends_field(char c)
{
    return !c || is_space(c) || c == '#';
}

static const char *skip_space(const char *p)
{
    while (is_space(*p))
        p++;
    return p;
}

static int field_length(const char *p)
{
    int n = 0;
    while (!ends_field(p[n]) && n < SHOWN_BYTES)
        n++;
    return n;
}

/* Parse label and query id of line->text. Return 0 or EK_EFORMAT. */
static int letor_head(struct ek_letor_line *line, struct ek_error *e)
{
    double label;
    const char *start = skip_space(line->text), *p = ek_decimal(start, &label);
    if (!p || !ends_field(*p) || !(label >= 0 && isfinite(label)))
        return letor_fail(line, start, e, "the label must be a number of at least 0, not '%.*s'",
                          field_length(start), start);
    p = skip_space(p);
    if (ends_field(*p))
        return letor_fail(line, p, e, "'qid:N' must follow the label, but the line ends");
    if (strncmp(p, "qid:", 4) != 0 || ends_field(p[4]))
        return letor_fail(line, p, e, "'qid:N' must follow the label, not '%.*s'", field_length(p),
                          p);
    line->label = (float)label;
    if (!isfinite(line->label) || (label > 0 && line->label == 0))
        return letor_fail(line, start, e, "label '%.*s' is out of range, which is 0 or %g to %g",
                          field_length(start), start, (double)FLT_TRUE_MIN, (double)FLT_MAX);
    line->id.text = p += 4;
    while (!ends_field(*p))
        p++;
    line->id.length = (size_t)(p - line->id.text);
    line->values = p;
    return EK_OK;
}

/* Parse the index at p. Return the position of its colon, or NULL with an error. */
static const char *read_index(const struct ek_letor_line *line, const char *p, int last, int *index,
                              struct ek_error *e)
{
    const char *start = p;
    int value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        value = value <= EK_INDEX_MAX ? value * 10 + (*p - '0') : value;
    if (*p == ':' && p > start && value > last) {
        *index = value;
        return p;
    }
    if (*p == ':' && p == start)
        letor_fail(line, start, e, "the index before ':' is empty");
    else if (*p != ':')
        letor_fail(line, start, e, "'index:value' expected, not '%.*s'", field_length(start),
                   start);
    else if (!value)
        letor_fail(line, start, e, "indices begin at 1, not 0");
    else if (value == last)
        letor_fail(line, start, e, "index %d is there twice", value);
    else
        letor_fail(line, start, e, "index %d after %d, indices must rise", value, last);
    return NULL;
}

static int unknown_index(const struct ek_letor_line *line, const char *at, int width, int index,
                         struct ek_error *e)
{
    int digits = (int)strspn(at, "0123456789");
    digits = digits < SHOWN_BYTES ? digits : SHOWN_BYTES;
    if (index > width)
        return letor_fail(line, at, e, "index %.*s is not in the manifest, whose highest is %d",
                          digits, at, width);
    return letor_fail(line, at, e, "index %d is not in the manifest", index);
}

static int wrong_value(const struct ek_letor_line *line, const char *at, int index,
                       struct ek_error *e)
{
    if (ends_field(*at))
        return letor_fail(line, at, e, "index %d has no value", index);
    return letor_fail(line, at, e, "the value of index %d must be a number, not '%.*s'", index,
                      field_length(at), at);
}

/* Return the text after '#'; of `docid = X ...` only X. */
static struct ek_text comment_id(const char *p)
{
    p = skip_space(p + 1);
    size_t length = strlen(p);
    if (!strncmp(p, "docid", 5) && *skip_space(p + 5) == '=') {
        p = skip_space(skip_space(p + 5) + 1);
        length = strcspn(p, " \t");
    }
    while (length && is_space(p[length - 1]))
        length--;
    return (struct ek_text){length ? p : NULL, length};
}

/* Parse the values into item [F] and query [M], zeroed first, and the comment's id. */
static int letor_values(const struct ek_letor_line *line, const struct ek_manifest *m,
                        const int *slots, float *item, float *query, struct ek_text *item_id,
                        struct ek_error *e)
{
    memset(item, 0, (size_t)m->item_count * sizeof *item);
    memset(query, 0, (size_t)m->query_count * sizeof *query);
    int last = 0, index = 0, width = letor_width(m);
    const char *p = skip_space(line->values);
    while (*p && *p != '#') {
        const char *start = p;
        double value;
        p = read_index(line, p, last, &index, e);
        if (!p)
            return EK_EFORMAT;
        if (index > width || slots[index] == EK_SLOT_UNKNOWN)
            return unknown_index(line, start, width, index, e);
        const char *digits = p + 1;
        p = ek_decimal(digits, &value);
        if (!p || !ends_field(*p))
            return wrong_value(line, digits, index, e);
        if (slots[index] != EK_SLOT_UNUSED)
            *(slots[index] >= 0 ? &item[slots[index]] : &query[-1 - slots[index]]) = (float)value;
        last = index;
        p = skip_space(p);
    }
    *item_id = *p ? comment_id(p) : (struct ek_text){NULL, 0};
    return EK_OK;
}

struct ek_letor {
    const struct ek_manifest *m;
    struct ek_reader *reader;
    struct ek_letor_line line;
    bool waiting; /* `line` belongs to the next list */
    int *slots;
    float *query, *other;          /* [M] of the list, and of the current line */
    struct ek_hash_set seen;       /* query ids */
    struct ek_buf id;              /* of the list */
    struct ek_buf rows;            /* float [n, F] */
    struct ek_buf labels;          /* float [n] */
    struct ek_buf ids, id_lengths; /* concatenated item ids; size_t [n] */
    int items;
};

static int enomem(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static struct ek_letor *letor_new(const struct ek_manifest *m)
{
    struct ek_letor *l = ek_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    struct ek_buf *const bufs[] = {&l->id, &l->rows, &l->labels, &l->ids, &l->id_lengths};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        ek_buf_init(bufs[i], 0);
    ek_hash_set_init(&l->seen);
    l->m = m;
    l->slots = letor_slots(m);
    l->query = ek_calloc((size_t)m->query_count, sizeof *l->query);
    l->other = ek_calloc((size_t)m->query_count, sizeof *l->other);
    if (l->slots && l->query && l->other)
        return l;
    ek_letor_close(l);
    return NULL;
}

int ek_letor_open(struct ek_letor **out, const struct ek_manifest *m, const char *path,
                  struct ek_error *e)
{
    struct ek_letor *l = letor_new(m);
    if (!l)
        return enomem(e);
    int rc = ek_reader_open(&l->reader, path, e);
    if (rc) {
        ek_letor_close(l);
        return rc;
    }
    l->line.name = ek_reader_name(l->reader);
    *out = l;
    return EK_OK;
}

void ek_letor_close(struct ek_letor *l)
{
    if (!l)
        return;
    ek_reader_close(l->reader);
    ek_hash_set_release(&l->seen);
    ek_buf_release(&l->id);
    ek_buf_release(&l->rows);
    ek_buf_release(&l->labels);
    ek_buf_release(&l->ids);
    ek_buf_release(&l->id_lengths);
    ek_free(l->slots);
    ek_free(l->query);
    ek_free(l->other);
    ek_free(l);
}

void ek_letor_position(const struct ek_letor *l, uint64_t *done, uint64_t *total)
{
    ek_reader_position(l->reader, done, total);
}

/* Read the next line that is not blank or a comment, and parse its head; *more = false at the
 * end. */
static int next_line(struct ek_letor *l, bool *more, struct ek_error *e)
{
    char *text;
    size_t length = 0;
    *more = true;
    if (l->waiting) {
        l->waiting = false;
        return EK_OK;
    }
    do {
        int rc = ek_reader_line(l->reader, &text, &length, e);
        if (rc)
            return rc;
        *more = text != NULL;
    } while (text && (text[strspn(text, " \t")] == '#' || !text[strspn(text, " \t")]));
    if (!text)
        return EK_OK;
    l->line.text = text;
    l->line.number = ek_reader_line_number(l->reader);
    if (strlen(text) != length)
        return letor_fail(&l->line, text + strlen(text), e, "a zero byte in the text");
    return letor_head(&l->line, e);
}

static int start_list(struct ek_letor *l, struct ek_error *e)
{
    const struct ek_text *id = &l->line.id;
    bool added = false;
    if (ek_buf_add(&l->id, id->text, id->length) ||
        ek_hash_set_add(&l->seen, ek_hash(id->text, id->length, 0), &added))
        return enomem(e);
    if (added)
        return EK_OK;
    return letor_fail(&l->line, id->text, e,
                      "query '%.*s' was there before, its lines must stand together",
                      (int)(id->length < 60 ? id->length : 60), id->text);
}

static bool same_value(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

static int check_query(struct ek_letor *l, struct ek_error *e)
{
    int own = l->m->query_count - l->m->derived_count;
    for (int i = 0; i < own; i++)
        if (!same_value(l->query[i], l->other[i]))
            return letor_fail(&l->line, l->line.values, e,
                              "query feature '%s' is %g here but %g before in the same list",
                              l->m->query[i]->name, l->other[i], l->query[i]);
    return EK_OK;
}

static int add_item(struct ek_letor *l, struct ek_error *e)
{
    size_t row = (size_t)l->m->item_count * sizeof(float);
    struct ek_text id;
    int rc = ek_buf_reserve(&l->rows, row);
    if (rc)
        return rc == EK_ELIMIT ? letor_fail(&l->line, l->line.text, e, "the list is too long")
                               : enomem(e);
    rc = letor_values(&l->line, l->m, l->slots, (float *)(void *)(l->rows.data + l->rows.length),
                      l->items ? l->other : l->query, &id, e);
    if (!rc && l->items)
        rc = check_query(l, e);
    if (rc)
        return rc;
    if (ek_buf_add(&l->labels, &l->line.label, sizeof l->line.label) ||
        ek_buf_add(&l->ids, id.text, id.length) ||
        ek_buf_add(&l->id_lengths, &id.length, sizeof id.length))
        return enomem(e);
    l->rows.length += row;
    l->items++;
    return EK_OK;
}

static void clear_list(struct ek_letor *l)
{
    ek_buf_clear(&l->id);
    ek_buf_clear(&l->rows);
    ek_buf_clear(&l->labels);
    ek_buf_clear(&l->ids);
    ek_buf_clear(&l->id_lengths);
    l->items = 0;
}

static int read_list(struct ek_letor *l, struct ek_error *e)
{
    for (;;) {
        bool more;
        int rc = next_line(l, &more, e);
        if (rc || !more)
            return rc;
        bool same =
            l->line.id.length == l->id.length && !memcmp(l->line.id.text, l->id.data, l->id.length);
        if (l->items && !same) {
            l->waiting = true;
            return EK_OK;
        }
        rc = l->items ? EK_OK : start_list(l, e);
        if (!rc)
            rc = add_item(l, e);
        if (rc)
            return rc;
    }
}

static void fill_ids(const struct ek_letor *l, struct ek_list *q)
{
    const char *text = (const char *)l->ids.data;
    for (int i = 0; i < l->items; i++) {
        size_t length;
        memcpy(&length, l->id_lengths.data + (size_t)i * sizeof length, sizeof length);
        q->item_id[i] = (struct ek_text){length ? text : NULL, length};
        text = length ? text + length : text;
    }
}

static int fill_query(const struct ek_letor *l, struct ek_list *q, struct ek_error *e)
{
    if (ek_list_resize(q, l->items, l->m->item_count, l->m->query_count))
        return enomem(e);
    if (l->rows.length)
        memcpy(q->x, l->rows.data, l->rows.length);
    memcpy(q->query, l->query, (size_t)l->m->query_count * sizeof *q->query);
    memcpy(q->label, l->labels.data, l->labels.length);
    memset(q->place, 0, (size_t)l->items * sizeof *q->place);
    for (int i = 0; i < l->items; i++)
        q->score[i] = NAN;
    fill_ids(l, q);
    q->id = (struct ek_text){(const char *)l->id.data, l->id.length};
    q->time_ms = -1;
    q->segment_count = 0;
    q->has_label = true;
    ek_list_derive(q, l->m);
    return EK_OK;
}

int ek_letor_next(struct ek_letor *l, struct ek_list *q, bool *more, struct ek_error *e)
{
    clear_list(l);
    int rc = read_list(l, e);
    if (!rc && l->items)
        rc = fill_query(l, q, e);
    if (!rc)
        *more = l->items > 0;
    return rc;
}

enum { SURE_DIGITS = 6, ALL_DIGITS = 9 };

/* Six digits always survive text to float to text; nine always identify a float. */
static const char *searched(float x, char text[EK_JSON_NUMBER_BYTES + 1])
{
    for (int digits = SURE_DIGITS; digits <= ALL_DIGITS; digits++) {
        snprintf(text, EK_JSON_NUMBER_BYTES, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            break;
    }
    return text;
}

/* For denormal floats and a few powers of two there are shorter decimals than those of printf. */
static const char *shortest(float x, char text[EK_JSON_NUMBER_BYTES + 1])
{
    static const float SMALL = 1e-20f, LARGE = 1e20f;
    float size = fabsf(x);
    if (size != 0 && (size < SMALL || size > LARGE))
        return searched(x, text);
    text[ek_json_printed(text, x)] = '\0';
    return text;
}

static int write_value(const struct ek_feature *f, float x, struct ek_buf *out, struct ek_error *e)
{
    char text[EK_JSON_NUMBER_BYTES + 1];
    if (isinf(x))
        return ek_fail(e, EK_EFORMAT, "feature '%s' is infinite, LETOR has no word for that",
                       f->name);
    int rc = ek_buf_printf(out, " %d:%s", f->index, isnan(x) ? "nan" : shortest(x, text));
    return rc ? ek_fail(e, (enum ek_code)rc, "out of memory") : EK_OK;
}

/* Merge item and query features by rising index. */
static int write_values(const struct ek_manifest *m, const struct ek_list *q, int item,
                        struct ek_buf *out, struct ek_error *e)
{
    const float *x = q->x + (size_t)item * (size_t)q->item_features;
    int i = 0, j = 0, read = m->query_count - m->derived_count;
    while (i < m->item_count || j < read) {
        bool of_item = j == read || (i < m->item_count && m->item[i]->index < m->query[j]->index);
        int rc = of_item ? write_value(m->item[i], x[i], out, e)
                         : write_value(m->query[j], q->query[j], out, e);
        if (rc)
            return rc;
        i += of_item;
        j += !of_item;
    }
    return EK_OK;
}

static int write_item(const struct ek_manifest *m, const struct ek_list *q, struct ek_text qid,
                      int item, struct ek_buf *out, struct ek_error *e)
{
    char label[EK_JSON_NUMBER_BYTES + 1];
    shortest(q->has_label ? q->label[item] : 0, label);
    ek_buf_printf(out, "%s qid:%.*s", label, (int)qid.length, qid.text);
    int rc = write_values(m, q, item, out, e);
    if (rc)
        return rc;
    struct ek_text id = q->item_id ? q->item_id[item] : (struct ek_text){NULL, 0};
    if (id.length)
        ek_buf_printf(out, " # %.*s", (int)id.length, id.text);
    rc = ek_buf_add(out, "\n", 1);
    return rc ? ek_fail(e, (enum ek_code)rc, "out of memory") : EK_OK;
}

int ek_letor_write_as(const struct ek_manifest *m, const struct ek_list *q, struct ek_text qid,
                      struct ek_buf *out, struct ek_error *e)
{
    size_t before = out->length;
    for (int item = 0; item < q->items; item++) {
        int rc = write_item(m, q, qid, item, out, e);
        if (rc) {
            ek_buf_truncate(out, before);
            return rc;
        }
    }
    return EK_OK;
}

int ek_letor_write(const struct ek_manifest *m, const struct ek_list *q, uint64_t qid,
                   struct ek_buf *out, struct ek_error *e)
{
    char text[QID_BYTES];
    snprintf(text, sizeof text, "%llu", (unsigned long long)qid);
    return ek_letor_write_as(m, q, ek_text_from(text), out, e);
}
