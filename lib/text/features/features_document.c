#include "text/features/features_internal.h"

#include "base/alloc.h"
#include "text/features/proximity.h"

#include <math.h>
#include <string.h>

struct stretch {
    const struct ek_place_of_term *at;
    size_t n;
};

static int grow(struct ek_text_features *f, size_t tokens, struct ek_error *e)
{
    if (tokens <= f->places)
        return EK_OK;
    struct ek_place_of_term *at = ek_realloc(f->at, tokens, sizeof *at);
    if (at)
        f->at = at;
    uint32_t *sorted = ek_realloc(f->sorted, tokens, sizeof *sorted);
    if (sorted)
        f->sorted = sorted;
    if (!at || !sorted)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    f->places = tokens;
    return EK_OK;
}

static void find_places(struct ek_text_features *f)
{
    const uint32_t *term = f->d.term[EK_FIELD_DOCUMENT];
    uint32_t length = f->d.length[EK_FIELD_DOCUMENT];
    f->n = 0;
    for (uint32_t i = 0; f->q.known && i < length; i++) {
        int t = ek_query_terms_find(&f->q, term[i]);
        if (t >= 0)
            f->at[f->n++] = (struct ek_place_of_term){i, (uint32_t)t};
    }
}

/* Fields are contiguous in the document. */
static struct stretch places_of(const struct ek_text_features *f, enum ek_field field)
{
    uint32_t begin = 0;
    size_t first = 0, end;
    if (field == EK_FIELD_DOCUMENT)
        return (struct stretch){f->at, f->n};
    for (int before = 0; before < (int)field; before++)
        begin += f->d.length[before];
    while (first < f->n && f->at[first].position < begin)
        first++;
    for (end = first; end < f->n && f->at[end].position < begin + f->d.length[field];)
        end++;
    return (struct stretch){f->at + first, end - first};
}

static void count_terms(struct ek_text_features *f, enum ek_field field)
{
    struct stretch s = places_of(f, field);
    f->field[field].length = f->d.length[field];
    for (uint32_t t = 0; t < f->q.terms; t++)
        f->term[field][t].tf = 0;
    for (size_t i = 0; i < s.n; i++)
        f->term[field][s.at[i].term].tf++;
}

/* Return BM25 with the query's pairs as terms. */
static double pairs_bm25(struct ek_text_features *f, struct stretch s)
{
    struct ek_text_term pair[EK_QUERY_TOKENS_MAX];
    for (uint32_t p = 0; p < f->q.pairs; p++) {
        uint32_t near =
            ek_unordered_pairs(s.at, s.n, f->q.first[p], f->q.second[p], EK_NEAR_TOKENS);
        pair[p] = (struct ek_text_term){1, near, f->pair[p].documents, f->pair[p].unordered};
    }
    return ek_unigram_score(EK_BM25_ATIRE, &f->c->unigram, &f->field[EK_FIELD_DOCUMENT], pair,
                            f->q.pairs);
}

static double sdm(struct ek_text_features *f, struct stretch s)
{
    struct ek_sdm_count term[EK_QUERY_TOKENS_MAX], ordered[EK_QUERY_TOKENS_MAX],
        unordered[EK_QUERY_TOKENS_MAX];
    const struct ek_text_field *all = &f->field[EK_FIELD_DOCUMENT];
    for (uint32_t t = 0; t < f->q.terms; t++) {
        const struct ek_text_term *of = &f->term[EK_FIELD_DOCUMENT][t];
        term[t] = (struct ek_sdm_count){of->tf, of->cf};
    }
    for (uint32_t p = 0; p < f->q.pairs; p++) {
        uint32_t a = f->q.first[p], b = f->q.second[p];
        ordered[p] = (struct ek_sdm_count){ek_ordered_pairs(s.at, s.n, a, b), f->pair[p].ordered};
        unordered[p] = (struct ek_sdm_count){ek_unordered_pairs(s.at, s.n, a, b, EK_NEAR_TOKENS),
                                             f->pair[p].unordered};
    }
    return ek_sdm_score(&f->c->sdm, all->length, all->tokens, term, f->q.terms, ordered, unordered,
                        f->q.pairs);
}

/* Compute the features of the whole document only, because pair statistics exist only there. */
static void whole_document(struct ek_text_features *f, struct stretch s, double *out)
{
    const struct ek_text_field *all = &f->field[EK_FIELD_DOCUMENT];
    const struct ek_unigram_parameters *p = &f->c->unigram;
    struct ek_proximity_norm norm = {p->bm25[EK_BM25_ATIRE].k1, p->bm25[EK_BM25_ATIRE].b,
                                     all->length * all->documents / all->tokens};
    out[EK_TP_SCORE] =
        ek_unigram_score(EK_BM25_ATIRE, p, all, f->term[EK_FIELD_DOCUMENT], f->q.terms) +
        ek_neighbor_score(s.at, s.n, f->weight, f->q.terms, &norm, f->square);
    out[EK_BM25_PAIRS_W100] = ek_pairs_score(s.at, s.n, f->weight, f->q.terms, &norm, f->square);
    out[EK_BM25_UW8] = f->needs.pair_counts ? pairs_bm25(f, s) : NAN;
    out[EK_SDM] = f->needs.pair_counts ? sdm(f, s) : NAN;
}

static void near_counts(struct ek_text_features *f, struct stretch s, double *out)
{
    out[EK_NEAR_OD1] = out[EK_NEAR_UW8] = 0;
    for (uint32_t p = 0; p < f->q.pairs; p++) {
        uint32_t a = f->q.first[p], b = f->q.second[p];
        out[EK_NEAR_OD1] += ek_ordered_pairs(s.at, s.n, a, b);
        out[EK_NEAR_UW8] += ek_unordered_pairs(s.at, s.n, a, b, EK_NEAR_TOKENS);
    }
}

/* Most values need two query terms and stay NaN otherwise. */
static void proximity(struct ek_text_features *f, enum ek_field field, double *out)
{
    struct stretch s = places_of(f, field);
    uint32_t *scratch = (uint32_t *)(void *)f->square;
    double matched = 0;
    for (int k = 0; k < EK_PROXIMITIES; k++)
        out[k] = NAN;
    if (!f->d.length[field] || !f->q.terms)
        return;
    if (field == EK_FIELD_DOCUMENT)
        whole_document(f, s, out);
    if (f->q.pairs)
        near_counts(f, s, out);
    for (uint32_t t = 0; t < f->q.terms; t++)
        matched += f->term[field][t].tf > 0;
    struct ek_distances d = ek_pair_distances(s.at, s.n, f->q.terms, scratch);
    out[EK_TP_COVER] = ek_cover_tokens(s.at, s.n, f->q.terms, scratch);
    out[EK_TP_COVER_SHARE] = matched / out[EK_TP_COVER];
    out[EK_TP_DISTANCE_MIN] = d.min;
    out[EK_TP_DISTANCE_MEAN] = d.mean;
    out[EK_TP_DISTANCE_MAX] = d.max;
    out[EK_TP_DECAY] = ek_distance_decay(d.min);
}

/* Return the letters of a term, at most EK_NAME_TEXT_BYTES_MAX. UTF-8 continuation bytes do not
 * count. */
static uint32_t letters(void *context, uint32_t term)
{
    struct ek_text_features *f = context;
    if (!f->letters[term]) {
        size_t length;
        const char *text = ek_index_term(f->x, term, &length);
        for (size_t i = 0; i < length; i++)
            f->letters[term] += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return f->letters[term];
}

static void fixed(struct ek_text_features *f)
{
    double *out = f->of_document.fixed;
    struct ek_document_terms w = {f->stop, f->known_stops, f->stops.count, letters, f};
    ek_document_features_url(f->d.url, f->d.url_length, out);
    ek_document_features_terms(&w, f->d.term[EK_FIELD_DOCUMENT], f->d.length[EK_FIELD_DOCUMENT],
                               f->d.length, f->sorted, out);
}

int ek_features_for_document(struct ek_text_features *f, struct ek_error *e)
{
    double scratch[EK_QUERY_TOKENS_MAX];
    int rc = grow(f, f->d.length[EK_FIELD_DOCUMENT], e);
    if (rc)
        return rc;
    find_places(f);
    for (int field = 0; field < EK_FIELDS_AND_DOCUMENT; field++) {
        count_terms(f, (enum ek_field)field);
        if (f->needs.stream[field])
            ek_tf_features_compute(&f->field[field], f->term[field], f->q.terms, scratch,
                                   f->of_document.stream[field]);
    }
    for (int field = 0; field < EK_FIELDS_AND_DOCUMENT; field++)
        if (f->needs.proximity[field])
            proximity(f, (enum ek_field)field, f->of_document.proximity[field]);
    if (f->needs.fixed)
        fixed(f);
    return EK_OK;
}
