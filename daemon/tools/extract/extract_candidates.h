/* What is said of pairs of a query and a document: a run (candidates with scores) or judgements.
 *
 * A run's line is `QUERY Q0 DOCUMENT RANK SCORE TAG`, or `QUERY DOCUMENT [SCORE]`; a judgement's
 * `QUERY 0 DOCUMENT LABEL`, or `QUERY DOCUMENT LABEL`; parts apart by spaces or tabs. Plain, gzip
 * or zstd. A pair may be there once. A score that is not given is NaN; a label below 0, as some
 * collections have them for spam, is 0. A number that float32 has no room for is a fault.
 * Owner: the caller, ek_trec_pairs_free; texts live as long. Read-only, any thread.
 */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_CANDIDATES_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_CANDIDATES_H

#include "base/error.h"
#include "text/features/features.h"

#include <stddef.h>
#include <stdint.h>

enum { EK_TREC_PAIRS_MAX = 50000000 };

enum ek_trec_kind { EK_TREC_RUN, EK_TREC_QRELS };

struct ek_trec_pair {
    const char *query, *document;
    double number; /* score or label */
    uint32_t line; /* of the file, from 1 */
};

struct ek_trec_pairs;

/* EK_EFORMAT with the place, EK_ELIMIT, EK_ENOMEM, EK_EIO. */
int ek_trec_pairs_read(struct ek_trec_pairs **out, const char *path, enum ek_trec_kind kind,
                       struct ek_error *e);
void ek_trec_pairs_free(struct ek_trec_pairs *p);
/* Those of a query: a run's in the order of the file, judgements by document. *n = 0: none, and
 * there may be no array. */
const struct ek_trec_pair *ek_trec_pairs_get(const struct ek_trec_pairs *p, const char *query,
                                             size_t *n);
/* The label of a document of a query; 0 where nobody judged it. p may be NULL. */
double ek_trec_label(const struct ek_trec_pairs *p, const char *query, const char *document);

/* Which documents of an index a query is asked about: those that a file names, else the best.
 *
 * Owner: the caller, ek_extract_candidates_free. One thread.
 */
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
int ek_extract_candidates_get(struct ek_extract_candidates *c, const char *query,
                              const struct ek_text_features *f, const struct ek_candidate **at,
                              size_t *n, size_t *unknown, struct ek_error *e);

#endif
