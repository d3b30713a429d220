#include "daemon/tools/extract/extract_candidates.h"

#include "base/alloc.h"
#include "daemon/tools/extract/trec_pairs.h"
#include "text/features/query_terms.h"
#include "text/features/retrieve.h"

#include <string.h>

struct ek_extract_candidates {
    const struct ek_index *x;
    struct ek_trec_pairs *run; /* or */
    struct ek_retrieve *best;
    struct ek_hit *hits; /* [top] */
    uint32_t top;
    struct ek_candidate *at; /* [room] */
    size_t room;
};

static int grow(struct ek_extract_candidates *c, size_t n, struct ek_error *e)
{
    if (n <= c->room)
        return EK_OK;
    struct ek_candidate *at = ek_realloc(c->at, n, sizeof *at);
    if (!at)
        return ek_fail(e, EK_ENOMEM, "no memory for candidates");
    c->at = at;
    c->room = n;
    return EK_OK;
}

static int open_best(struct ek_extract_candidates *c, struct ek_error *e)
{
    int rc = ek_retrieve_new(&c->best, c->x, EK_BM25_USUAL, e);
    if (rc)
        return rc;
    c->hits = ek_calloc(c->top, sizeof *c->hits);
    return c->hits ? grow(c, c->top, e) : ek_fail(e, EK_ENOMEM, "no memory for candidates");
}

int ek_extract_candidates_new(struct ek_extract_candidates **out, const struct ek_index *x,
                              const char *path, uint32_t top, struct ek_error *e)
{
    struct ek_extract_candidates *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "no memory for candidates");
    c->x = x;
    c->top = top < ek_index_documents(x) ? top : ek_index_documents(x);
    int rc = path ? ek_trec_pairs_read(&c->run, path, EK_TREC_RUN, e) : open_best(c, e);
    if (rc)
        ek_extract_candidates_free(c);
    else
        *out = c;
    return rc;
}

void ek_extract_candidates_free(struct ek_extract_candidates *c)
{
    if (!c)
        return;
    ek_trec_pairs_free(c->run);
    ek_retrieve_free(c->best);
    ek_free(c->hits);
    ek_free(c->at);
    ek_free(c);
}

static int from_run(struct ek_extract_candidates *c, const char *query, size_t *n, size_t *unknown,
                    struct ek_error *e)
{
    size_t named;
    const struct ek_trec_pair *pair = ek_trec_pairs_of(c->run, query, &named);
    int rc = grow(c, named, e);
    *n = *unknown = 0;
    for (size_t i = 0; !rc && i < named; i++) {
        int64_t number = ek_index_document(c->x, pair[i].document, strlen(pair[i].document));
        if (number < 0)
            ++*unknown;
        else
            c->at[(*n)++] = (struct ek_candidate){(uint32_t)number, pair[i].number};
    }
    return rc;
}

static int from_index(struct ek_extract_candidates *c, const struct ek_text_features *f, size_t *n,
                      struct ek_error *e)
{
    uint32_t terms[EK_QUERY_TOKENS_MAX], found = 0;
    uint32_t count = ek_text_features_terms(f, terms, EK_QUERY_TOKENS_MAX);
    int rc = c->top ? ek_retrieve(c->best, terms, count, c->top, c->hits, &found, e) : EK_OK;
    for (uint32_t i = 0; !rc && i < found; i++)
        c->at[i] = (struct ek_candidate){c->hits[i].document, c->hits[i].score};
    *n = found;
    return rc;
}

int ek_extract_candidates_of(struct ek_extract_candidates *c, const char *query,
                             const struct ek_text_features *f, const struct ek_candidate **at,
                             size_t *n, size_t *unknown, struct ek_error *e)
{
    *unknown = 0;
    int rc = c->run ? from_run(c, query, n, unknown, e) : from_index(c, f, n, e);
    *at = c->at;
    return rc;
}
