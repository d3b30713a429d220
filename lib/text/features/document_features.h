/* What a document is like, whatever the query: its address, its words, its parts.
 *
 * NaN: what a document without an address, or without tokens, has no value for.
 * Pure but for `scratch`; any thread.
 */
#ifndef EK_TEXT_FEATURES_DOCUMENT_FEATURES_H
#define EK_TEXT_FEATURES_DOCUMENT_FEATURES_H

#include "text/index/field.h"
#include "text/features/feature_kind.h"

#include <stddef.h>
#include <stdint.h>

enum ek_document_feature {
    EK_URL_LENGTH,
    EK_URL_SLASHES,
    EK_URL_DEPTH,
    EK_URL_DIGITS,
    EK_URL_PARAMETERS,
    EK_URLS,
    EK_UNIQUE_TERMS = EK_URLS,
    EK_UNIQUE_SHARE,
    EK_TERM_LETTERS,
    EK_ENTROPY,
    EK_STOP_COVER,
    EK_STOP_RATIO,
    EK_SHARE_OF_FIELD, /* one per field */
    EK_DOCUMENT_FEATURES = EK_SHARE_OF_FIELD + EK_FIELDS
};

const struct ek_feature_kind *ek_document_feature_kind(int kind);

/* All NaN for an address of no bytes. */
void ek_document_features_url(const char *url, size_t length, double out[EK_URLS]);

/* What is known of words: the stop words' terms in rising order, how many stop words there are (an
 * index need not have all), and the letters of a term. */
struct ek_document_terms {
    const uint32_t *stop; /* [known] */
    size_t known, stops;
    uint32_t (*letters)(void *context, uint32_t term);
    void *context;
};

/* From EK_UNIQUE_TERMS on. terms: the whole document's. length: tokens per field. scratch [n]. */
void ek_document_features_terms(const struct ek_document_terms *w, const uint32_t *terms, size_t n,
                                const uint32_t length[EK_FIELDS], uint32_t *scratch,
                                double out[EK_DOCUMENT_FEATURES]);

/* English function words that say nothing of what a text is about; NULL behind the last. */
const char *ek_stop_word(size_t i);

#endif
