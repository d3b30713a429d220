/* LETOR / SVMlight text: reader and writer of lists. */
#ifndef EK_LISTS_LETOR_H
#define EK_LISTS_LETOR_H

#include "base/buf.h"
#include "lists/list.h"
#include "schema/manifest.h"

/* Destination of an index: item number, -1 - query number, EK_SLOT_UNKNOWN (error) or
 * EK_SLOT_UNUSED (skipped). */
enum { EK_SLOT_UNKNOWN = INT32_MIN, EK_SLOT_UNUSED };

struct ek_letor_line {
    const char *name; /* file name, for errors */
    long number;
    const char *text; /* nul-terminated */
    float label;
    struct ek_text id;
    const char *values; /* start of the values */
};

/* Reader of `label qid:N 1:v 2:v ... # id`, one item per line, the lines of a list adjacent.
 *
 * Indices are 1-based and rising; an absent index is 0 (not missing); `nan` is a missing value.
 * Errors: an index not in the manifest, an empty, duplicate or falling index, a value that is not a
 * number, a query with separated lines, query features that differ within a list. Errors include
 * file, line and, where useful, column. Labels are non-negative numbers.
 */
struct ek_letor;

/* Open a file for reading: plain, gzip or zstd, or "-" for standard input. The manifest must
 * outlive the reader. Return 0, EK_EIO, EK_EFORMAT or EK_ENOMEM. */
int ek_letor_open(struct ek_letor **out, const struct ek_manifest *m, const char *path,
                  struct ek_error *e);
/* Read the next list into `q` (id, label, item_id set; score NaN); *more = false at the end.
 * Strings are valid until the next call. Return 0, EK_EFORMAT with a position, EK_ELIMIT for a line
 * or list that is too long, EK_EIO or EK_ENOMEM; on error `q` is undefined but can be released. */
int ek_letor_next(struct ek_letor *l, struct ek_list *q, bool *more, struct ek_error *e);
/* Set *done to the bytes read and *total to the file size (0 if unknown), for progress. */
void ek_letor_position(const struct ek_letor *l, uint64_t *done, uint64_t *total);
/* Close the file and free the reader. NULL is allowed. */
void ek_letor_close(struct ek_letor *l);

/* Writer of lists that the reader restores bit by bit.
 *
 * Every feature of the manifest is written, with the fewest digits that give the same float32;
 * missing values as `nan`, derived query features not at all. Item ids follow `#`.
 */
/* Append the lines of one list with query id `qid`. Labels are 0 without has_label. Return 0,
 * EK_ENOMEM, EK_ELIMIT beyond the limit of `out`, or EK_EFORMAT for an infinity, which LETOR cannot
 * express. On error `out` is unchanged. */
int ek_letor_write(const struct ek_manifest *m, const struct ek_list *q, uint64_t qid,
                   struct ek_buf *out, struct ek_error *e);
/* Append the lines of one list as ek_letor_write, with a string without spaces as query id. Return
 * 0, EK_ENOMEM, EK_ELIMIT beyond the limit of `out`, or EK_EFORMAT for an infinity; on error `out`
 * is unchanged. */
int ek_letor_write_as(const struct ek_manifest *m, const struct ek_list *q, struct ek_text qid,
                      struct ek_buf *out, struct ek_error *e);

#endif
