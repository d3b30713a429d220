/* Top-k retrieval by BM25 (Robertson et al. 1994) over whole documents, with Lucene's term weights.
 *
 *   score = sum of ln(1 + (N - df + 0.5) / (df + 0.5)) * tf
 *           / (tf + k1 * (1 - b + b * length / average length))
 * N and the average cover all documents of the index; terms count as often as the query has them.
 *
 * The result is exact: by descending score, ties by ascending number. It contains only documents
 * with a query term. A struct ek_retrieve holds reusable memory. Not thread-safe.
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

/* Create the memory of a retrieval. The index must outlive it. Return 0, EK_ENOMEM, or EK_EUSAGE
 * for parameters out of range. */
int ek_retrieve_new(struct ek_retrieve **out, const struct ek_index *x, struct ek_bm25 settings,
                    struct ek_error *e);
void ek_retrieve_free(struct ek_retrieve *r);
/* Retrieve the top k documents. terms [count] are index numbers; EK_NO_TERM is skipped. Set *found,
 * at most k, and that many elements of hits [k]. Return 0, EK_ELIMIT for more than
 * EK_RETRIEVE_TERMS_MAX distinct terms, EK_ENOMEM, or EK_EFORMAT for a damaged index. */
int ek_retrieve(struct ek_retrieve *r, const uint32_t *terms, uint32_t count, uint32_t k,
                struct ek_hit *hits, uint32_t *found, struct ek_error *e);

#endif
