#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "text/index/build_internal.h"
#include "text/index/field.h"
#include "text/index/packed.h"
#include "text/index/spill_file.h"
#include "text/index/varint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Encoder for the postings of a term: blocks of documents with positions, and statistics. Internal
 * to lib/text/index/build*.
 *
 * A block has, in this order:
 * - varint `documents << 1 | summary`
 * - varint bytes of documents and counts, varint bytes of positions
 * - the summary, in all blocks of a term but the last: varint gap from the previous block's last
 *   document to its own, varint highest count, varint fewest terms of a document
 * - packed gaps of documents (wide), packed counts minus 1 (small), packed gaps of positions (wide)
 * Gaps are differences minus 1, starting from -1; positions restart with each document.
 */

/* Statistics of a term in a field; `documents` 0: absent. */
struct ek_field_count {
    uint32_t documents, most;
    uint64_t tokens;
};

struct ek_postings_writer {
    const uint32_t *lengths; /* of all documents */
    struct ek_field_count field[EK_FIELDS_AND_DOCUMENT];
    uint32_t last;                    /* last document of the previous block, initially -1 */
    uint32_t document, in[EK_FIELDS]; /* the current document */
    bool open;
    uint32_t documents[EK_INDEX_BLOCK], counts[EK_INDEX_BLOCK], count;
    struct ek_numbers positions;
    struct ek_buf bytes; /* of the term so far */
};

enum {
    POSITIONS_MOST = 1 << 16, /* a block ends with the document that reaches this count */
    HEAD = 6 * EK_VARINT_BYTES_MAX
};

/* Reset for the next term, keeping the memory. */
static void postings_writer_clear(struct ek_postings_writer *o)
{
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++)
        o->field[f] = (struct ek_field_count){0};
    o->last = UINT32_MAX;
    o->open = false;
    o->count = 0;
    o->positions.count = 0;
    ek_buf_clear(&o->bytes);
}

static void postings_writer_init(struct ek_postings_writer *o, const uint32_t *lengths)
{
    *o = (struct ek_postings_writer){.lengths = lengths};
    ek_buf_init(&o->bytes, SIZE_MAX);
    postings_writer_clear(o);
}

static void postings_writer_release(struct ek_postings_writer *o)
{
    ek_buf_release(&o->bytes);
    ek_free(o->positions.data);
    o->positions = (struct ek_numbers){0};
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

/* Begin a document; add a position to it; finish the term. Return 0, EK_ENOMEM or EK_ELIMIT. */
static int postings_writer_document(struct ek_postings_writer *o, uint32_t document)
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

static int postings_writer_position(struct ek_postings_writer *o, enum ek_field field,
                                    uint32_t position)
{
    o->in[field]++;
    return ek_numbers_add(&o->positions, position);
}

static int postings_writer_end(struct ek_postings_writer *o)
{
    close_document(o);
    return o->count ? write_block(o, false) : EK_OK;
}

/* Sequential reader for a run (build.c). */
struct ek_run_reader {
    struct ek_spill_file *spool;
    uint64_t at, end; /* bytes not yet read into the buffer */
    uint8_t *buffer;
    size_t room, next, held;
    bool more;
    uint32_t term; /* current term, if `more` */
    uint64_t left; /* bytes left of its places */
};

static int fill(struct ek_run_reader *r, struct ek_error *e)
{
    uint64_t left = r->end - r->at;
    size_t n = left < r->room ? (size_t)left : r->room;
    int rc = ek_spill_file_read(r->spool, r->at, r->buffer, n, e);
    r->at += n;
    r->next = 0;
    r->held = n;
    return rc;
}

static int get_byte(struct ek_run_reader *r, uint8_t *byte, struct ek_error *e)
{
    if (r->next == r->held) {
        int rc = r->at < r->end ? fill(r, e) : ek_fail(e, EK_EIO, "a temporary file is cut short");
        if (rc)
            return rc;
    }
    *byte = r->buffer[r->next++];
    r->left--;
    return EK_OK;
}

static int get(struct ek_run_reader *r, uint64_t *value, struct ek_error *e)
{
    uint8_t byte = 0x80;
    *value = 0;
    for (unsigned shift = 0; byte & 0x80 && shift < 64; shift += 7) {
        int rc = get_byte(r, &byte, e);
        if (rc)
            return rc;
        *value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return EK_OK;
}

static int next_term(struct ek_run_reader *r, struct ek_error *e)
{
    uint64_t gap = 0, left = 0;
    r->more = r->next < r->held || r->at < r->end;
    if (!r->more)
        return EK_OK;
    int rc = get(r, &gap, e);
    if (!rc)
        rc = get(r, &left, e);
    r->term += (uint32_t)gap + 1;
    r->left = left;
    return rc;
}

/* Read the run in spool[at, end) through a buffer of `room` bytes. Return 0, EK_ENOMEM or EK_EIO.
 * Release it in any case. */
static int run_reader_begin(struct ek_run_reader *r, struct ek_spill_file *spool, uint64_t at,
                            uint64_t end, size_t room, struct ek_error *e)
{
    *r = (struct ek_run_reader){
        .spool = spool, .at = at, .end = end, .room = room, .term = UINT32_MAX};
    r->buffer = ek_realloc(NULL, room, 1);
    return r->buffer ? next_term(r, e) : ek_fail(e, EK_ENOMEM, "out of memory");
}

static void run_reader_release(struct ek_run_reader *r)
{
    ek_free(r->buffer);
    r->buffer = NULL;
}

/* Append the places of the current term to `out` and advance to the next term. Return 0, EK_EIO or
 * EK_ENOMEM. */
static int run_reader_copy_postings(struct ek_run_reader *r, struct ek_postings_writer *out,
                                    struct ek_error *e)
{
    uint32_t document = UINT32_MAX, position = UINT32_MAX;
    uint8_t field = EK_FIELD_BODY;
    int rc = EK_OK;
    while (r->left && !rc) {
        uint64_t gap, skip = 0;
        rc = get(r, &gap, e);
        if (!rc && gap & EK_PLACE_DOCUMENT) {
            rc = get(r, &skip, e);
            document += (uint32_t)skip + 1;
            position = UINT32_MAX;
            if (!rc && postings_writer_document(out, document))
                rc = ek_fail(e, EK_ENOMEM, "out of memory");
        }
        if (!rc && gap & EK_PLACE_FIELD)
            rc = get_byte(r, &field, e);
        position += (uint32_t)(gap >> EK_PLACE_BITS) + 1;
        if (!rc && postings_writer_position(out, (enum ek_field)field, position))
            rc = ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return rc ? rc : next_term(r, e);
}

/* Merge of runs into postings. Runs are in document order, so the postings of a term are the
 * concatenation of its runs. */

enum { TERMS_BETWEEN = 4096 };

struct merge {
    struct ek_build *build;
    struct ek_run_reader *runs;
    struct ek_postings_writer out;
    struct ek_error *error;
};

static int begin(struct merge *m)
{
    struct ek_build *b = m->build;
    uint64_t kept = ek_build_resident_bytes(b),
             room = b->memory_bytes > kept ? b->memory_bytes - kept : 0;
    size_t each = (size_t)(room / 2 / (b->run_count ? b->run_count : 1));
    each = each < EK_RUN_BUFFER_MIN ? EK_RUN_BUFFER_MIN : each;
    each = each > EK_RUN_BUFFER_MAX ? EK_RUN_BUFFER_MAX : each;
    m->runs = ek_calloc(b->run_count, sizeof *m->runs);
    b->entry_at = ek_calloc((size_t)b->terms.count + 1, sizeof *b->entry_at);
    if (!m->runs || !b->entry_at)
        return ek_fail(m->error, EK_ENOMEM, "out of memory");
    int rc = EK_OK;
    for (uint32_t i = 0; i < b->run_count && !rc; i++)
        rc = run_reader_begin(m->runs + i, b->runs, b->run[i].at, b->run[i].end, each, m->error);
    return rc ? rc : ek_index_writer_begin(&b->out, EK_SECTION_POSTINGS, m->error);
}

static size_t write_counts(const struct ek_postings_writer *o, uint8_t *out)
{
    size_t n = 1;
    int fields = 0;
    out[0] = 0;
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++) {
        const struct ek_field_count *c = o->field + f;
        bool whole = f == EK_FIELD_DOCUMENT;
        if (!c->documents || (whole && fields < 2))
            continue; /* a single field has the same statistics */
        if (!whole)
            out[0] |= (uint8_t)(1 << f);
        fields++;
        n += ek_varint_write(out + n, c->documents - 1);
        n += ek_varint_write(out + n, c->tokens - c->documents);
        n += ek_varint_write(out + n, c->most - 1);
    }
    return n;
}

static int write_entry(struct merge *m, uint32_t term)
{
    struct ek_build *b = m->build;
    uint8_t entry[1 + (3 * EK_FIELDS_AND_DOCUMENT + 2) * EK_VARINT_BYTES_MAX];
    size_t n = write_counts(&m->out, entry);
    n += ek_varint_write(entry + n, ek_index_writer_length(&b->out));
    n += ek_varint_write(entry + n, m->out.bytes.length);
    b->entry_at[term] = b->entries.length;
    if (ek_buf_add(&b->entries, entry, n))
        return ek_fail(m->error, EK_ENOMEM, "out of memory");
    return ek_index_writer_add(&b->out, m->out.bytes.data, m->out.bytes.length, m->error);
}

static int merge_term(struct merge *m, uint32_t term)
{
    int rc = EK_OK;
    postings_writer_clear(&m->out);
    for (uint32_t i = 0; i < m->build->run_count && !rc; i++)
        if (m->runs[i].more && m->runs[i].term == term)
            rc = run_reader_copy_postings(m->runs + i, &m->out, m->error);
    if (!rc && postings_writer_end(&m->out))
        rc = ek_fail(m->error, EK_ENOMEM, "out of memory");
    return rc ? rc : write_entry(m, term);
}

int ek_build_merge(struct ek_build *b,
                   void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                   struct ek_error *e)
{
    struct merge m = {.build = b, .error = e};
    ek_run_writer_release(&b->gather);
    postings_writer_init(&m.out, b->lengths.data);
    int rc = begin(&m);
    for (uint32_t t = 0; t < b->terms.count && !rc; t++) {
        rc = merge_term(&m, t);
        if (progress && t % TERMS_BETWEEN == 0)
            progress(context, t, b->terms.count);
    }
    if (!rc)
        b->entry_at[b->terms.count] = b->entries.length;
    ek_index_writer_end(&b->out);
    for (uint32_t i = 0; m.runs && i < b->run_count; i++)
        run_reader_release(m.runs + i);
    ek_free(m.runs);
    postings_writer_release(&m.out);
    return rc;
}
