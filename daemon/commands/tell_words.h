/* What the printing of answers has in common (daemon/commands/tell_print.h): reading them as JSON,
 * and the texts of which lines and tables are made.
 *
 * Texts of an answer are not to be trusted: they go through ek_print_safe or a table. Owner: the
 * caller, json_decref for what was parsed. One thread at a time.
 */
#ifndef EK_DAEMON_TELL_WORDS_H
#define EK_DAEMON_TELL_WORDS_H

#include "base/buf.h"
#include "base/date.h"
#include "daemon/base/columns.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { EK_TELL_WORDS_BYTES = 2000 };

/* NULL when it is no JSON. */
json_t *ek_tell_parsed(const struct ek_buf *answer);
/* The text of a key, `none` where there is none or an empty one. */
const char *ek_tell_text(const json_t *o, const char *key, const char *none);
/* Its segment as "arm=B", or "all". */
void ek_tell_segment(const json_t *of, char *text, size_t size);
/* "2026-09-21 14:30" in UTC. */
void ek_tell_time(const json_t *o, const char *key, char text[EK_DATE_TEXT]);
/* A table of the objects of an array; room NULL: as long as it is.
 * false: it is none, or there is no memory. */
bool ek_tell_table(const json_t *array, const char *const *titles, int count,
                   int (*add)(struct ek_columns *c, const json_t *of), struct ek_room *room,
                   FILE *to);

#endif
