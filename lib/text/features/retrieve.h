/* The best documents of a query by BM25 (Robertson and others 1994) over whole documents, as Lucene
 * weighs terms: score = sum of ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b *
 * length / average length)), N and average over all documents of the index, terms as often as the
 * query has them.
 *
 * The result is exact: documents by falling score, equal ones by their number. Documents with no
 * term of the query are not in it. Owner: the caller; a struct ek_retrieve is memory that is used
 * again from query to query. Threads: one each.
 */
#ifndef EK_TEXT_FEATURES_RETRIEVE_H
#define EK_TEXT_FEATURES_RETRIEVE_H

#include "base/error.h"

#include <stdint.h>

struct ek_index;
struct ek_retrieve;

struct ek_hit {
    uint32_t document;
    double score;
};

struct ek_bm25 {
    double k1, b;
};

#define EK_BM25_DEFAULT ((struct ek_bm25){0.9, 0.4})

enum { EK_RETRIEVE_TERMS_MAX = 1024 };

int ek_retrieve_new(struct ek_retrieve **out, const struct ek_index *x, struct ek_bm25 settings,
                    struct ek_error *e);
void ek_retrieve_free(struct ek_retrieve *r);
/* terms [count]: numbers of the index; EK_NO_TERM and above are passed over. hits [k]; *found of
 * them are there. EK_ELIMIT for more than EK_RETRIEVE_TERMS_MAX different terms, EK_EFORMAT. */
int ek_retrieve(struct ek_retrieve *r, const uint32_t *terms, uint32_t count, uint32_t k,
                struct ek_hit *hits, uint32_t *found, struct ek_error *e);

#endif
