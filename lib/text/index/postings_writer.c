#include "text/index/postings_writer.h"

#include "base/alloc.h"
#include "text/index/packed.h"
#include "text/index/varint.h"

enum {
    POSITIONS_MOST = 1 << 16, /* a block ends with the document that reaches this count */
    HEAD = 6 * EK_VARINT_BYTES_MAX
};

void ek_postings_writer_init(struct ek_postings_writer *o, const uint32_t *lengths)
{
    *o = (struct ek_postings_writer){.lengths = lengths};
    ek_buf_init(&o->bytes, SIZE_MAX);
    ek_postings_writer_clear(o);
}

void ek_postings_writer_release(struct ek_postings_writer *o)
{
    ek_buf_release(&o->bytes);
    ek_free(o->positions.data);
    o->positions = (struct ek_numbers){0};
}

void ek_postings_writer_clear(struct ek_postings_writer *o)
{
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++)
        o->field[f] = (struct ek_field_count){0};
    o->last = UINT32_MAX;
    o->open = false;
    o->count = 0;
    o->positions.count = 0;
    ek_buf_clear(&o->bytes);
}

static size_t write_summary(const struct ek_postings_writer *o, uint8_t *out)
{
    uint32_t most = 0, shortest = UINT32_MAX;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t length = o->lengths[o->documents[i]];
        most = o->counts[i] > most ? o->counts[i] : most;
        shortest = length < shortest ? length : shortest;
    }
    size_t n = ek_varint_write(out, o->documents[o->count - 1] - o->last - 1);
    n += ek_varint_write(out + n, most);
    return n + ek_varint_write(out + n, shortest);
}

/* Convert positions to gaps in place. */
static void close_up(struct ek_postings_writer *o)
{
    uint32_t *p = o->positions.data;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t last = UINT32_MAX;
        for (uint32_t j = 0; j < o->counts[i]; j++, p++) {
            uint32_t here = *p;
            *p = here - last - 1;
            last = here;
        }
    }
}

static int write_block(struct ek_postings_writer *o, bool summary)
{
    uint32_t gaps[EK_INDEX_BLOCK], more[EK_INDEX_BLOCK], last = o->last;
    uint8_t head[HEAD], small[2 * (5 * EK_INDEX_BLOCK + EK_PACK_PADDING)];
    uint32_t positions = (uint32_t)o->positions.count;
    for (uint32_t i = 0; i < o->count; i++) {
        gaps[i] = o->documents[i] - last - 1;
        last = o->documents[i];
        more[i] = o->counts[i] - 1;
    }
    close_up(o);
    size_t n = ek_pack_encode(EK_PACK_WIDE, gaps, o->count, small);
    n += ek_pack_encode(EK_PACK_SMALL, more, o->count, small + n);
    size_t room = ek_pack_max_bytes(positions);
    uint8_t *packed = ek_realloc(NULL, room, 1);
    if (!packed)
        return EK_ENOMEM;
    size_t packed_bytes = ek_pack_encode(EK_PACK_WIDE, o->positions.data, positions, packed);
    size_t h = ek_varint_write(head, (uint64_t)o->count << 1 | summary);
    h += ek_varint_write(head + h, n);
    h += ek_varint_write(head + h, packed_bytes);
    if (summary)
        h += write_summary(o, head + h);
    ek_buf_add(&o->bytes, head, h);
    ek_buf_add(&o->bytes, small, n);
    int rc = ek_buf_add(&o->bytes, packed, packed_bytes);
    ek_free(packed);
    o->last = last;
    o->count = 0;
    o->positions.count = 0;
    return rc;
}

static void count_one(struct ek_field_count *f, uint32_t count)
{
    f->documents += count > 0;
    f->tokens += count;
    f->most = count > f->most ? count : f->most;
}

static void close_document(struct ek_postings_writer *o)
{
    uint32_t count = 0;
    if (!o->open)
        return;
    o->open = false;
    for (int f = 0; f < EK_FIELDS; f++) {
        count_one(o->field + f, o->in[f]);
        count += o->in[f];
    }
    count_one(o->field + EK_FIELD_DOCUMENT, count);
    o->documents[o->count] = o->document;
    o->counts[o->count++] = count;
}

int ek_postings_writer_document(struct ek_postings_writer *o, uint32_t document)
{
    int rc = EK_OK;
    close_document(o);
    if (o->count == EK_INDEX_BLOCK || o->positions.count >= POSITIONS_MOST)
        rc = write_block(o, true);
    o->document = document;
    o->open = true;
    for (int f = 0; f < EK_FIELDS; f++)
        o->in[f] = 0;
    return rc;
}

int ek_postings_writer_position(struct ek_postings_writer *o, enum ek_field field,
                                uint32_t position)
{
    o->in[field]++;
    return ek_numbers_add(&o->positions, position);
}

int ek_postings_writer_end(struct ek_postings_writer *o)
{
    close_document(o);
    return o->count ? write_block(o, false) : EK_OK;
}
