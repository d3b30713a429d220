/* Retrieval models that take a query as a bag of terms: one score of a query and a text.
 *
 * A text is one field of a document, or all of it; the collection is then that field of all
 * documents. N is the number of documents that have the field, avg their mean length, C their
 * tokens; tf, df and cf are a term's counts in the text, of documents, in the collection.
 * A score is the sum over the query's terms, each as often as it is there.
 * NaN: the score of a text without tokens, or of a query without terms; a language model's where
 * the collection has none of the terms. A term that the collection does not have adds nothing.
 * Pure; any thread.
 */
#ifndef EK_TEXT_FEATURES_UNIGRAM_H
#define EK_TEXT_FEATURES_UNIGRAM_H

#include "text/features/feature_kind.h"

#include <stddef.h>
#include <stdint.h>

enum ek_unigram {
    EK_BM25_ATIRE,
    EK_BM25_TREC3,
    EK_BM25_TREC3_KMAX,
    EK_LMDS_1000,
    EK_LMDS_1500,
    EK_LMDS_2500,
    EK_TFIDF,
    EK_PROB,
    EK_BE,
    EK_DPH,
    EK_DFR,
    EK_PL2,
    EK_LMJM_10,
    EK_LMJM_70,
    EK_UNIGRAMS
};

const struct ek_feature_kind *ek_unigram_kind(enum ek_unigram m);

enum { EK_BM25S = 3 }; /* the first so many of the models */

struct ek_unigram_parameters {
    struct {
        double k1, b;
    } bm25[EK_BM25S];
    double c; /* of the length in be, dfr, pl2 */
};

struct ek_unigram_parameters ek_unigram_defaults(void);

struct ek_text_field {
    double documents, tokens; /* N, C */
    double length;            /* of this text */
};

struct ek_text_term {
    uint32_t count; /* in the query */
    uint32_t tf, df;
    uint64_t cf;
};

/* What one occurrence of a term in the query adds; the text has tokens, and the collection the
 * term. */
double ek_unigram_term(enum ek_unigram m, const struct ek_unigram_parameters *p,
                       const struct ek_text_field *f, const struct ek_text_term *t);

double ek_unigram_score(enum ek_unigram m, const struct ek_unigram_parameters *p,
                        const struct ek_text_field *f, const struct ek_text_term *t, size_t terms);

#endif
