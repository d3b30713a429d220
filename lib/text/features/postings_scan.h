/* Query statistics that need the postings: score statistics of terms, pair counts of the
 * collection, and the number of documents with any term.
 *
 * Caches the statistics of up to EK_POSTINGS_SCANS_RETAINED terms; pairs are not cached. Texts are
 * whole documents. Not thread-safe.
 */
#ifndef EK_TEXT_FEATURES_POSTINGS_SCAN_H
#define EK_TEXT_FEATURES_POSTINGS_SCAN_H

#include "text/index/index.h"
#include "text/features/term_scores.h"

enum { EK_POSTINGS_SCANS_RETAINED = 4096 };

struct ek_postings_scan;

/* Create a scan. Index and parameters must outlive it. Return 0 or EK_ENOMEM. */
int ek_postings_scan_new(struct ek_postings_scan **out, const struct ek_index *x,
                         const struct ek_unigram_parameters *p, struct ek_error *e);
void ek_postings_scan_free(struct ek_postings_scan *s);

/* Set *out to the score statistics of a term. Return 0, EK_ENOMEM, or EK_EFORMAT for a damaged
 * index. */
int ek_postings_scan_scores(struct ek_postings_scan *s, uint32_t term, struct ek_term_scores *out,
                            struct ek_error *e);

struct ek_pair_counts {
    uint64_t ordered, unordered; /* in the collection: adjacent in order; within 8 tokens */
    uint32_t documents;          /* with both terms within 8 tokens */
};

/* Set *out to the counts of a pair of terms, and *scores to its score statistics unless NULL.
 * Return 0, EK_ENOMEM, or EK_EFORMAT for a damaged index. */
int ek_postings_scan_pair(struct ek_postings_scan *s, uint32_t a, uint32_t b,
                          struct ek_pair_counts *out, struct ek_term_scores *scores,
                          struct ek_error *e);

/* Set *documents to the number of documents with any of the terms. Return 0, EK_ENOMEM, or
 * EK_EFORMAT for a damaged index. */
int ek_postings_scan_reached(struct ek_postings_scan *s, const uint32_t *term, size_t terms,
                             uint32_t *documents, struct ek_error *e);

#endif
