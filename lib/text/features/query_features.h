/* Features of a query that need no retrieval: length and rarity of its terms.
 *
 * Statistics are of whole documents. A term absent from the collection counts only in the lengths.
 * Values that need known terms are NaN without any. Thread-safe with separate `scratch`.
 */
#ifndef EK_TEXT_FEATURES_QUERY_FEATURES_H
#define EK_TEXT_FEATURES_QUERY_FEATURES_H

#include "text/features/feature_kind.h"
#include "text/features/unigram.h"

#include <stdbool.h>

enum ek_query_kind {
    EK_QUERY_LENGTH,
    EK_QUERY_LENGTH_CONTENT,
    EK_QUERY_SCS,
    EK_QUERY_SCOPE,
    EK_QUERY_IDF_MEAN,
    EK_QUERY_IDF_MEAN_CONTENT,
    EK_QUERY_IDF_VARIANCE,
    EK_QUERY_IDF_DEVIATION,
    EK_QUERY_IDF_CONFIDENCE,
    EK_QUERY_GAMMA2,
    EK_QUERY_ICTF_MEAN,
    EK_QUERY_ICTF_MEAN_CONTENT,
    EK_QUERY_UNKNOWN,
    EK_QUERY_IDF_SUM,
    EK_QUERY_IDF_MIN,
    EK_QUERY_IDF_MAX,
    EK_QUERY_IDF_HARMONIC,
    EK_QUERY_IDF_GEOMETRIC,
    EK_QUERY_ICTF_SUM,
    EK_QUERY_ICTF_MIN,
    EK_QUERY_ICTF_MAX,
    EK_QUERY_ICTF_HARMONIC,
    EK_QUERY_ICTF_GEOMETRIC,
    EK_QUERY_CF_SUM,
    EK_QUERY_CF_MEAN,
    EK_QUERY_CF_MAX,
    EK_QUERY_CF_HARMONIC,
    EK_QUERY_CF_GEOMETRIC,
    EK_QUERY_SCQ_SUM,
    EK_QUERY_SCQ_MEAN,
    EK_QUERY_SCQ_MAX,
    EK_QUERY_KINDS
};

/* Return the name, formula and source of a feature kind; a static row. */
const struct ek_feature_kind *ek_query_kind(enum ek_query_kind k);

struct ek_query_numbers {
    const struct ek_text_term *term; /* [terms] distinct; tf is ignored */
    const bool *stop;                /* [terms] */
    size_t terms;
    double documents, tokens; /* N, C */
    double reached;           /* documents with any of the terms; NaN: not counted */
};

/* Set out [EK_QUERY_KINDS] to all query features. scratch [terms]. */
void ek_query_features(const struct ek_query_numbers *q, double *scratch,
                       double out[EK_QUERY_KINDS]);

#endif
