/* What only the postings of an index can tell of a query: how the scores of its terms are spread,
 * what the collection has of its pairs, how many documents have any term.
 *
 * Terms' figures are kept for queries to come, EK_POSTINGS_SCANS_RETAINED at most; pairs' are not.
 * Texts are whole documents. Owner: the caller, ek_postings_scan_free. One thread each.
 */
#ifndef EK_TEXT_FEATURES_POSTINGS_SCAN_H
#define EK_TEXT_FEATURES_POSTINGS_SCAN_H

#include "text/index/index.h"
#include "text/features/term_scores.h"

enum { EK_POSTINGS_SCANS_RETAINED = 4096 };

struct ek_postings_scan;

/* The index and the parameters must outlive it. EK_ENOMEM. */
int ek_postings_scan_new(struct ek_postings_scan **out, const struct ek_index *x,
                         const struct ek_unigram_parameters *p, struct ek_error *e);
void ek_postings_scan_free(struct ek_postings_scan *s);

/* Of a term of the index. EK_ENOMEM, EK_EFORMAT for a damaged index. */
int ek_postings_scan_scores(struct ek_postings_scan *s, uint32_t term, struct ek_term_scores *out,
                            struct ek_error *e);

struct ek_pair_counts {
    uint64_t ordered, unordered; /* in the collection: right behind each other; in 8 tokens */
    uint32_t documents;          /* with the latter */
};

/* Of a pair of terms of the index; `scores` may be NULL. */
int ek_postings_scan_pair(struct ek_postings_scan *s, uint32_t a, uint32_t b,
                          struct ek_pair_counts *out, struct ek_term_scores *scores,
                          struct ek_error *e);

/* Documents with any of the terms. */
int ek_postings_scan_reached(struct ek_postings_scan *s, const uint32_t *term, size_t terms,
                             uint32_t *documents, struct ek_error *e);

#endif
