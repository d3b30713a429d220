/* LETOR / SVMlight text: `label qid:N 1:v 2:v ... # id`, one item a line, a list's lines together.
 *
 * Invariants: indices are 1-based and rise; an absent index is 0 (not missing); an index the
 * manifest does not know is an error, as are an empty, repeated or falling one, a text value, a
 * query whose lines are torn apart, query features that differ within a list. `nan` is a missing
 * value. Errors carry file and line (and column where it helps).
 * Labels are non-negative numbers. Owner: the caller, ek_letor_close.
 */
#ifndef EK_DATA_LETOR_H
#define EK_DATA_LETOR_H

#include "schema/manifest.h"
#include "lists/query.h"

struct ek_letor;

/* path may be "-"; plain, gzip or zstd. The manifest must outlive the reader. */
int ek_letor_open(struct ek_letor **out, const struct ek_manifest *m, const char *path,
                  struct ek_error *e);
/* The next list into `q` (id, label, item_id filled; score NaN); *more = false at the end. Texts
 * are valid until the next call. */
int ek_letor_next(struct ek_letor *l, struct ek_query *q, bool *more, struct ek_error *e);
void ek_letor_position(const struct ek_letor *l, uint64_t *done, uint64_t *total);
void ek_letor_close(struct ek_letor *l);

#endif
