/* Bag-of-words retrieval models: one score of a query and a text.
 *
 * A text is one field of a document, or all of it; the collection is that field of all documents. N
 * is the number of documents with the field, avg their mean length, C their tokens. tf, df and cf
 * are a term's counts in the text, of documents and in the collection. A score is the sum over the
 * query's terms, with repetitions.
 *
 * NaN: the score of an empty text or query, and of a language model if the collection has none of
 * the terms. Other unknown terms add nothing. Thread-safe.
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

/* Return the name, formula and source of a model; a static row. */
const struct ek_feature_kind *ek_unigram_kind(enum ek_unigram m);

enum { EK_BM25S = 3 }; /* number of BM25 models, which are first */

struct ek_unigram_parameters {
    struct {
        double k1, b;
    } bm25[EK_BM25S];
    double c; /* length normalization of be, dfr, pl2 */
};

/* Return the usual parameters of all models. */
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

/* Return the score of one occurrence of a term in the query. The text must have tokens, and the
 * collection the term. */
double ek_unigram_term(enum ek_unigram m, const struct ek_unigram_parameters *p,
                       const struct ek_text_field *f, const struct ek_text_term *t);

/* Return the sum of ek_unigram_term over the query's terms t [terms]. NaN for an empty text or
 * query, and for a language model if the collection has none of the terms. */
double ek_unigram_score(enum ek_unigram m, const struct ek_unigram_parameters *p,
                        const struct ek_text_field *f, const struct ek_text_term *t, size_t terms);

#endif
