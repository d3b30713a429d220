/* Formatting of API responses for the client commands (`evenkeel status`, `accept`, ...).
 *
 * Functions take the root of a response, NULL if it is no JSON. They omit missing members, because
 * another version may respond, and print lines of at most 79 columns. Strings of a response are
 * untrusted. One thread at a time.
 */
#ifndef EK_DAEMON_COMMANDS_CLIENT_PRINT_H
#define EK_DAEMON_COMMANDS_CLIENT_PRINT_H

#include "base/buf.h"
#include "base/date.h"
#include "daemon/base/text_table.h"
#include "yaml/json_parse.h"

#include <stdbool.h>
#include <stdio.h>

/* Return the document, or NULL if it is no JSON. Free it with yyjson_doc_free. */
yyjson_doc *ek_client_parse(const struct ek_buf *answer);

/* Print within `room` rows and subtract the rows used; `room` NULL: no limit. Only printers of a
 * screen of `status --watch` use it. Return false without output if the response is invalid. */
typedef bool ek_client_printer(yyjson_val *o, struct ek_row_limit *room, FILE *to);

/* Format the status as a sentence of any length: readiness, traffic, counts. Return
 * false if the response is invalid. The text is untrusted. */
bool ek_client_summary(yyjson_val *o, char *text, size_t size);

/* Of `status`: the sentence, and a line per exception. Findings and plan have a title or a line for
 * an empty list; rollbacks (of /api/v1/impact) and pins print nothing without any. */
ek_client_printer ek_client_print_status, ek_client_print_findings, ek_client_print_plan,
    ek_client_print_rollbacks, ek_client_print_pins;
/* Results of pause, and of resume, which may concern one route. */
ek_client_printer ek_client_print_paused, ek_client_print_resumed;
/* Result of a reload: assets, or each error in a line as `check` prints it. */
ek_client_printer ek_client_print_reload;
/* Measured or expected rank changes of each route. */
ek_client_printer ek_client_print_impact;
ek_client_printer ek_client_print_decision;
/* Decisions, one line each, cut at 79 columns; or as a table with all details. */
ek_client_printer ek_client_print_history, ek_client_print_history_details;
/* Incidents: start, end ("open"), lists, change and action. */
ek_client_printer ek_client_print_incidents;

/* Return the positive number under `key` of the response, such as "order"; 0 if it is missing. */
uint64_t ek_client_number(yyjson_val *o, const char *key);

enum ek_reload_state { EK_RELOAD_RUNNING, EK_RELOAD_DONE, EK_RELOAD_REFUSED };
/* Return the state of reload `number`, or of a later one; running if the response has neither. */
enum ek_reload_state ek_client_get_reload_state(yyjson_val *o, uint64_t number);

enum ek_command_state {
    EK_COMMAND_PENDING,
    EK_COMMAND_LOST,
    EK_COMMAND_APPLIED,
    EK_COMMAND_REJECTED
};
/* Return the state of command `number` in a response of /api/v1/commands. Write the reason of a
 * rejection to why [size], else "". */
enum ek_command_state ek_client_get_command_state(yyjson_val *o, uint64_t number, char *why,
                                                  size_t size);
/* Print the decision of command `number` and its actor. Return false, without output, if the
 * command is not applied. */
bool ek_client_print_command(yyjson_val *o, uint64_t number, FILE *to);

#endif
