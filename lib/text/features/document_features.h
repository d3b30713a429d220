/* Query-independent features of a document: its URL, words and fields; and the English stop words
 * that they count.
 *
 * Values are NaN without a URL or tokens. Thread-safe with separate `scratch`.
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

/* Return the name, formula and source of feature `kind`, 0 .. EK_DOCUMENT_FEATURES - 1; a static
 * row. */
const struct ek_feature_kind *ek_document_feature_kind(int kind);

/* Set out [EK_URLS] to the URL features; all NaN for an empty URL. */
void ek_document_features_url(const char *url, size_t length, double out[EK_URLS]);

/* Stop words and letter counts. `stops` counts all stop words; the index may lack some. */
struct ek_document_terms {
    const uint32_t *stop; /* [known] ascending term numbers */
    size_t known, stops;
    uint32_t (*letters)(void *context, uint32_t term);
    void *context;
};

/* Set out from EK_UNIQUE_TERMS on; earlier elements stay unchanged. terms [n] of the whole
 * document; length: tokens per field; scratch [n]. */
void ek_document_features_terms(const struct ek_document_terms *w, const uint32_t *terms, size_t n,
                                const uint32_t length[EK_FIELDS], uint32_t *scratch,
                                double out[EK_DOCUMENT_FEATURES]);

/* Return English function word i, a static string, or NULL after the last. */
const char *ek_stop_word(size_t i);

#endif
