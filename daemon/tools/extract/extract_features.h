/* Features of `extract`: queries and documents measured with an index, and the feature catalog. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H

#include "base/error.h"
#include "base/file.h"
#include "text/features/feature_choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_extract_args;

/* Read --queries, use --index and write the features. Return 0, or an error of the files, the index
 * or the arguments. */
int ek_extract_features(const struct ek_extract_args *a, struct ek_error *e);

/* Reader of queries, one per line: `ID<TAB>TEXT` or {"id": ..., "text": ...}.
 *
 * The first line determines the format. Ids are unique and contain no blanks (they become LETOR
 * qids); in JSON they may be integers. Empty lines are skipped; a text may be empty. Strings live
 * until the next query.
 */

struct ek_extract_queries;

struct ek_extract_query {
    const char *id, *text; /* terminated */
    size_t text_length;
};

/* Open a file of queries; "-" is standard input. Return 0, EK_EIO, EK_EFORMAT or EK_ENOMEM. */
int ek_extract_queries_open(struct ek_extract_queries **out, const char *path, struct ek_error *e);
/* Close the file and free the reader. NULL is allowed. */
void ek_extract_queries_close(struct ek_extract_queries *q);
/* Read the next query into *out; *more = false after the last. Return 0, EK_EIO, EK_ELIMIT for a
 * line that is too long, EK_ENOMEM, or EK_EFORMAT with a position. */
int ek_extract_queries_next(struct ek_extract_queries *q, struct ek_extract_query *out, bool *more,
                            struct ek_error *e);

#endif
