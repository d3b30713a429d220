/* Documents of an index. */
#include "base/alloc.h"
#include "base/hash.h"
#include "text/index/index_internal.h"
#include "text/index/packed.h"

#include <string.h>

/* Read the id and URL of a document. Return the remaining bytes of the record, its terms. */
static struct ek_bytes record(const struct ek_index *x, uint32_t number, struct ek_document *d)
{
    struct ek_bytes b = ek_index_section(x, EK_SECTION_FORWARD, x->rows[number].forward);
    d->id_length = (size_t)ek_varint_get(&b);
    d->id = (const char *)ek_bytes_read(&b, d->id_length);
    d->url_length = (size_t)ek_varint_get(&b);
    d->url = (const char *)ek_bytes_read(&b, d->url_length);
    return b;
}

int64_t ek_index_document(const struct ek_index *x, const char *id, size_t length)
{
    size_t mask = x->slot_count - 1, at = (uint32_t)ek_hash(id, length, 0);
    for (size_t tries = 0; tries < x->slot_count; tries++, at++) {
        uint32_t slot = x->slots[at & mask];
        struct ek_document d;
        if (!slot || slot > x->footer.documents)
            return -1;
        if (!record(x, slot - 1, &d).bad && d.id_length == length && !memcmp(d.id, id, length))
            return slot - 1;
    }
    return -1;
}

bool ek_index_bounds(const struct ek_index *x, uint32_t number, enum ek_field field,
                     uint32_t *begin, uint32_t *end)
{
    const uint32_t *ends = x->rows[number].end;
    uint32_t all = x->lengths[number];
    *begin = field == EK_FIELD_TITLE || field == EK_FIELD_DOCUMENT ? 0 : ends[field - 1];
    *end = field >= EK_FIELDS - 1 ? all : ends[field];
    return *begin <= *end && *end <= all;
}

uint32_t ek_index_length(const struct ek_index *x, uint32_t number, enum ek_field field)
{
    uint32_t begin, end;
    return ek_index_bounds(x, number, field, &begin, &end) ? end - begin : 0;
}

void ek_document_init(struct ek_document *d)
{
    *d = (struct ek_document){0};
}

void ek_document_release(struct ek_document *d)
{
    ek_free(d->memory);
    ek_document_init(d);
}

static int reserve_documents(struct ek_document *d, size_t count, struct ek_error *e)
{
    if (count <= d->capacity && d->memory)
        return EK_OK;
    uint32_t *larger = ek_realloc(d->memory, count + count / 2 + 1, sizeof *larger);
    if (!larger)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    d->memory = larger;
    d->capacity = count + count / 2 + 1;
    return EK_OK;
}

/* Convert term numbers from order of appearance to byte order. */
static bool rank(const struct ek_index *x, uint32_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i] >= x->footer.terms || x->ranks[terms[i]] >= x->footer.terms)
            return false;
        terms[i] = x->ranks[terms[i]];
    }
    return true;
}

int ek_index_read(const struct ek_index *x, uint32_t number, struct ek_document *d,
                  struct ek_error *e)
{
    if (number >= x->footer.documents)
        return ek_fail_at(e, EK_EUSAGE, x->path, 0, 0, "there is no document %u", number);
    struct ek_bytes b = record(x, number, d);
    uint32_t count = x->lengths[number];
    size_t left = (size_t)(b.end - b.at), used;
    /* Four terms take at least five bytes, so a damaged count cannot cause a large allocation. */
    if (b.bad || count > left || count / 4 * 5 > left)
        return ek_index_damaged(x, "a document does not end", e);
    int rc = reserve_documents(d, count, e);
    if (rc)
        return rc;
    if (!ek_pack_decode(EK_PACK_WIDE, b.at, left, count, d->memory, &used) ||
        !rank(x, d->memory, count))
        return ek_index_damaged(x, "a document has terms that there are not", e);
    d->number = number;
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++) {
        uint32_t begin, end;
        if (!ek_index_bounds(x, number, (enum ek_field)f, &begin, &end))
            return ek_index_damaged(x, "a field ends before it begins", e);
        d->term[f] = d->memory + begin;
        d->length[f] = end - begin;
    }
    return EK_OK;
}
