/* Lines to lists. What stands in a line is for letor_line.c. */
#include "lists/letor.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hash_set.h"
#include "lists/letor_line.h"

#include <math.h>
#include <string.h>

struct ek_letor {
    const struct ek_manifest *m;
    struct ek_reader *reader;
    struct ek_letor_line line;
    bool waiting; /* `line` was read, but belongs to the next list */
    int *slots;
    float *query, *other;          /* [M] of the list, and of the line just read */
    struct ek_hash_set seen;       /* query ids */
    struct ek_buf id;              /* of the list */
    struct ek_buf rows;            /* float [n, F] */
    struct ek_buf labels;          /* float [n] */
    struct ek_buf ids, id_lengths; /* item ids one behind the other; size_t [n] */
    int items;
};

static int no_memory(struct ek_error *e)
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
    l->slots = ek_letor_slots(m);
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
        return no_memory(e);
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

/* The next line that is neither empty nor a comment, its head read; *more = false at the end. */
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
        return ek_letor_fail(&l->line, text + strlen(text), e, "a zero byte in the text");
    return ek_letor_head(&l->line, e);
}

static int start_list(struct ek_letor *l, struct ek_error *e)
{
    const struct ek_text *id = &l->line.id;
    bool added = false;
    if (ek_buf_add(&l->id, id->text, id->length) ||
        ek_hash_set_add(&l->seen, ek_hash(id->text, id->length, 0), &added))
        return no_memory(e);
    if (added)
        return EK_OK;
    return ek_letor_fail(&l->line, id->text, e,
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
            return ek_letor_fail(&l->line, l->line.values, e,
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
        return rc == EK_ELIMIT ? ek_letor_fail(&l->line, l->line.text, e, "the list is too long")
                               : no_memory(e);
    rc = ek_letor_values(&l->line, l->m, l->slots, (float *)(void *)(l->rows.data + l->rows.length),
                         l->items ? l->other : l->query, &id, e);
    if (!rc && l->items)
        rc = check_query(l, e);
    if (rc)
        return rc;
    if (ek_buf_add(&l->labels, &l->line.label, sizeof l->line.label) ||
        ek_buf_add(&l->ids, id.text, id.length) ||
        ek_buf_add(&l->id_lengths, &id.length, sizeof id.length))
        return no_memory(e);
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

static void fill_ids(const struct ek_letor *l, struct ek_query *q)
{
    const char *text = (const char *)l->ids.data;
    for (int i = 0; i < l->items; i++) {
        size_t length;
        memcpy(&length, l->id_lengths.data + (size_t)i * sizeof length, sizeof length);
        q->item_id[i] = (struct ek_text){length ? text : NULL, length};
        text = length ? text + length : text;
    }
}

static int fill_query(const struct ek_letor *l, struct ek_query *q, struct ek_error *e)
{
    if (ek_query_resize(q, l->items, l->m->item_count, l->m->query_count))
        return no_memory(e);
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
    ek_query_derive(q, l->m);
    return EK_OK;
}

int ek_letor_next(struct ek_letor *l, struct ek_query *q, bool *more, struct ek_error *e)
{
    clear_list(l);
    int rc = read_list(l, e);
    if (!rc && l->items)
        rc = fill_query(l, q, e);
    if (!rc)
        *more = l->items > 0;
    return rc;
}
