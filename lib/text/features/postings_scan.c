#include "text/features/postings_scan.h"

#include "base/alloc.h"
#include "text/features/proximity.h"

#include <string.h>

enum { WINDOW = 8, FIRST_ROOM = 1024 };

struct kept {
    uint32_t term; /* number plus 1; 0: empty */
    struct ek_term_scores scores;
};

struct ek_postings_scan {
    const struct ek_index *x;
    const struct ek_unigram_parameters *p;
    struct ek_text_field collection;
    struct kept *kept; /* [EK_POSTINGS_SCANS_RETAINED] indexed by the low bits of the term */
    uint32_t *tf, *length;
    double *scratch; /* [room], like tf and length */
    size_t room, n;
    struct ek_place_of_term *at; /* [places] */
    size_t places;
};

int ek_postings_scan_new(struct ek_postings_scan **out, const struct ek_index *x,
                         const struct ek_unigram_parameters *p, struct ek_error *e)
{
    struct ek_postings_scan *s = ek_calloc(1, sizeof *s);
    if (s)
        s->kept = ek_calloc(EK_POSTINGS_SCANS_RETAINED, sizeof *s->kept);
    if (!s || !s->kept) {
        ek_postings_scan_free(s);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    struct ek_field_statistics all = ek_index_field(x, EK_FIELD_DOCUMENT);
    s->x = x;
    s->p = p;
    s->collection = (struct ek_text_field){all.documents, (double)all.tokens, 0};
    *out = s;
    return EK_OK;
}

void ek_postings_scan_free(struct ek_postings_scan *s)
{
    if (!s)
        return;
    ek_free(s->kept);
    ek_free(s->tf);
    ek_free(s->length);
    ek_free(s->scratch);
    ek_free(s->at);
    ek_free(s);
}

static int grow(struct ek_postings_scan *s, struct ek_error *e)
{
    size_t room = s->room ? 2 * s->room : FIRST_ROOM;
    uint32_t *tf = ek_realloc(s->tf, room, sizeof *tf);
    if (tf)
        s->tf = tf;
    uint32_t *length = ek_realloc(s->length, room, sizeof *length);
    if (length)
        s->length = length;
    double *scratch = ek_realloc(s->scratch, room, sizeof *scratch);
    if (scratch)
        s->scratch = scratch;
    if (!tf || !length || !scratch)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->room = room;
    return EK_OK;
}

static int add_document(struct ek_postings_scan *s, uint32_t document, uint32_t tf,
                        struct ek_error *e)
{
    int rc = s->n == s->room ? grow(s, e) : EK_OK;
    if (rc)
        return rc;
    s->tf[s->n] = tf;
    s->length[s->n++] = ek_index_length(s->x, document, EK_FIELD_DOCUMENT);
    return EK_OK;
}

static void score(struct ek_postings_scan *s, uint64_t cf, struct ek_term_scores *out)
{
    struct ek_term_documents d = {s->tf, s->length, s->n, cf};
    ek_term_scores_compute(s->p, &s->collection, &d, s->scratch, out);
}

static int scan_term(struct ek_postings_scan *s, uint32_t term, struct ek_error *e)
{
    struct ek_postings p;
    bool more = true;
    int rc = ek_postings_begin(&p, s->x, term, EK_FIELD_DOCUMENT, false, e);
    if (rc)
        return rc;
    s->n = 0;
    while (!(rc = ek_postings_next(&p, &more, e)) && more)
        if ((rc = add_document(s, p.document, p.count, e)))
            break;
    ek_postings_end(&p);
    return rc;
}

int ek_postings_scan_scores(struct ek_postings_scan *s, uint32_t term, struct ek_term_scores *out,
                            struct ek_error *e)
{
    struct kept *k = &s->kept[term % EK_POSTINGS_SCANS_RETAINED];
    if (k->term != term + 1) {
        int rc = scan_term(s, term, e);
        if (rc)
            return rc;
        score(s, ek_index_statistics(s->x, term, EK_FIELD_DOCUMENT).tokens, &k->scores);
        k->term = term + 1;
    }
    *out = k->scores;
    return EK_OK;
}

/* Merge the positions of both terms in one document, in order. First term: 0, second: 1. */
static int merge(struct ek_postings_scan *s, const struct ek_postings *a,
                 const struct ek_postings *b, struct ek_error *e)
{
    size_t n = (size_t)a->count + b->count, i = 0, j = 0;
    if (n > s->places) {
        struct ek_place_of_term *at = ek_realloc(s->at, 2 * n, sizeof *at);
        if (!at)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        s->at = at;
        s->places = 2 * n;
    }
    for (size_t k = 0; k < n; k++) {
        bool first = j == b->count || (i < a->count && a->position[i] < b->position[j]);
        s->at[k] = first ? (struct ek_place_of_term){a->position[i++], 0}
                         : (struct ek_place_of_term){b->position[j++], 1};
    }
    return EK_OK;
}

static int count_both(struct ek_postings_scan *s, const struct ek_postings *a,
                      const struct ek_postings *b, struct ek_pair_counts *out, struct ek_error *e)
{
    int rc = merge(s, a, b, e);
    if (rc)
        return rc;
    size_t n = (size_t)a->count + b->count;
    uint32_t near = ek_unordered_pairs(s->at, n, 0, 1, WINDOW);
    out->ordered += ek_ordered_pairs(s->at, n, 0, 1);
    out->unordered += near;
    out->documents += near > 0;
    return near ? add_document(s, a->document, near, e) : EK_OK;
}

/* Merge-join the postings of both terms. */
static int join(struct ek_postings_scan *s, struct ek_postings *a, struct ek_postings *b,
                struct ek_pair_counts *out, struct ek_error *e)
{
    bool more_a, more_b;
    int rc = ek_postings_next(a, &more_a, e);
    if (!rc)
        rc = ek_postings_next(b, &more_b, e);
    while (!rc && more_a && more_b) {
        uint32_t at_a = a->document, at_b = b->document;
        if (at_a == at_b)
            rc = count_both(s, a, b, out, e);
        if (!rc && at_a <= at_b)
            rc = ek_postings_next(a, &more_a, e);
        if (!rc && at_b <= at_a)
            rc = ek_postings_next(b, &more_b, e);
    }
    return rc;
}

int ek_postings_scan_pair(struct ek_postings_scan *s, uint32_t a, uint32_t b,
                          struct ek_pair_counts *out, struct ek_term_scores *scores,
                          struct ek_error *e)
{
    struct ek_postings first, second;
    struct ek_pair_counts counts = {0};
    int rc = ek_postings_begin(&first, s->x, a, EK_FIELD_DOCUMENT, true, e);
    if (rc)
        return rc;
    rc = ek_postings_begin(&second, s->x, b, EK_FIELD_DOCUMENT, true, e);
    if (!rc) {
        s->n = 0;
        rc = join(s, &first, &second, &counts, e);
        ek_postings_end(&second);
    }
    ek_postings_end(&first);
    if (rc)
        return rc;
    *out = counts;
    if (scores)
        score(s, counts.unordered, scores);
    return EK_OK;
}

static int mark_documents(struct ek_postings_scan *s, uint32_t term, uint8_t *seen,
                          uint32_t *documents, struct ek_error *e)
{
    struct ek_postings p;
    bool more = true;
    int rc = ek_postings_begin(&p, s->x, term, EK_FIELD_DOCUMENT, false, e);
    if (rc)
        return rc;
    while (!(rc = ek_postings_next(&p, &more, e)) && more) {
        uint8_t bit = (uint8_t)(1u << (p.document & 7));
        *documents += !(seen[p.document >> 3] & bit);
        seen[p.document >> 3] |= bit;
    }
    ek_postings_end(&p);
    return rc;
}

int ek_postings_scan_reached(struct ek_postings_scan *s, const uint32_t *term, size_t terms,
                             uint32_t *documents, struct ek_error *e)
{
    uint8_t *seen = ek_calloc((size_t)ek_index_documents(s->x) / 8 + 1, 1);
    uint32_t count = 0;
    if (!seen)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < terms; i++)
        rc = mark_documents(s, term[i], seen, &count, e);
    ek_free(seen);
    if (!rc)
        *documents = count;
    return rc;
}
