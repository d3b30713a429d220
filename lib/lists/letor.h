/* One line of LETOR text, taken apart. */
#ifndef EK_LISTS_LETOR_H
#define EK_LISTS_LETOR_H

#include "base/buf.h"
#include "lists/list.h"
#include "schema/manifest.h"

/* Where the value of an index goes: item number, or -1 - query number; EK_SLOT_UNKNOWN, or nowhere,
 * EK_SLOT_UNUSED. */
enum { EK_SLOT_UNKNOWN = INT32_MIN, EK_SLOT_UNUSED };

struct ek_letor_line {
    const char *name; /* of the file, for errors */
    long number;
    const char *text; /* terminated */
    float label;
    struct ek_text id;
    const char *values; /* where they begin */
};

/* LETOR / SVMlight text: `label qid:N 1:v 2:v ... # id`, one item a line, a list's lines together.
 *
 * Invariants: indices are 1-based and rise; an absent index is 0 (not missing); an index the
 * manifest does not know is an error, as are an empty, repeated or falling one, a text value, a
 * query whose lines are torn apart, query features that differ within a list. `nan` is a missing
 * value. Errors carry file and line (and column where it helps).
 * Labels are non-negative numbers. Owner: the caller, ek_letor_close.
 */
struct ek_letor;

/* path may be "-"; plain, gzip or zstd. The manifest must outlive the reader. */
int ek_letor_open(struct ek_letor **out, const struct ek_manifest *m, const char *path,
                  struct ek_error *e);
/* The next list into `q` (id, label, item_id filled; score NaN); *more = false at the end. Texts
 * are valid until the next call. */
int ek_letor_next(struct ek_letor *l, struct ek_list *q, bool *more, struct ek_error *e);
void ek_letor_position(const struct ek_letor *l, uint64_t *done, uint64_t *total);
void ek_letor_close(struct ek_letor *l);

/* Lists as LETOR text that the reader gives back equal to the bit.
 *
 * Every feature of the manifest is written, with the fewest digits that give the same float32;
 * missing values as `nan`, derived query features not at all. Item ids stand behind `#`.
 * Owner: the caller keeps the buffer.
 */
/* Appends the lines of one list under the query id `qid`. Labels are 0 without has_label.
 * EK_EFORMAT for an infinity, which LETOR has no word for; EK_ENOMEM, EK_ELIMIT. On failure `out`
 * is as it was. */
int ek_letor_write(const struct ek_manifest *m, const struct ek_list *q, uint64_t qid,
                   struct ek_buf *out, struct ek_error *e);
/* The same under an id that is any text without spaces, as a reader gives it. */
int ek_letor_write_as(const struct ek_manifest *m, const struct ek_list *q, struct ek_text qid,
                      struct ek_buf *out, struct ek_error *e);

#endif
