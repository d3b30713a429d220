/* Queries to extract features for: a line each, `ID<TAB>TEXT` or {"id": ..., "text": ...}.
 *
 * The first line says which. An id has no blanks (it becomes a LETOR qid), and is there once; in
 * JSON it may be a whole number. Lines without anything are passed over; a text may be empty.
 * Owner: the caller, ek_extract_queries_close; texts live until the next query.
 */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_QUERIES_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_QUERIES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_extract_queries;

struct ek_extract_query {
    const char *id, *text; /* terminated */
    size_t text_length;
};

int ek_extract_queries_open(struct ek_extract_queries **out, const char *path, struct ek_error *e);
void ek_extract_queries_close(struct ek_extract_queries *q);
/* The next one; *more = false behind the last. EK_EFORMAT with the place. */
int ek_extract_queries_next(struct ek_extract_queries *q, struct ek_extract_query *out, bool *more,
                            struct ek_error *e);
/* Adds the place of the query at hand to an error that has none. */
void ek_extract_queries_location(const struct ek_extract_queries *q, struct ek_error *e);
void ek_extract_queries_position(const struct ek_extract_queries *q, uint64_t *done,
                                 uint64_t *total);

#endif
