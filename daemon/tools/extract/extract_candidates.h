/* Which documents of an index a query is asked about: those that a file names, else the best.
 *
 * Owner: the caller, ek_extract_candidates_free. One thread.
 */
#ifndef EK_DAEMON_EXTRACT_CANDIDATES_H
#define EK_DAEMON_EXTRACT_CANDIDATES_H

#include "text/features/features.h"

struct ek_extract_candidates;

struct ek_candidate {
    uint32_t document;
    double score; /* NaN: none was given */
};

/* path NULL: the best `top` by BM25. The index must outlive it. */
int ek_extract_candidates_new(struct ek_extract_candidates **out, const struct ek_index *x,
                              const char *path, uint32_t top, struct ek_error *e);
void ek_extract_candidates_free(struct ek_extract_candidates *c);
/* Of the query that `f` took last, in the order of the file, or by rank. *at lives until the next
 * call. *unknown: documents of the file that the index does not have. */
int ek_extract_candidates_of(struct ek_extract_candidates *c, const char *query,
                             const struct ek_text_features *f, const struct ek_candidate **at,
                             size_t *n, size_t *unknown, struct ek_error *e);

#endif
