/* Query as index terms: distinct terms, their counts and adjacent pairs.
 *
 * Unknown terms are kept with number EK_NO_TERM; equal letters are one term. Pairs have two
 * different adjacent terms, each ordered pair once.
 */
#ifndef EK_TEXT_FEATURES_QUERY_TERMS_H
#define EK_TEXT_FEATURES_QUERY_TERMS_H

#include "base/buf.h"
#include "text/index/index.h"
#include "text/index/words.h"

enum { EK_QUERY_TOKENS_MAX = 256 };

struct ek_query_terms {
    uint32_t terms, pairs;
    uint32_t number[EK_QUERY_TOKENS_MAX]; /* in the index, or EK_NO_TERM */
    uint32_t count[EK_QUERY_TOKENS_MAX];
    uint32_t first[EK_QUERY_TOKENS_MAX], second[EK_QUERY_TOKENS_MAX]; /* [pairs] indexes of terms */
    /* Known terms by ascending number, with their index in the query. */
    uint32_t known;
    struct ek_known_term {
        uint32_t number, term;
    } sorted[EK_QUERY_TOKENS_MAX];
    struct ek_buf letters; /* of all terms, concatenated */
    size_t letters_end[EK_QUERY_TOKENS_MAX];
};

/* Initialize an empty query, without allocating. Release it with ek_query_terms_release. */
void ek_query_terms_init(struct ek_query_terms *q);
void ek_query_terms_release(struct ek_query_terms *q);
/* Replace *q by the terms of a text, tokenized by `w`, with their numbers in `x`. Return 0,
 * EK_ELIMIT for more than EK_QUERY_TOKENS_MAX terms, or EK_ENOMEM; on error the query is empty. */
int ek_query_terms_read(struct ek_query_terms *q, struct ek_words *w, const struct ek_index *x,
                        const char *text, size_t length, struct ek_error *e);
/* Return the letters of term t, not terminated, and set *length; valid until the next read. */
const char *ek_query_terms_text(const struct ek_query_terms *q, uint32_t t, size_t *length);
/* Return the index of the query term with this number, or -1. */
int ek_query_terms_find(const struct ek_query_terms *q, uint32_t number);

#endif
