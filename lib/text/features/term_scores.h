/* Statistics of a term's scores over its documents, and of those over a query's terms.
 *
 * A "term" may be a pair of adjacent query terms, counted by windows of 8 tokens. Texts are whole
 * documents. NaN: a term without documents, a query without known terms, and the harmonic mean of
 * scores with different signs. Thread-safe with separate `scratch`.
 */
#ifndef EK_TEXT_FEATURES_TERM_SCORES_H
#define EK_TEXT_FEATURES_TERM_SCORES_H

#include "text/features/feature_kind.h"
#include "text/features/unigram.h"

enum { EK_SPREAD_MODELS = 7, EK_SPREAD_STATS = 8, EK_SPREAD_FIGURES = 20 };

struct ek_term_scores {
    double documents; /* df */
    double tf_gmean;
    double stat[EK_SPREAD_MODELS][EK_SPREAD_STATS];
};

/* Documents of one term. */
struct ek_term_documents {
    const uint32_t *tf, *length; /* [n] */
    size_t n;
    uint64_t cf;
};

/* Set *out to the statistics of a term's scores. scratch [n]; `f` describes the collection, its
 * length is ignored. */
void ek_term_scores_compute(const struct ek_unigram_parameters *p, const struct ek_text_field *f,
                            const struct ek_term_documents *d, double *scratch,
                            struct ek_term_scores *out);

/* Number of known terms; mean, min and max of df and of tf_gmean; EK_SPREAD_FIGURES per model. */
enum { EK_TERM_STATISTICS = 1 + 3 + 3 + EK_SPREAD_MODELS * EK_SPREAD_FIGURES };
/* Set out [EK_TERM_STATISTICS] to the statistics over n terms with the scores s [n]. scratch [n].
 */
void ek_term_statistics_list(const struct ek_term_scores *const *s, size_t n, double *scratch,
                             double out[EK_TERM_STATISTICS]);

/* Write the name of statistic `figure` to `name`, such as "terms_bm25_atire_q1_min", cut to fit.
 * `what` is "terms" or "pairs". */
void ek_term_statistic_name(int figure, const char *what, char *name, size_t size);
/* Write the formula of statistic `figure` to `text`, cut to fit. `what` is "terms" or "pairs". */
void ek_term_statistic_formula(int figure, const char *what, char *text, size_t size);

/* Term frequency features of a text: statistics over the query's distinct terms.
 *
 * A term that is absent from the text or the collection counts as 0; absent from the collection, it
 * has no idf. For an empty text every value except the length, 0, is NaN; for an empty query
 * likewise. Thread-safe.
 */

enum { EK_SPREADS = 5 }; /* sum, min, max, mean, variance */
enum {
    EK_STREAM_LENGTH,
    EK_STREAM_TFN, /* EK_SPREADS each */
    EK_STREAM_TF = EK_STREAM_TFN + EK_SPREADS,
    EK_STREAM_TFIDF = EK_STREAM_TF + EK_SPREADS,
    EK_STREAM_MATCHED = EK_STREAM_TFIDF + EK_SPREADS,
    EK_STREAM_MATCHED_SHARE,
    EK_STREAMS
};
/* Return the name, formula and source of feature `kind`; a static row. */
const struct ek_feature_kind *ek_tf_feature_kind(int kind);
/* Set out [EK_STREAMS] to the features of a text for the query's terms t [terms]. scratch [terms].
 */
void ek_tf_features_compute(const struct ek_text_field *f, const struct ek_text_term *t,
                            size_t terms, double *scratch, double out[EK_STREAMS]);

/* Return the name, formula and source of idf statistic `kind`; a static row. */
const struct ek_feature_kind *ek_tf_feature_idf_kind(int kind);
/* Set out [EK_SPREADS] to the statistics of idf in a field, ln((N + 1) / (df + 0.5)), over the
 * terms that occur in it. They are equal for all documents. scratch [terms]. */
void ek_tf_feature_idf(const struct ek_text_field *f, const struct ek_text_term *t, size_t terms,
                       double *scratch, double out[EK_SPREADS]);

#endif
