/* Term frequency features of a text: statistics over the query's distinct terms.
 *
 * A term that is absent from the text or the collection counts as 0; absent from the collection, it
 * has no idf. For an empty text every value except the length, 0, is NaN; for an empty query
 * likewise. Thread-safe.
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
