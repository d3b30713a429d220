/* How a term's scores are spread over the documents that have it, and that over a query's terms:
 * features of the query that tell how much its terms can tell documents apart.
 *
 * A "term" may also be a pair of neighbours in the query, whose count in a document is that of
 * their windows of 8 tokens. Texts are whole documents. NaN: of a term that no document has; the
 * harmonic mean of scores that are not all of one sign; a query without known terms.
 * Pure but for `scratch`; any thread.
 */
#ifndef EK_TEXT_FEATURES_TERM_SCORES_H
#define EK_TEXT_FEATURES_TERM_SCORES_H

#include "text/features/unigram.h"

enum { EK_SPREAD_MODELS = 7, EK_SPREAD_STATS = 8, EK_SPREAD_FIGURES = 20 };

struct ek_term_scores {
    double documents; /* df */
    double tf_gmean;
    double stat[EK_SPREAD_MODELS][EK_SPREAD_STATS];
};

/* The documents of one term. */
struct ek_term_documents {
    const uint32_t *tf, *length; /* [n] */
    size_t n;
    uint64_t cf;
};

/* scratch [n]. `f`: of the collection, its length is not looked at. */
void ek_term_scores_compute(const struct ek_unigram_parameters *p, const struct ek_text_field *f,
                            const struct ek_term_documents *d, double *scratch,
                            struct ek_term_scores *out);

/* Known terms; mean, min and max of df and of tf_gmean; EK_SPREAD_FIGURES per model. */
enum { EK_TERM_STATISTICS = 1 + 3 + 3 + EK_SPREAD_MODELS * EK_SPREAD_FIGURES };
/* scratch [n]. */
void ek_term_statistics_list(const struct ek_term_scores *const *s, size_t n, double *scratch,
                             double out[EK_TERM_STATISTICS]);

/* "bm25_atire_q1_min", and what that is; `what`: "terms" or "pairs". */
void ek_term_statistic_name(int figure, const char *what, char *name, size_t size);
void ek_term_statistic_formula(int figure, const char *what, char *text, size_t size);

#endif
