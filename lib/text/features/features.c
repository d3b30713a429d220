#include "text/features/features.h"

#include "base/alloc.h"
#include "text/features/document_features.h"
#include "text/features/postings_scan.h"
#include "text/features/proximity.h"
#include "text/features/query_features.h"
#include "text/features/stop_words.h"
#include "text/features/term_scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Query as index terms: distinct terms, their counts and adjacent pairs.
 *
 * Unknown terms are kept with number EK_NO_TERM; equal letters are one term. Pairs have two
 * different adjacent terms, each ordered pair once.
 */
struct ek_query_terms {
    uint32_t terms, pairs;
    uint32_t number[EK_QUERY_TOKENS_MAX]; /* in the index, or EK_NO_TERM */
    uint32_t count[EK_QUERY_TOKENS_MAX];
    uint32_t first[EK_QUERY_TOKENS_MAX], second[EK_QUERY_TOKENS_MAX]; /* [pairs] indexes of terms */
    /* Known terms by ascending number, with their index in the query. */
    uint32_t known;
    struct ek_known_term {
        uint32_t number, term;
    } sorted[EK_QUERY_TOKENS_MAX];
    struct ek_buf letters; /* of all terms, concatenated */
    size_t letters_end[EK_QUERY_TOKENS_MAX];
};

struct reading {
    struct ek_query_terms *q;
    const struct ek_index *x;
    struct ek_error *e;
    uint32_t tokens, last;
    bool has_message; /* the error message is set */
};

/* Initialize an empty query, without allocating. Release it with query_terms_release. */
static void query_terms_init(struct ek_query_terms *q)
{
    q->terms = q->pairs = q->known = 0;
    ek_buf_init(&q->letters, 0);
}

static void query_terms_release(struct ek_query_terms *q)
{
    ek_buf_release(&q->letters);
}

static size_t begin_of(const struct ek_query_terms *q, uint32_t t)
{
    return t ? q->letters_end[t - 1] : 0;
}

/* Return the letters of term t, not terminated, and set *length; valid until the next read. */
static const char *query_terms_text(const struct ek_query_terms *q, uint32_t t, size_t *length)
{
    size_t begin = begin_of(q, t);
    *length = q->letters_end[t] - begin;
    return (const char *)q->letters.data + begin;
}

static uint32_t same_term(const struct ek_query_terms *q, const char *term, size_t length)
{
    uint32_t t = 0;
    for (size_t n; t < q->terms; t++) {
        const char *text = query_terms_text(q, t, &n);
        if (n == length && !memcmp(text, term, n))
            break;
    }
    return t;
}

static void add_pair(struct ek_query_terms *q, uint32_t a, uint32_t b)
{
    if (a == b)
        return;
    for (uint32_t p = 0; p < q->pairs; p++)
        if (q->first[p] == a && q->second[p] == b)
            return;
    q->first[q->pairs] = a;
    q->second[q->pairs++] = b;
}

static int add_term(void *context, const char *term, size_t length)
{
    struct reading *r = context;
    struct ek_query_terms *q = r->q;
    if (r->tokens == EK_QUERY_TOKENS_MAX) {
        r->has_message = true;
        return ek_fail(r->e, EK_ELIMIT, "a query has at most %d terms", EK_QUERY_TOKENS_MAX);
    }
    uint32_t t = same_term(q, term, length);
    if (t == q->terms) {
        int rc = ek_buf_add(&q->letters, term, length);
        if (rc)
            return rc;
        q->letters_end[t] = q->letters.length;
        q->number[t] = ek_index_find(r->x, term, length);
        q->count[t] = 0;
        q->terms++;
    }
    q->count[t]++;
    if (r->tokens)
        add_pair(q, r->last, t);
    r->last = t;
    r->tokens++;
    return EK_OK;
}

static int by_term_number(const void *a, const void *b)
{
    uint32_t x = ((const struct ek_known_term *)a)->number;
    uint32_t y = ((const struct ek_known_term *)b)->number;
    return (x > y) - (x < y);
}

static void sort_known(struct ek_query_terms *q)
{
    for (uint32_t t = 0; t < q->terms; t++)
        if (q->number[t] != EK_NO_TERM)
            q->sorted[q->known++] = (struct ek_known_term){q->number[t], t};
    qsort(q->sorted, q->known, sizeof *q->sorted, by_term_number);
}

/* Replace *q by the terms of a text, tokenized by `w`, with their numbers in `x`. Return 0,
 * EK_ELIMIT for more than EK_QUERY_TOKENS_MAX terms, or EK_ENOMEM; on error the query is empty. */
static int query_terms_read(struct ek_query_terms *q, struct ek_words *w, const struct ek_index *x,
                            const char *text, size_t length, struct ek_error *e)
{
    struct reading r = {.q = q, .x = x, .e = e};
    q->terms = q->pairs = q->known = 0;
    ek_buf_clear(&q->letters);
    int rc = ek_words_each(w, text, length, add_term, &r);
    if (rc)
        q->terms = q->pairs = 0;
    sort_known(q);
    return rc && !r.has_message ? ek_fail(e, (enum ek_code)rc, "out of memory") : rc;
}

/* Return the index of the query term with this number, or -1. */
static int query_terms_find(const struct ek_query_terms *q, uint32_t number)
{
    uint32_t low = 0, high = q->known;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (q->sorted[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < q->known && q->sorted[low].number == number ? (int)q->sorted[low].term : -1;
}

enum { EK_NEAR_TOKENS = 8 };

/* Values of a document by family. Families that the selection does not need are not computed. */
struct ek_document_values {
    double stream[EK_FIELDS_AND_DOCUMENT][EK_STREAMS];
    double proximity[EK_FIELDS_AND_DOCUMENT][EK_PROXIMITIES];
    double fixed[EK_DOCUMENT_FEATURES];
    double stage0;
};

/* Values of a query by family. */
struct ek_query_values {
    double query[EK_QUERY_KINDS];
    double idf[EK_FIELDS_AND_DOCUMENT][EK_SPREADS];
    double terms[EK_TERM_STATISTICS], pairs[EK_TERM_STATISTICS];
};

/* Parts that the selection needs. */
struct ek_feature_needs {
    bool stream[EK_FIELDS_AND_DOCUMENT], proximity[EK_FIELDS_AND_DOCUMENT];
    bool fixed, query, scope, idf, terms, pairs, pair_counts;
};

struct ek_text_features {
    const struct ek_index *x;
    const struct ek_feature_choice *c;
    struct ek_feature_needs needs;
    struct ek_words *words;
    struct ek_postings_scan *scan;
    struct ek_stop_words stops;
    uint32_t stop[EK_STOPS_MAX]; /* [known_stops] ascending numbers of the stop words in the
                                  * index */
    size_t known_stops;
    uint8_t *letters; /* [terms of the index] letters of a term, 0: not yet counted */

    struct ek_query_terms q;
    struct ek_text_field field[EK_FIELDS_AND_DOCUMENT];
    struct ek_text_term term[EK_FIELDS_AND_DOCUMENT][EK_QUERY_TOKENS_MAX];
    struct ek_pair_counts pair[EK_QUERY_TOKENS_MAX];
    double weight[EK_QUERY_TOKENS_MAX]; /* ln(N / df), 0 for an unknown term */
    struct ek_term_scores *scores;      /* [EK_QUERY_TOKENS_MAX] */
    double *square;                     /* [terms * terms + terms] */
    size_t squares;
    struct ek_query_values of_query;

    struct ek_document d;
    struct ek_place_of_term *at; /* [n] positions of query terms in the document */
    uint32_t *sorted;            /* [places] */
    size_t places, n;
    struct ek_document_values of_document;
};

static void fill_field(struct ek_text_features *f, enum ek_field field)
{
    struct ek_field_statistics s = ek_index_field(f->x, field);
    f->field[field] = (struct ek_text_field){s.documents, (double)s.tokens, 0};
    for (uint32_t t = 0; t < f->q.terms; t++) {
        struct ek_term_statistics of = {0};
        if (f->q.number[t] != EK_NO_TERM)
            of = ek_index_statistics(f->x, f->q.number[t], field);
        f->term[field][t] =
            (struct ek_text_term){.count = f->q.count[t], .df = of.documents, .cf = of.tokens};
    }
}

/* Compare letters, because a term of no document has no number. */
static bool is_stop(const struct ek_text_features *f, uint32_t t)
{
    size_t length;
    const char *text = query_terms_text(&f->q, t, &length);
    return ek_stop_words_has(&f->stops, text, length);
}

/* Computed on demand, because it scans all postings of the terms. */
static int count_reached(struct ek_text_features *f, double *reached, struct ek_error *e)
{
    uint32_t known[EK_QUERY_TOKENS_MAX], documents = 0;
    for (uint32_t i = 0; i < f->q.known; i++)
        known[i] = f->q.sorted[i].number;
    *reached = NAN;
    if (!f->needs.scope)
        return EK_OK;
    int rc = ek_postings_scan_reached(f->scan, known, f->q.known, &documents, e);
    *reached = documents;
    return rc;
}

static int query_values(struct ek_text_features *f, struct ek_error *e)
{
    bool stop[EK_QUERY_TOKENS_MAX];
    double scratch[EK_QUERY_TOKENS_MAX], reached;
    const struct ek_text_field *all = &f->field[EK_FIELD_DOCUMENT];
    int rc = count_reached(f, &reached, e);
    if (rc)
        return rc;
    for (uint32_t t = 0; t < f->q.terms; t++)
        stop[t] = is_stop(f, t);
    struct ek_query_numbers n = {
        f->term[EK_FIELD_DOCUMENT], stop, f->q.terms, all->documents, all->tokens, reached};
    ek_query_features(&n, scratch, f->of_query.query);
    return EK_OK;
}

static int term_values(struct ek_text_features *f, struct ek_error *e)
{
    const struct ek_term_scores *s[EK_QUERY_TOKENS_MAX];
    double scratch[EK_QUERY_TOKENS_MAX];
    for (uint32_t i = 0; i < f->q.known; i++) {
        int rc = ek_postings_scan_scores(f->scan, f->q.sorted[i].number, &f->scores[i], e);
        if (rc)
            return rc;
        s[i] = &f->scores[i];
    }
    ek_term_statistics_list(s, f->q.known, scratch, f->of_query.terms);
    return EK_OK;
}

/* A pair with an unknown term has no occurrences. */
static int pair_values(struct ek_text_features *f, struct ek_error *e)
{
    const struct ek_term_scores *s[EK_QUERY_TOKENS_MAX];
    double scratch[EK_QUERY_TOKENS_MAX];
    size_t known = 0;
    for (uint32_t p = 0; p < f->q.pairs; p++) {
        uint32_t a = f->q.number[f->q.first[p]], b = f->q.number[f->q.second[p]];
        struct ek_term_scores *to = f->needs.pairs ? &f->scores[known] : NULL;
        f->pair[p] = (struct ek_pair_counts){0};
        if (a == EK_NO_TERM || b == EK_NO_TERM)
            continue;
        int rc = ek_postings_scan_pair(f->scan, a, b, &f->pair[p], to, e);
        if (rc)
            return rc;
        if (to && to->documents > 0)
            s[known++] = to;
    }
    ek_term_statistics_list(s, known, scratch, f->of_query.pairs);
    return EK_OK;
}

static int grow_square(struct ek_text_features *f, struct ek_error *e)
{
    size_t desired = (size_t)f->q.terms * f->q.terms + f->q.terms;
    if (desired <= f->squares)
        return EK_OK;
    double *square = ek_realloc(f->square, desired, sizeof *square);
    if (!square)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    f->square = square;
    f->squares = desired;
    return EK_OK;
}

static void weigh(struct ek_text_features *f)
{
    double n = f->field[EK_FIELD_DOCUMENT].documents;
    for (uint32_t t = 0; t < f->q.terms; t++) {
        uint32_t df = f->term[EK_FIELD_DOCUMENT][t].df;
        f->weight[t] = df ? log(n / df) : 0;
    }
}

/* Compute the values of f->q that are the same for all documents. Return 0, EK_ENOMEM, or
 * EK_EFORMAT for a damaged index. */
static int features_for_query(struct ek_text_features *f, struct ek_error *e)
{
    double scratch[EK_QUERY_TOKENS_MAX];
    int rc = grow_square(f, e);
    for (int field = 0; field < EK_FIELDS_AND_DOCUMENT; field++) {
        fill_field(f, (enum ek_field)field);
        if (f->needs.idf)
            ek_tf_feature_idf(&f->field[field], f->term[field], f->q.terms, scratch,
                              f->of_query.idf[field]);
    }
    weigh(f);
    if (!rc && f->needs.query)
        rc = query_values(f, e);
    if (!rc && f->needs.terms)
        rc = term_values(f, e);
    if (!rc && f->needs.pair_counts)
        rc = pair_values(f, e);
    return rc;
}

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
        int t = query_terms_find(&f->q, term[i]);
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

/* Compute f->of_document and the terms' tf per field from f->d. Return 0 or EK_ENOMEM. */
static int features_for_document(struct ek_text_features *f, struct ek_error *e)
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

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int read_stops(struct ek_text_features *f, struct ek_error *e)
{
    if (ek_stop_words_read(&f->stops, f->words))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0, length; i < f->stops.count; i++) {
        const char *text = ek_stop_words_text(&f->stops, i, &length);
        uint32_t number = ek_index_find(f->x, text, length);
        if (number != EK_NO_TERM)
            f->stop[f->known_stops++] = number;
    }
    qsort(f->stop, f->known_stops, sizeof *f->stop, by_number);
    return EK_OK;
}

static void find_needs(struct ek_feature_needs *n, const struct ek_feature_choice *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct ek_text_feature *x = c->feature[i];
        if (x->family == EK_FAMILY_STREAM)
            n->stream[x->field] = true;
        if (x->family == EK_FAMILY_PROXIMITY)
            n->proximity[x->field] = true;
    }
    n->fixed = c->needs[EK_FAMILY_STATIC];
    n->query = c->needs[EK_FAMILY_QUERY];
    n->scope = ek_feature_choice_has(c, EK_FAMILY_QUERY, EK_QUERY_SCOPE);
    n->idf = c->needs[EK_FAMILY_IDF];
    n->terms = c->needs[EK_FAMILY_TERMS];
    n->pairs = c->needs[EK_FAMILY_PAIRS];
    n->pair_counts = n->pairs || ek_feature_choice_has(c, EK_FAMILY_PROXIMITY, EK_SDM) ||
                     ek_feature_choice_has(c, EK_FAMILY_PROXIMITY, EK_BM25_UW8);
}

int ek_text_features_new(struct ek_text_features **out, const struct ek_index *x,
                         const struct ek_feature_choice *c, struct ek_error *e)
{
    struct ek_text_features *f = ek_calloc(1, sizeof *f);
    if (!f)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    f->x = x;
    f->c = c;
    find_needs(&f->needs, c);
    query_terms_init(&f->q);
    ek_document_init(&f->d);
    f->scores = ek_calloc(EK_QUERY_TOKENS_MAX, sizeof *f->scores);
    f->letters = ek_calloc(ek_index_terms(x), sizeof *f->letters);
    int rc = f->scores && f->letters ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = ek_words_new(&f->words, ek_index_stemmer(x), e);
    if (!rc)
        rc = ek_postings_scan_new(&f->scan, x, &c->unigram, e);
    if (!rc)
        rc = read_stops(f, e);
    if (rc)
        ek_text_features_free(f);
    else
        *out = f;
    return rc;
}

void ek_text_features_free(struct ek_text_features *f)
{
    if (!f)
        return;
    query_terms_release(&f->q);
    ek_document_release(&f->d);
    ek_postings_scan_free(f->scan);
    ek_words_free(f->words);
    ek_stop_words_release(&f->stops);
    ek_free(f->scores);
    ek_free(f->letters);
    ek_free(f->square);
    ek_free(f->at);
    ek_free(f->sorted);
    ek_free(f);
}

int ek_text_features_query(struct ek_text_features *f, const char *text, size_t length,
                           struct ek_error *e)
{
    int rc = query_terms_read(&f->q, f->words, f->x, text, length, e);
    return rc ? rc : features_for_query(f, e);
}

uint32_t ek_text_features_terms(const struct ek_text_features *f, uint32_t *terms, uint32_t room)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < f->q.terms; t++)
        for (uint32_t i = 0; i < f->q.count[t] && n < room; i++)
            if (f->q.number[t] != EK_NO_TERM)
                terms[n++] = f->q.number[t];
    return n;
}

static double value_of(const struct ek_text_features *f, const struct ek_text_feature *x)
{
    int k = x->kind;
    switch (x->family) {
    case EK_FAMILY_UNIGRAM:
        return ek_unigram_score((enum ek_unigram)k, &f->c->unigram, &f->field[x->field],
                                f->term[x->field], f->q.terms);
    case EK_FAMILY_STREAM:
        return f->of_document.stream[x->field][k];
    case EK_FAMILY_PROXIMITY:
        return f->of_document.proximity[x->field][k];
    case EK_FAMILY_RUN:
        return f->of_document.stage0;
    case EK_FAMILY_STATIC:
        return f->of_document.fixed[k];
    case EK_FAMILY_QUERY:
        return f->of_query.query[k];
    case EK_FAMILY_IDF:
        return f->of_query.idf[x->field][k];
    case EK_FAMILY_TERMS:
        return f->of_query.terms[k];
    default:
        return f->of_query.pairs[k];
    }
}

int ek_text_features_document(struct ek_text_features *f, uint32_t number, double stage0, float *x,
                              struct ek_error *e)
{
    int rc = ek_index_read(f->x, number, &f->d, e);
    if (!rc)
        rc = features_for_document(f, e);
    if (rc)
        return rc;
    f->of_document.stage0 = stage0;
    for (size_t i = 0; i < f->c->count; i++) {
        float value = (float)value_of(f, f->c->feature[i]);
        x[i] = isfinite(value) ? value : NAN;
    }
    return EK_OK;
}

const char *ek_text_features_id(const struct ek_text_features *f, size_t *length)
{
    *length = f->d.id_length;
    return f->d.id;
}
