#include "text/index/run_writer.h"

#include "base/alloc.h"
#include "text/index/spill_file.h"
#include "text/index/varint.h"

#include <string.h>

/* The places of a term are a linked list of slices that double in size up to SLICE_MOST. Slices are
 * in slabs and numbered in units, from 1. */
enum {
    UNIT = 8,
    SLAB_UNITS = 8192,
    SLAB_BYTES = UNIT * SLAB_UNITS,
    SLICE_FIRST = 16,
    SLICE_MOST = 1024,
    PLACE_BYTES_MAX = 16, /* of one place; fits the shortest slice */
    FIRST_ROOM = 1024
};

struct ek_places {
    uint32_t head, tail; /* 0: none */
    uint32_t document, position;
    uint32_t field;
};

struct slice {
    uint32_t next;
    uint16_t size, used; /* bytes that follow */
};

void ek_run_writer_init(struct ek_run_writer *g)
{
    *g = (struct ek_run_writer){0};
}

void ek_run_writer_release(struct ek_run_writer *g)
{
    for (size_t i = 0; i < g->slab_count; i++)
        ek_free(g->slabs[i]);
    ek_free(g->slabs);
    ek_free(g->terms);
    ek_run_writer_init(g);
}

static struct slice *slice_at(const struct ek_run_writer *g, uint32_t unit)
{
    uint32_t at = unit - 1;
    return (struct slice *)(void *)(g->slabs[at / SLAB_UNITS] + (size_t)(at % SLAB_UNITS) * UNIT);
}

static const struct ek_places NOWHERE = {0, 0, UINT32_MAX, UINT32_MAX, EK_FIELD_BODY};

static int know_term(struct ek_run_writer *g, uint32_t term)
{
    if (term >= g->room) {
        uint32_t room =
            term > UINT32_MAX / 2 ? UINT32_MAX : 2 * (term < FIRST_ROOM ? FIRST_ROOM : term);
        struct ek_places *larger = ek_realloc(g->terms, room, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        g->terms = larger;
        g->room = room;
    }
    while (g->count <= term)
        g->terms[g->count++] = NOWHERE;
    return EK_OK;
}

static int next_slab(struct ek_run_writer *g)
{
    size_t next = g->slab_count ? g->slab + 1 : 0;
    if (next == g->slab_count) {
        uint8_t **larger = ek_grow(g->slabs, next, &g->slab_room, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        g->slabs = larger;
        if (next >= UINT32_MAX / SLAB_UNITS)
            return EK_ELIMIT;
        g->slabs[next] = ek_realloc(NULL, SLAB_BYTES, 1);
        if (!g->slabs[next])
            return EK_ENOMEM;
        g->slab_count++;
    }
    g->slab = next;
    g->used = 0;
    return EK_OK;
}

static int new_slice(struct ek_run_writer *g, struct ek_places *p)
{
    struct slice *last = p->tail ? slice_at(g, p->tail) : NULL;
    uint32_t size = !last ? SLICE_FIRST : last->size < SLICE_MOST ? 2u * last->size : SLICE_MOST;
    uint32_t units = (uint32_t)(sizeof *last + size) / UNIT;
    if (!g->slab_count || g->used + units > SLAB_UNITS) {
        int rc = next_slab(g);
        if (rc)
            return rc;
    }
    uint32_t unit = (uint32_t)g->slab * SLAB_UNITS + g->used + 1;
    g->used += units;
    *slice_at(g, unit) = (struct slice){0, (uint16_t)size, 0};
    if (last)
        last->next = unit;
    else
        p->head = unit;
    p->tail = unit;
    return EK_OK;
}

int ek_run_writer_add(struct ek_run_writer *g, uint32_t term, uint32_t document,
                      enum ek_field field, uint32_t position)
{
    uint8_t place[2 * EK_VARINT_BYTES_MAX + 1];
    int rc = term < g->count ? EK_OK : know_term(g, term);
    if (rc)
        return rc;
    struct ek_places *p = g->terms + term;
    unsigned kind = 0;
    if (p->document != document) {
        kind |= EK_PLACE_DOCUMENT;
        p->position = UINT32_MAX;
    }
    if (p->field != (uint32_t)field)
        kind |= EK_PLACE_FIELD;
    size_t n =
        ek_varint_write(place, (uint64_t)(position - p->position - 1) << EK_PLACE_BITS | kind);
    if (kind & EK_PLACE_DOCUMENT)
        n += ek_varint_write(place + n, document - p->document - 1);
    if (kind & EK_PLACE_FIELD)
        place[n++] = (uint8_t)field;
    struct slice *s = p->tail ? slice_at(g, p->tail) : NULL;
    if (!s || s->used + n > s->size) {
        rc = new_slice(g, p);
        if (rc)
            return rc;
        s = slice_at(g, p->tail);
    }
    memcpy((uint8_t *)(s + 1) + s->used, place, n);
    s->used = (uint16_t)(s->used + n);
    p->document = document;
    p->position = position;
    p->field = (uint32_t)field;
    return EK_OK;
}

static int spill_term(const struct ek_run_writer *g, const struct ek_places *p, uint32_t gap,
                      struct ek_spill_file *to, struct ek_error *e)
{
    uint8_t head[2 * EK_VARINT_BYTES_MAX];
    uint64_t bytes = 0;
    for (uint32_t at = p->head; at; at = slice_at(g, at)->next)
        bytes += slice_at(g, at)->used;
    size_t n = ek_varint_write(head, gap);
    n += ek_varint_write(head + n, bytes);
    int rc = ek_spill_file_add(to, head, n, e);
    for (uint32_t at = p->head; at && !rc; at = slice_at(g, at)->next)
        rc = ek_spill_file_add(to, slice_at(g, at) + 1, slice_at(g, at)->used, e);
    return rc;
}

int ek_run_writer_spill(struct ek_run_writer *g, struct ek_spill_file *to, struct ek_error *e)
{
    uint32_t last = UINT32_MAX;
    int rc = EK_OK;
    for (uint32_t t = 0; t < g->count && !rc; t++) {
        if (!g->terms[t].head)
            continue;
        rc = spill_term(g, g->terms + t, t - last - 1, to, e);
        last = t;
        g->terms[t] = NOWHERE;
    }
    g->slab = 0;
    g->used = 0;
    return rc;
}

uint64_t ek_run_writer_places(const struct ek_run_writer *g)
{
    return g->slab_count ? (uint64_t)g->slab * SLAB_BYTES + (uint64_t)g->used * UNIT : 0;
}

uint64_t ek_run_writer_table(const struct ek_run_writer *g)
{
    return (uint64_t)g->room * sizeof *g->terms;
}
