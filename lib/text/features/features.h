/* Features of queries and documents of an index: the facade over all the families.
 *
 * A query is taken first, then any number of documents. Shapes: as many values as the choice has
 * features, in its order. NaN is a missing value; no value is infinite. What is missing when:
 * lib/text/features/feature_list.h and docs/text-features.md.
 * Owner: the caller, ek_text_features_free; index and choice must outlive it. One thread each.
 */
#ifndef EK_TEXT_FEATURES_FEATURES_H
#define EK_TEXT_FEATURES_FEATURES_H

#include "text/features/feature_choice.h"
#include "text/index/index.h"

struct ek_text_features;

/* EK_ENOMEM; EK_EUSAGE for an index with a stemmer that there is not. */
int ek_text_features_new(struct ek_text_features **out, const struct ek_index *x,
                         const struct ek_feature_choice *c, struct ek_error *e);
void ek_text_features_free(struct ek_text_features *f);

/* A query's text, treated as those of the collection were. EK_ELIMIT for one of too many terms,
 * EK_ENOMEM, EK_EFORMAT for a damaged index; no document may be asked for then. */
int ek_text_features_query(struct ek_text_features *f, const char *text, size_t length,
                           struct ek_error *e);

/* Its terms as numbers of the index, each as often as it is there; those nobody has left out. */
uint32_t ek_text_features_terms(const struct ek_text_features *f, uint32_t *terms, uint32_t room);

/* A document for the query taken last. stage0: its score among the candidates, NaN for none. */
int ek_text_features_document(struct ek_text_features *f, uint32_t number, double stage0, float *x,
                              struct ek_error *e);
/* Id of the document asked for last; not terminated, until the next one. */
const char *ek_text_features_id(const struct ek_text_features *f, size_t *length);

#endif
