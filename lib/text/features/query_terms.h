/* A query as terms of an index: the distinct ones, how often each is there, which are neighbours.
 *
 * Terms that no document has are kept, with EK_NO_TERM for a number; two of them with the same
 * letters are one. Neighbours are pairs of different terms, one behind the other in the query; each
 * (a, b) once, (b, a) is another. Owner: the caller, ek_query_terms_release.
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
    uint32_t first[EK_QUERY_TOKENS_MAX], second[EK_QUERY_TOKENS_MAX]; /* [pairs] of the terms */
    /* The known terms by rising number, and which of the query's each is. */
    uint32_t known;
    struct ek_known_term {
        uint32_t number, term;
    } sorted[EK_QUERY_TOKENS_MAX];
    struct ek_buf letters; /* of all terms */
    size_t letters_end[EK_QUERY_TOKENS_MAX];
};

void ek_query_terms_init(struct ek_query_terms *q);
void ek_query_terms_release(struct ek_query_terms *q);
/* EK_ELIMIT for more than EK_QUERY_TOKENS_MAX terms, EK_ENOMEM; it is then without terms. */
int ek_query_terms_read(struct ek_query_terms *q, struct ek_words *w, const struct ek_index *x,
                        const char *text, size_t length, struct ek_error *e);
/* Letters of a term, not terminated. */
const char *ek_query_terms_text(const struct ek_query_terms *q, uint32_t t, size_t *length);
/* Which of the query's terms a number of the index is; -1: none. */
int ek_query_terms_find(const struct ek_query_terms *q, uint32_t number);

#endif
