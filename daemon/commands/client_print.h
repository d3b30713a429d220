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

enum { EK_CLIENT_TEXT_BYTES = 2000 };

/* NULL when it is no JSON. */
yyjson_doc *ek_client_parse(const struct ek_buf *answer);
/* The text of a key, `none` where there is none or an empty one. */
const char *ek_client_get_text(yyjson_val *o, const char *key, const char *none);
/* Its segment as "arm=B", or "all". */
void ek_client_format_segment(yyjson_val *of, char *text, size_t size);
/* "2026-09-21 14:30" in UTC. */
void ek_client_format_time(yyjson_val *o, const char *key, char text[EK_DATE_TEXT]);
/* A table of the objects of an array; room NULL: as long as it is.
 * false: it is none, or there is no memory. */
bool ek_client_print_table(yyjson_val *array, const char *const *titles, int count,
                           int (*add)(struct ek_text_table *c, yyjson_val *of),
                           struct ek_row_limit *room, FILE *to);

/* What an instance has answered, for people (`evenkeel status`, `accept`, ...).
 *
 * Each takes a whole answer and prints it, lines of at most 79 columns. What is not there is left
 * out, since other versions may answer. EK_EFORMAT when it is no such JSON: nothing was printed.
 */
int ek_client_print_status(const struct ek_buf *answer, FILE *to);
/* The same in one line, which may be longer. per_second: messages that have come, or NAN. */
int ek_client_print_line(const struct ek_buf *answer, double per_second, FILE *to);
/* How many messages the status says were read; NAN when it does not. */
double ek_client_get_consumed(const struct ek_buf *answer);
/* What is open, and what is in force; each with a title, or a line that there is nothing. */
int ek_client_print_findings(const struct ek_buf *answer, FILE *to);
int ek_client_print_plan(const struct ek_buf *answer, FILE *to);
/* The same in that much room of a screen; what they took is taken off. */
int ek_client_print_findings_within(const struct ek_buf *answer, struct ek_row_limit *room,
                                    FILE *to);
int ek_client_print_plan_within(const struct ek_buf *answer, struct ek_row_limit *room, FILE *to);
/* The routes that a guardrail has withdrawn, of /api/v1/impact, and which it was; nothing where
 * there are none. */
int ek_client_print_rollbacks(const struct ek_buf *answer, FILE *to);
int ek_client_print_rollbacks_within(const struct ek_buf *answer, struct ek_row_limit *room,
                                     FILE *to);
/* Nothing where nothing is pinned. */
int ek_client_print_pins(const struct ek_buf *answer, FILE *to);
/* Of pause; of resume, which may be about one route. */
int ek_client_print_paused(const struct ek_buf *answer, FILE *to);
int ek_client_print_resumed(const struct ek_buf *answer, FILE *to);
/* Of a reload that was done; of one that was refused every fault in a line, as `check` prints it.
 */
int ek_client_print_reload(const struct ek_buf *answer, FILE *to);
enum ek_reload_state { EK_RELOAD_RUNNING, EK_RELOAD_DONE, EK_RELOAD_REFUSED };
/* How far that reload is, or a later one. */
enum ek_reload_state ek_client_get_reload_state(const struct ek_buf *answer, uint64_t number);
/* One decision, and many. */
int ek_client_print_decision(const struct ek_buf *answer, FILE *to);
int ek_client_print_history(const struct ek_buf *answer, FILE *to);
/* How far each route moves ranks, or would. */
int ek_client_print_impact(const struct ek_buf *answer, FILE *to);

/* Return the positive number of a key of the answer, such as "order"; 0: it has none. */
uint64_t ek_client_number(const struct ek_buf *answer, const char *key);
/* What came of it, of /api/v1/commands. While it waits, and when nobody has answered, nothing is
 * known; `why` of one that was refused says so, else it is "". */
enum ek_command_state {
    EK_COMMAND_PENDING,
    EK_COMMAND_LOST,
    EK_COMMAND_APPLIED,
    EK_COMMAND_REJECTED
};
enum ek_command_state ek_client_get_command_state(const struct ek_buf *answer, uint64_t number,
                                                  char *why, size_t size);
/* Prints the decision, and who has decided. EK_EFORMAT: it is not done. */
int ek_client_print_command(const struct ek_buf *answer, uint64_t number, FILE *to);

/* The "error" of an answer, at most `size` bytes of it with its end; "" when there is none. */
void ek_client_get_error(const struct ek_buf *answer, char *text, size_t size);

#endif
