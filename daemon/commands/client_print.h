/* What the printing of answers has in common (daemon/commands/client_print.h): reading them as
 * JSON, and the texts of which lines and tables are made.
 *
 * Texts of an answer are not to be trusted: they go through ek_print_safe or a table. Owner: the
 * caller, yyjson_doc_free for what was parsed. One thread at a time.
 */
#ifndef EK_DAEMON_COMMANDS_CLIENT_PRINT_H
#define EK_DAEMON_COMMANDS_CLIENT_PRINT_H

#include "base/buf.h"
#include "base/date.h"
#include "daemon/base/text_table.h"
#include "yaml/json_parse.h"

#include <stdbool.h>
#include <stdio.h>

enum { EK_TELL_WORDS_BYTES = 2000 };

/* NULL when it is no JSON. */
yyjson_doc *ek_tell_parsed(const struct ek_buf *answer);
/* The text of a key, `none` where there is none or an empty one. */
const char *ek_tell_text(yyjson_val *o, const char *key, const char *none);
/* Its segment as "arm=B", or "all". */
void ek_tell_segment(yyjson_val *of, char *text, size_t size);
/* "2026-09-21 14:30" in UTC. */
void ek_tell_time(yyjson_val *o, const char *key, char text[EK_DATE_TEXT]);
/* A table of the objects of an array; room NULL: as long as it is.
 * false: it is none, or there is no memory. */
bool ek_tell_table(yyjson_val *array, const char *const *titles, int count,
                   int (*add)(struct ek_columns *c, yyjson_val *of), struct ek_room *room,
                   FILE *to);

/* What an instance has answered, for people (`evenkeel status`, `accept`, ...).
 *
 * Each takes a whole answer and prints it, lines of at most 79 columns. What is not there is left
 * out, since other versions may answer. EK_EFORMAT when it is no such JSON: nothing was printed.
 */
int ek_tell_status(const struct ek_buf *answer, FILE *to);
/* The same in one line, which may be longer. per_second: messages that have come, or NAN. */
int ek_tell_line(const struct ek_buf *answer, double per_second, FILE *to);
/* How many messages the status says were read; NAN when it does not. */
double ek_tell_consumed(const struct ek_buf *answer);
/* What is open, and what is in force; each with a title, or a line that there is nothing. */
int ek_tell_findings(const struct ek_buf *answer, FILE *to);
int ek_tell_plan(const struct ek_buf *answer, FILE *to);
/* The same in that much room of a screen; what they took is taken off. */
int ek_tell_findings_in(const struct ek_buf *answer, struct ek_room *room, FILE *to);
int ek_tell_plan_in(const struct ek_buf *answer, struct ek_room *room, FILE *to);
/* The routes that a guardrail has withdrawn, of /api/v1/ranks, and which it was; nothing where
 * there are none. */
int ek_tell_withdrawn(const struct ek_buf *answer, FILE *to);
int ek_tell_withdrawn_in(const struct ek_buf *answer, struct ek_room *room, FILE *to);
/* Nothing where nothing is pinned. */
int ek_tell_pins(const struct ek_buf *answer, FILE *to);
/* Of pause; of resume, which may be about one route. */
int ek_tell_paused(const struct ek_buf *answer, FILE *to);
int ek_tell_resumed(const struct ek_buf *answer, FILE *to);
/* Of a reload that was done; of one that was refused every fault in a line, as `check` prints it.
 */
int ek_tell_reload(const struct ek_buf *answer, FILE *to);
enum ek_reload_state { EK_RELOAD_GOES_ON, EK_RELOAD_DONE, EK_RELOAD_REFUSED };
/* How far that reload is, or a later one. */
enum ek_reload_state ek_tell_reload_state(const struct ek_buf *answer, uint64_t number);
/* One decision, and many. */
int ek_tell_decision(const struct ek_buf *answer, FILE *to);
int ek_tell_history(const struct ek_buf *answer, FILE *to);
/* How far each route moves ranks, or would. */
int ek_tell_ranks(const struct ek_buf *answer, FILE *to);

/* Return the positive number of a key of the answer, such as "order"; 0: it has none. */
uint64_t ek_tell_number(const struct ek_buf *answer, const char *key);
/* What came of it, of /api/v1/orders. While it waits, and when nobody has answered, nothing is
 * known; `why` of one that was refused says so, else it is "". */
enum ek_order_state { EK_ORDER_WAITS, EK_ORDER_LOST, EK_ORDER_DONE, EK_ORDER_REFUSED };
enum ek_order_state ek_tell_order_state(const struct ek_buf *answer, uint64_t number, char *why,
                                        size_t size);
/* Prints the decision, and who has decided. EK_EFORMAT: it is not done. */
int ek_tell_order(const struct ek_buf *answer, uint64_t number, FILE *to);

/* The "error" of an answer, at most `size` bytes of it with its end; "" when there is none. */
void ek_tell_error(const struct ek_buf *answer, char *text, size_t size);

#endif
