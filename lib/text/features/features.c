#include "text/features/features_internal.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

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
    ek_query_terms_init(&f->q);
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
    ek_query_terms_release(&f->q);
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
    int rc = ek_query_terms_read(&f->q, f->words, f->x, text, length, e);
    return rc ? rc : ek_features_for_query(f, e);
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
        rc = ek_features_for_document(f, e);
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
