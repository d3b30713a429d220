/* State of the text features of an index (features.h): query, document and the values of all
 * families. Internal to features*.c. */
#ifndef EK_TEXT_FEATURES_FEATURES_INTERNAL_H
#define EK_TEXT_FEATURES_FEATURES_INTERNAL_H

#include "text/features/features.h"
#include "text/features/query_features.h"
#include "text/features/query_terms.h"
#include "text/features/document_features.h"
#include "text/features/stop_words.h"
#include "text/features/tf_features.h"
#include "text/features/postings_scan.h"

enum { EK_NEAR_TOKENS = 8 };

/* Values of a document by family. Families that the selection does not need are not computed. */
struct ek_document_values {
    double stream[EK_FIELDS_AND_DOCUMENT][EK_STREAMS];
    double proximity[EK_FIELDS_AND_DOCUMENT][EK_PROXIMITIES];
    double fixed[EK_DOCUMENT_FEATURES];
    double stage0;
};

/* Values of a query by family. */
struct ek_query_values {
    double query[EK_QUERY_KINDS];
    double idf[EK_FIELDS_AND_DOCUMENT][EK_SPREADS];
    double terms[EK_TERM_STATISTICS], pairs[EK_TERM_STATISTICS];
};

/* Parts that the selection needs. */
struct ek_feature_needs {
    bool stream[EK_FIELDS_AND_DOCUMENT], proximity[EK_FIELDS_AND_DOCUMENT];
    bool fixed, query, scope, idf, terms, pairs, pair_counts;
};

struct ek_text_features {
    const struct ek_index *x;
    const struct ek_feature_choice *c;
    struct ek_feature_needs needs;
    struct ek_words *words;
    struct ek_postings_scan *scan;
    struct ek_stop_words stops;
    uint32_t stop[EK_STOPS_MAX]; /* [known_stops] ascending numbers of the stop words in the
                                  * index */
    size_t known_stops;
    uint8_t *letters; /* [terms of the index] letters of a term, 0: not yet counted */

    struct ek_query_terms q;
    struct ek_text_field field[EK_FIELDS_AND_DOCUMENT];
    struct ek_text_term term[EK_FIELDS_AND_DOCUMENT][EK_QUERY_TOKENS_MAX];
    struct ek_pair_counts pair[EK_QUERY_TOKENS_MAX];
    double weight[EK_QUERY_TOKENS_MAX]; /* ln(N / df), 0 for an unknown term */
    struct ek_term_scores *scores;      /* [EK_QUERY_TOKENS_MAX] */
    double *square;                     /* [terms * terms + terms] */
    size_t squares;
    struct ek_query_values of_query;

    struct ek_document d;
    struct ek_place_of_term *at; /* [n] positions of query terms in the document */
    uint32_t *sorted;            /* [places] */
    size_t places, n;
    struct ek_document_values of_document;
};

/* Compute the values of f->q that are the same for all documents. Return 0, EK_ENOMEM, or
 * EK_EFORMAT for a damaged index. */
int ek_features_for_query(struct ek_text_features *f, struct ek_error *e);
/* Compute f->of_document and the terms' tf per field from f->d. Return 0 or EK_ENOMEM. */
int ek_features_for_document(struct ek_text_features *f, struct ek_error *e);

#endif
