#include "text/index/index_blocks.h"

#include "base/alloc.h"
#include "text/index/packed.h"

int ek_blocks_begin(struct ek_blocks *b, const struct ek_index *x, uint32_t term,
                    struct ek_error *e)
{
    struct ek_index_entry entry;
    b->index = x;
    b->position = NULL;
    b->position_count = b->position_room = 0;
    b->count = b->left = 0;
    b->last = -1;
    if (term >= x->footer.terms)
        return ek_fail_at(e, EK_EUSAGE, x->path, 0, 0, "there is no term %u", term);
    if (!ek_index_entry(x, term, &entry))
        return ek_index_damaged(x, "a term cannot be read", e);
    struct ek_bytes all = ek_index_section(x, EK_SECTION_POSTINGS, entry.postings);
    b->bytes.at = ek_bytes_read(&all, entry.postings_bytes);
    b->left = entry.statistics[EK_FIELD_DOCUMENT].documents;
    if (all.bad || !b->left)
        return ek_index_damaged(x, "postings lie beyond their section", e);
    b->bytes.end = all.at;
    b->bytes.bad = false;
    return EK_OK;
}

void ek_blocks_end(struct ek_blocks *b)
{
    ek_free(b->position);
    b->position = NULL;
}

static struct ek_bytes part(struct ek_bytes *from, uint64_t length)
{
    const uint8_t *at = ek_bytes_read(from, length);
    return (struct ek_bytes){at, from->at, from->bad};
}

int ek_blocks_next(struct ek_blocks *b, struct ek_error *e)
{
    uint32_t documents = b->index->footer.documents;
    if (b->count && b->summary)
        b->last = b->highest;
    b->count = 0;
    if (!b->left)
        return EK_OK;
    uint64_t head = ek_varint_get(&b->bytes), count = head >> 1;
    uint64_t body = ek_varint_get(&b->bytes), places = ek_varint_get(&b->bytes);
    b->summary = head & 1;
    if (b->summary) {
        b->highest = (uint32_t)(b->last + 1 + (int64_t)ek_varint_get_bounded(&b->bytes, documents));
        b->most = (uint32_t)ek_varint_get_bounded(&b->bytes, UINT32_MAX);
        b->shortest = (uint32_t)ek_varint_get_bounded(&b->bytes, UINT32_MAX);
    }
    b->body = part(&b->bytes, body);
    b->places = part(&b->bytes, places);
    if (b->bytes.bad || !count || count > EK_INDEX_BLOCK || count > b->left ||
        (b->summary && b->highest >= documents))
        return ek_index_damaged(b->index, "a block of postings is none", e);
    b->count = (uint32_t)count;
    b->left -= b->count;
    return EK_OK;
}

int ek_blocks_documents(struct ek_blocks *b, struct ek_error *e)
{
    size_t left = (size_t)(b->body.end - b->body.at), used, more;
    uint64_t sum = 0;
    int64_t document = b->last;
    bool good =
        ek_pack_decode(EK_PACK_WIDE, b->body.at, left, b->count, b->document, &used) &&
        ek_pack_decode(EK_PACK_SMALL, b->body.at + used, left - used, b->count, b->tf, &more);
    for (uint32_t i = 0; good && i < b->count; i++) {
        document += (int64_t)b->document[i] + 1;
        good = document < b->index->footer.documents && b->tf[i] < UINT32_MAX;
        b->document[i] = (uint32_t)document;
        sum += ++b->tf[i];
    }
    if (!good || (b->summary && document != b->highest))
        return ek_index_damaged(b->index, "documents of a term do not rise", e);
    b->position_count = sum;
    if (!b->summary)
        b->last = document;
    return EK_OK;
}

int ek_blocks_positions(struct ek_blocks *b, struct ek_error *e)
{
    size_t left = (size_t)(b->places.end - b->places.at), used;
    if (b->position_count > left)
        return ek_index_damaged(b->index, "positions are missing", e);
    if (b->position_count > b->position_room) {
        size_t room = b->position_count + b->position_count / 2;
        uint32_t *larger = ek_realloc(b->position, room, sizeof *larger);
        if (!larger)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        b->position = larger;
        b->position_room = room;
    }
    if (b->position_count > UINT32_MAX ||
        !ek_pack_decode(EK_PACK_WIDE, b->places.at, left, (uint32_t)b->position_count, b->position,
                        &used))
        return ek_index_damaged(b->index, "positions are missing", e);
    return EK_OK;
}
