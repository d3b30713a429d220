/* Formatting of API responses for the client commands (`evenkeel status`, `accept`, ...).
 *
 * Functions take a whole response. They omit missing members, because another version may respond,
 * and print lines of at most 79 columns. Strings of a response are untrusted; print them with
 * ek_print_safe or in a table. Unless noted, functions return 0, or EK_EFORMAT without output if
 * the response is invalid. One thread at a time.
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

/* Return the document, or NULL if it is no JSON. Free it with yyjson_doc_free. */
yyjson_doc *ek_client_parse(const struct ek_buf *answer);
/* Return the string of a key, or `none` if it is missing or empty. */
const char *ek_client_get_text(yyjson_val *o, const char *key, const char *none);
/* Format the segment of an object as "arm=B" or "all". */
void ek_client_format_segment(yyjson_val *of, char *text, size_t size);
/* Format milliseconds as "2026-09-21 14:30" in UTC. */
void ek_client_format_time(yyjson_val *o, const char *key, char text[EK_DATE_TEXT]);
/* Print a table of the objects of an array, within `room` rows (NULL: all). Return false if `array`
 * is no array or memory is exhausted. */
bool ek_client_print_table(yyjson_val *array, const char *const *titles, int count,
                           int (*add)(struct ek_text_table *c, yyjson_val *of),
                           struct ek_row_limit *room, FILE *to);

int ek_client_print_status(const struct ek_buf *answer, FILE *to);
/* Print the status in one line, without a limit of columns. per_second: messages, or NAN. */
int ek_client_print_line(const struct ek_buf *answer, double per_second, FILE *to);
/* Return the number of messages consumed, or NAN if missing. */
double ek_client_get_consumed(const struct ek_buf *answer);
/* Print open findings and active routes, each with a title or a line for an empty list. */
int ek_client_print_findings(const struct ek_buf *answer, FILE *to);
int ek_client_print_plan(const struct ek_buf *answer, FILE *to);
/* Print the same within `room` rows, and subtract the rows used. */
int ek_client_print_findings_within(const struct ek_buf *answer, struct ek_row_limit *room,
                                    FILE *to);
int ek_client_print_plan_within(const struct ek_buf *answer, struct ek_row_limit *room, FILE *to);
/* Print routes that a guardrail rolled back, from /api/v1/impact; nothing without any. */
int ek_client_print_rollbacks(const struct ek_buf *answer, FILE *to);
int ek_client_print_rollbacks_within(const struct ek_buf *answer, struct ek_row_limit *room,
                                     FILE *to);
/* Print nothing without pins. */
int ek_client_print_pins(const struct ek_buf *answer, FILE *to);
/* Print the result of pause, or of resume, which may concern one route. */
int ek_client_print_paused(const struct ek_buf *answer, FILE *to);
int ek_client_print_resumed(const struct ek_buf *answer, FILE *to);
/* Print the result of a reload: assets, or each error in a line as `check` prints it. */
int ek_client_print_reload(const struct ek_buf *answer, FILE *to);
enum ek_reload_state { EK_RELOAD_RUNNING, EK_RELOAD_DONE, EK_RELOAD_REFUSED };
/* Return the state of reload `number`, or of a later one. */
enum ek_reload_state ek_client_get_reload_state(const struct ek_buf *answer, uint64_t number);
int ek_client_print_decision(const struct ek_buf *answer, FILE *to);
int ek_client_print_history(const struct ek_buf *answer, FILE *to);
/* Print the measured or expected rank changes of each route. */
int ek_client_print_impact(const struct ek_buf *answer, FILE *to);

/* Return a positive number of the response, such as "order"; 0: missing. */
uint64_t ek_client_number(const struct ek_buf *answer, const char *key);
/* Return the state of a command of /api/v1/commands and, if it was rejected, the reason in `why`,
 * else "". */
enum ek_command_state {
    EK_COMMAND_PENDING,
    EK_COMMAND_LOST,
    EK_COMMAND_APPLIED,
    EK_COMMAND_REJECTED
};
enum ek_command_state ek_client_get_command_state(const struct ek_buf *answer, uint64_t number,
                                                  char *why, size_t size);
/* Print the decision and its actor. Returns 0, or EK_EFORMAT if the command is not applied. */
int ek_client_print_command(const struct ek_buf *answer, uint64_t number, FILE *to);

/* Copy the "error" of a response, truncated to `size` bytes; "" without one. */
void ek_client_get_error(const struct ek_buf *answer, char *text, size_t size);

#endif
