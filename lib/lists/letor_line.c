#include "lists/letor_line.h"

#include "base/alloc.h"
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 40 };

int ek_letor_fail(const struct ek_letor_line *line, const char *at, struct ek_error *e,
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

int *ek_letor_slots(const struct ek_manifest *m)
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

static bool ends_word(char c)
{
    return !c || is_space(c) || c == '#';
}

static const char *skip_space(const char *p)
{
    while (is_space(*p))
        p++;
    return p;
}

static int word_length(const char *p)
{
    int n = 0;
    while (!ends_word(p[n]) && n < SHOWN_BYTES)
        n++;
    return n;
}

int ek_letor_head(struct ek_letor_line *line, struct ek_error *e)
{
    double label;
    const char *start = skip_space(line->text), *p = ek_decimal(start, &label);
    if (!p || !ends_word(*p) || !(label >= 0 && isfinite(label)))
        return ek_letor_fail(line, start, e, "the label must be a number of at least 0, not '%.*s'",
                             word_length(start), start);
    p = skip_space(p);
    if (ends_word(*p))
        return ek_letor_fail(line, p, e, "'qid:N' must follow the label, but the line ends");
    if (strncmp(p, "qid:", 4) != 0 || ends_word(p[4]))
        return ek_letor_fail(line, p, e, "'qid:N' must follow the label, not '%.*s'",
                             word_length(p), p);
    line->label = (float)label;
    if (!isfinite(line->label) || (label > 0 && line->label == 0))
        return ek_letor_fail(line, start, e, "label '%.*s' is out of range, which is 0 or %g to %g",
                             word_length(start), start, (double)FLT_TRUE_MIN, (double)FLT_MAX);
    line->id.text = p += 4;
    while (!ends_word(*p))
        p++;
    line->id.length = (size_t)(p - line->id.text);
    line->values = p;
    return EK_OK;
}

/* The index at p. Returns what follows it: a colon, or NULL and an error. */
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
        ek_letor_fail(line, start, e, "the index before ':' is empty");
    else if (*p != ':')
        ek_letor_fail(line, start, e, "'index:value' expected, not '%.*s'", word_length(start),
                      start);
    else if (!value)
        ek_letor_fail(line, start, e, "indices begin at 1, not 0");
    else if (value == last)
        ek_letor_fail(line, start, e, "index %d is there twice", value);
    else
        ek_letor_fail(line, start, e, "index %d after %d, indices must rise", value, last);
    return NULL;
}

static int unknown_index(const struct ek_letor_line *line, const char *at, int width, int index,
                         struct ek_error *e)
{
    int digits = (int)strspn(at, "0123456789");
    digits = digits < SHOWN_BYTES ? digits : SHOWN_BYTES;
    if (index > width)
        return ek_letor_fail(line, at, e, "index %.*s is not in the manifest, whose highest is %d",
                             digits, at, width);
    return ek_letor_fail(line, at, e, "index %d is not in the manifest", index);
}

static int wrong_value(const struct ek_letor_line *line, const char *at, int index,
                       struct ek_error *e)
{
    if (ends_word(*at))
        return ek_letor_fail(line, at, e, "index %d has no value", index);
    return ek_letor_fail(line, at, e, "the value of index %d must be a number, not '%.*s'", index,
                         word_length(at), at);
}

/* The text behind '#', of `docid = X ...` the X. */
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

int ek_letor_values(const struct ek_letor_line *line, const struct ek_manifest *m, const int *slots,
                    float *item, float *query, struct ek_text *item_id, struct ek_error *e)
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
        if (!p || !ends_word(*p))
            return wrong_value(line, digits, index, e);
        if (slots[index] != EK_SLOT_UNUSED)
            *(slots[index] >= 0 ? &item[slots[index]] : &query[-1 - slots[index]]) = (float)value;
        last = index;
        p = skip_space(p);
    }
    *item_id = *p ? comment_id(p) : (struct ek_text){NULL, 0};
    return EK_OK;
}
