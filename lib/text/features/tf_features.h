/* How often, and how rarely for their collection, a text has the terms of a query; spread over the
 * query's distinct terms.
 *
 * A term that the text does not have counts with 0; one that the collection does not have likewise,
 * but has no idf. NaN: all of an empty text but its length, which is 0; all of a query without
 * terms. Pure; any thread.
 */
#ifndef EK_TEXT_FEATURES_TF_FEATURES_H
#define EK_TEXT_FEATURES_TF_FEATURES_H

#include "text/features/feature_kind.h"
#include "text/features/unigram.h"

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
const struct ek_feature_kind *ek_tf_feature_kind(int kind);
/* scratch [terms]. */
void ek_tf_features_compute(const struct ek_text_field *f, const struct ek_text_term *t,
                            size_t terms, double *scratch, double out[EK_STREAMS]);

/* idf in a field, ln((N + 1) / (df + 0.5)), of the terms that the field's collection has: the same
 * for all documents, so a feature of the query. */
const struct ek_feature_kind *ek_tf_feature_idf_kind(int kind);
void ek_tf_feature_idf(const struct ek_text_field *f, const struct ek_text_term *t, size_t terms,
                       double *scratch, double out[EK_SPREADS]);

#endif
