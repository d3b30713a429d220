#include "text/features/features_internal.h"

#include "base/alloc.h"

#include <math.h>

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
    const char *text = ek_query_terms_text(&f->q, t, &length);
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

int ek_features_for_query(struct ek_text_features *f, struct ek_error *e)
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
