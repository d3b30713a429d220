/* Dictionary writer: terms in byte order. */
#include "base/alloc.h"
#include "base/portable.h"
#include "text/index/build_internal.h"
#include "text/index/varint.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b, void *context)
{
    const struct ek_lexicon *names = context;
    size_t m, n;
    const char *p = ek_lexicon_text(names, *(const uint32_t *)a, &m);
    const char *q = ek_lexicon_text(names, *(const uint32_t *)b, &n);
    int order = memcmp(p, q, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

static int write_ranks(struct ek_build *b, const uint32_t *order, struct ek_error *e)
{
    uint32_t count = b->terms.count;
    uint32_t *ranks = ek_calloc(count, sizeof *ranks);
    if (!ranks)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        ranks[order[i]] = i;
    int rc = ek_index_writer_begin(&b->out, EK_SECTION_RANKS, e);
    if (!rc)
        rc = ek_index_writer_add(&b->out, ranks, count * sizeof *ranks, e);
    ek_index_writer_end(&b->out);
    ek_free(ranks);
    return rc;
}

static int write_entry(struct ek_build *b, uint32_t term, struct ek_error *e)
{
    uint8_t head[EK_VARINT_BYTES_MAX];
    size_t length;
    const char *text = ek_lexicon_text(&b->terms, term, &length);
    int rc = ek_index_writer_add(&b->out, head, ek_varint_write(head, length), e);
    if (!rc)
        rc = ek_index_writer_add(&b->out, text, length, e);
    return rc ? rc
              : ek_index_writer_add(&b->out, b->entries.data + b->entry_at[term],
                                    (size_t)(b->entry_at[term + 1] - b->entry_at[term]), e);
}

static int write_terms(struct ek_build *b, const uint32_t *order, uint64_t *at, struct ek_error *e)
{
    int rc = ek_index_writer_begin(&b->out, EK_SECTION_TERMS, e);
    for (uint32_t i = 0; i < b->terms.count && !rc; i++) {
        at[i] = ek_index_writer_length(&b->out);
        rc = write_entry(b, order[i], e);
    }
    at[b->terms.count] = ek_index_writer_length(&b->out);
    ek_index_writer_end(&b->out);
    if (!rc)
        rc = ek_index_writer_begin(&b->out, EK_SECTION_TERM_AT, e);
    if (!rc)
        rc = ek_index_writer_add(&b->out, at, ((size_t)b->terms.count + 1) * sizeof *at, e);
    ek_index_writer_end(&b->out);
    return rc;
}

int ek_build_dictionary(struct ek_build *b, struct ek_error *e)
{
    uint32_t count = b->terms.count;
    uint32_t *order = ek_calloc(count, sizeof *order);
    uint64_t *at = ek_calloc((size_t)count + 1, sizeof *at);
    int rc = order && at ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        ek_sort_with(order, count, sizeof *order, by_bytes, &b->terms);
        b->out.footer.terms = count;
        rc = write_ranks(b, order, e);
    }
    if (!rc)
        rc = write_terms(b, order, at, e);
    ek_free(order);
    ek_free(at);
    return rc;
}
