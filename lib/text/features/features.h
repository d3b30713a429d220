/* Facade over all families of query and document features of an index.
 *
 * Set a query first, then compute any number of documents. Values are in the order of the
 * selection. NaN is a missing value (feature_list.h, docs/text-features.md); no value is infinite.
 * Index and selection must outlive it. Not thread-safe.
 */
#ifndef EK_TEXT_FEATURES_FEATURES_H
#define EK_TEXT_FEATURES_FEATURES_H

#include "base/buf.h"
#include "text/features/feature_choice.h"
#include "text/index/index.h"
#include "text/index/words.h"

struct ek_text_features;

/* Create the features of an index. Index and selection must outlive it. Return 0, EK_ENOMEM, or
 * EK_EUSAGE for an index with an unsupported stemmer. */
int ek_text_features_new(struct ek_text_features **out, const struct ek_index *x,
                         const struct ek_feature_choice *c, struct ek_error *e);
void ek_text_features_free(struct ek_text_features *f);

/* Set the query, tokenized like the collection; `text` is not kept. Return 0, EK_ELIMIT for too
 * many terms, EK_ENOMEM, or EK_EFORMAT for a damaged index. After an error no document may be
 * computed. */
int ek_text_features_query(struct ek_text_features *f, const char *text, size_t length,
                           struct ek_error *e);

/* Copy the index numbers of the query's known terms, with repetitions, to terms [room]; terms
 * beyond `room` are omitted. Return the number copied. */
uint32_t ek_text_features_terms(const struct ek_text_features *f, uint32_t *terms, uint32_t room);

/* Set x [features of the selection] to the values of document `number` for the last query. stage0:
 * its score as a candidate, or NaN. Return 0, EK_ENOMEM, or EK_EFORMAT for a damaged index; on
 * error x is undefined. */
int ek_text_features_document(struct ek_text_features *f, uint32_t number, double stage0, float *x,
                              struct ek_error *e);
/* Return the id of the last document, not terminated, and set *length; valid until the next
 * document. */
const char *ek_text_features_id(const struct ek_text_features *f, size_t *length);

enum { EK_QUERY_TOKENS_MAX = 256 }; /* terms of a query */

#endif
