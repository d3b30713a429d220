/* Postings of one field, derived from those of whole documents. */
#include "base/alloc.h"
#include "text/index/index_blocks.h"

struct cursor {
    struct ek_blocks blocks;
    enum ek_field field;
    bool whole;     /* whole document: counts need no positions */
    bool positions; /* requested by the caller */
    uint32_t next;  /* index in the block */
    size_t place;   /* offset of its positions */
    uint32_t *made; /* positions of this document */
    size_t room;
};

int ek_postings_begin(struct ek_postings *p, const struct ek_index *x, uint32_t term,
                      enum ek_field field, bool positions, struct ek_error *e)
{
    *p = (struct ek_postings){0};
    struct cursor *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->field = field;
    c->whole = field == EK_FIELD_DOCUMENT;
    c->positions = positions;
    int rc = ek_blocks_begin(&c->blocks, x, term, e);
    if (rc) {
        ek_free(c);
        return rc;
    }
    p->memory = c;
    return EK_OK;
}

void ek_postings_end(struct ek_postings *p)
{
    struct cursor *c = p->memory;
    if (c) {
        ek_blocks_end(&c->blocks);
        ek_free(c->made);
        ek_free(c);
    }
    *p = (struct ek_postings){0};
}

static int next_block(struct cursor *c, struct ek_error *e)
{
    c->next = 0;
    c->place = 0;
    int rc = ek_blocks_next(&c->blocks, e);
    if (!rc && c->blocks.count)
        rc = ek_blocks_documents(&c->blocks, e);
    if (!rc && c->blocks.count && (c->positions || !c->whole))
        rc = ek_blocks_positions(&c->blocks, e);
    return rc;
}

static int reserve_positions(struct cursor *c, size_t count, struct ek_error *e)
{
    if (count <= c->room)
        return EK_OK;
    uint32_t *larger = ek_realloc(c->made, 2 * count, sizeof *larger);
    if (!larger)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->made = larger;
    c->room = 2 * count;
    return EK_OK;
}

/* Decode the positions of document `i` of the block within the field, relative to its beginning. */
static int read_positions(struct cursor *c, uint32_t i, uint32_t *count, struct ek_error *e)
{
    const struct ek_blocks *b = &c->blocks;
    uint32_t begin, end, tf = b->tf[i], n = 0;
    uint64_t at = 0, length = b->index->lengths[b->document[i]];
    const uint32_t *gap = b->position + c->place;
    c->place += tf;
    int rc = reserve_positions(c, tf, e);
    if (rc)
        return rc;
    if (!ek_index_bounds(b->index, b->document[i], c->field, &begin, &end))
        return ek_index_damaged(b->index, "a field ends before it begins", e);
    for (uint32_t j = 0; j < tf; j++, at++) {
        at += gap[j];
        if (at >= begin && at < end)
            c->made[n++] = (uint32_t)at - begin;
    }
    *count = n;
    return at <= length ? EK_OK
                        : ek_index_damaged(b->index, "a position lies behind its document", e);
}

int ek_postings_next(struct ek_postings *p, bool *more, struct ek_error *e)
{
    struct cursor *c = p->memory;
    for (;;) {
        int rc = c->next == c->blocks.count ? next_block(c, e) : EK_OK;
        *more = !rc && c->blocks.count;
        if (!*more)
            return rc;
        uint32_t i = c->next++, count = c->blocks.tf[i];
        if (c->positions || !c->whole)
            rc = read_positions(c, i, &count, e);
        if (rc) {
            *more = false;
            return rc;
        }
        if (!count)
            continue;
        p->document = c->blocks.document[i];
        p->count = count;
        p->position = c->positions ? c->made : NULL;
        return EK_OK;
    }
}
