/* Where features go: LETOR text, CSV or NPZ, row by row (docs/extract.md).
 *
 * Rows of one query come one after another. A row has as many values as the choice features, in
 * its order; NaN is a missing value: `nan`, an empty cell, NaN.
 * Owner: the caller, who ends it with ek_extract_write_close or ek_extract_write_abandon.
 */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_H

#include "daemon/tools/extract/extract.h"
#include "lists/list.h"
#include "text/features/feature_choice.h"

struct ek_extract_write;

struct ek_extract_row {
    const char *query; /* its id */
    struct ek_text document;
    double label;
    const float *x;
};

/* path NULL: standard output, which NPZ has not. EK_EIO, EK_ENOMEM. */
int ek_extract_write_open(struct ek_extract_write **out, enum ek_extract_format format,
                          const char *path, const struct ek_feature_choice *c, struct ek_error *e);
int ek_extract_write_row(struct ek_extract_write *w, const struct ek_extract_row *row,
                         struct ek_error *e);
/* Always frees `w`. On failure nothing of the name changed. */
int ek_extract_write_close(struct ek_extract_write *w, struct ek_error *e);
void ek_extract_write_abandon(struct ek_extract_write *w);

#endif
