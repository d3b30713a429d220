/* Merge of runs into postings. Runs are in document order, so the postings of a term are the
 * concatenation of its runs. */
#include "base/alloc.h"
#include "text/index/postings_writer.h"
#include "text/index/build_internal.h"
#include "text/index/run_reader.h"
#include "text/index/varint.h"

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
        rc = ek_run_reader_begin(m->runs + i, b->runs, b->run[i].at, b->run[i].end, each, m->error);
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
    ek_postings_writer_clear(&m->out);
    for (uint32_t i = 0; i < m->build->run_count && !rc; i++)
        if (m->runs[i].more && m->runs[i].term == term)
            rc = ek_run_reader_copy_postings(m->runs + i, &m->out, m->error);
    if (!rc && ek_postings_writer_end(&m->out))
        rc = ek_fail(m->error, EK_ENOMEM, "out of memory");
    return rc ? rc : write_entry(m, term);
}

int ek_build_merge(struct ek_build *b,
                   void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                   struct ek_error *e)
{
    struct merge m = {.build = b, .error = e};
    ek_run_writer_release(&b->gather);
    ek_postings_writer_init(&m.out, b->lengths.data);
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
        ek_run_reader_release(m.runs + i);
    ek_free(m.runs);
    ek_postings_writer_release(&m.out);
    return rc;
}
