/* Writer of feature rows as LETOR text, CSV or NPZ (docs/extract.md).
 *
 * Rows of one query are consecutive. A row has one value per feature of the choice, in its order; a
 * missing value is NaN: `nan`, an empty cell, NaN. End with ek_extract_write_close or
 * ek_extract_write_abandon.
 */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_H

#include "daemon/tools/extract/extract.h"
#include "lists/list.h"
#include "text/features/feature_choice.h"

struct ek_extract_write;

struct ek_extract_row {
    const char *query; /* query id */
    struct ek_text document;
    double label;
    const float *x;
};

/* Create a writer of `format` to `path`; NULL: standard output, not for NPZ. The choice must
 * outlive it. Return 0, EK_EIO or EK_ENOMEM. */
int ek_extract_write_open(struct ek_extract_write **out, enum ek_extract_format format,
                          const char *path, const struct ek_feature_choice *c, struct ek_error *e);
/* Append a row. Return 0, EK_EIO, EK_ELIMIT or EK_ENOMEM. */
int ek_extract_write_row(struct ek_extract_write *w, const struct ek_extract_row *row,
                         struct ek_error *e);
/* Complete the file. Always frees `w`. On failure the file is unchanged. Return 0, EK_EIO or
 * EK_ENOMEM. */
int ek_extract_write_close(struct ek_extract_write *w, struct ek_error *e);
/* Discard the file and free `w`. */
void ek_extract_write_abandon(struct ek_extract_write *w);

#endif
