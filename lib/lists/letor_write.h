/* Lists as LETOR text that the reader gives back equal to the bit.
 *
 * Every feature of the manifest is written, with the fewest digits that give the same float32;
 * missing values as `nan`, derived query features not at all. Item ids stand behind `#`.
 * Owner: the caller keeps the buffer.
 */
#ifndef EK_DATA_LETOR_WRITE_H
#define EK_DATA_LETOR_WRITE_H

#include "base/buf.h"
#include "schema/manifest.h"
#include "lists/query.h"

/* Appends the lines of one list under the query id `qid`. Labels are 0 without has_label.
 * EK_EFORMAT for an infinity, which LETOR has no word for; EK_ENOMEM, EK_ELIMIT. On failure `out`
 * is as it was. */
int ek_letor_write(const struct ek_manifest *m, const struct ek_query *q, uint64_t qid,
                   struct ek_buf *out, struct ek_error *e);
/* The same under an id that is any text without spaces, as a reader gives it. */
int ek_letor_write_as(const struct ek_manifest *m, const struct ek_query *q, struct ek_text qid,
                      struct ek_buf *out, struct ek_error *e);

#endif
