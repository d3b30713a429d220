/* Candidate documents of queries for `extract`, and the TREC runs and judgments that name them. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_CANDIDATES_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_CANDIDATES_H

#include "base/error.h"
#include "text/features/features.h"

#include <stddef.h>
#include <stdint.h>

/* Pairs of query and document from a TREC file: a run (candidates with scores) or qrels
 * (judgments).
 *
 * A line of a run is `QUERY Q0 DOCUMENT RANK SCORE TAG` or `QUERY DOCUMENT [SCORE]`, of qrels
 * `QUERY 0 DOCUMENT LABEL` or `QUERY DOCUMENT LABEL`, separated by spaces or tabs; plain, gzip or
 * zstd. A duplicate pair, or a number beyond float32, is an error. A missing score is NaN; a
 * negative label, which some collections use for spam, is 0. Strings live as long as the pairs.
 * Read-only, any thread.
 */
enum { EK_TREC_PAIRS_MAX = 50000000 };

enum ek_trec_kind { EK_TREC_RUN, EK_TREC_QRELS };

struct ek_trec_pair {
    const char *query, *document;
    double number; /* score or label */
    uint32_t line; /* in the file, from 1 */
};

struct ek_trec_pairs;

/* Read a TREC run or judgments; free *out with ek_trec_pairs_free. Return 0, EK_EFORMAT with a
 * position, EK_ELIMIT beyond EK_TREC_PAIRS_MAX pairs, EK_ENOMEM or EK_EIO. */
int ek_trec_pairs_read(struct ek_trec_pairs **out, const char *path, enum ek_trec_kind kind,
                       struct ek_error *e);
void ek_trec_pairs_free(struct ek_trec_pairs *p);
/* Return the pairs of a query and set *n: a run's in file order, judgments by document; valid as
 * long as `p`. *n = 0: none, and the result may be NULL. */
const struct ek_trec_pair *ek_trec_pairs_get(const struct ek_trec_pairs *p, const char *query,
                                             size_t *n);
/* Return the label of a document; 0 without a judgment. `p` may be NULL. */
double ek_trec_label(const struct ek_trec_pairs *p, const char *query, const char *document);

/* Candidate documents of a query: those of a run, else the best by BM25. One thread. */
struct ek_extract_candidates;

struct ek_candidate {
    uint32_t document;
    double score; /* NaN: not given */
};

/* Create the candidates: those of the TREC run at `path`, or for NULL the best `top` by BM25. The
 * index must outlive them. Return 0, EK_EIO, EK_EFORMAT or EK_ENOMEM. */
int ek_extract_candidates_new(struct ek_extract_candidates **out, const struct ek_index *x,
                              const char *path, uint32_t top, struct ek_error *e);
void ek_extract_candidates_free(struct ek_extract_candidates *c);
/* Set *at and *n to the candidates of the last query of `f`, in file order or by rank; valid until
 * the next call. Set *unknown to the number of documents of the run that are not in the index.
 * Return 0, EK_ENOMEM, EK_ELIMIT for a query with too many terms, or EK_EFORMAT for a damaged
 * index. */
int ek_extract_candidates_get(struct ek_extract_candidates *c, const char *query,
                              const struct ek_text_features *f, const struct ek_candidate **at,
                              size_t *n, size_t *unknown, struct ek_error *e);

#endif
