/* What a command came to, as one JSON object on a line of its own: for programs, behind --json.
 *
 * Members come in the order in which they are added. What goes wrong on the way (memory) is kept
 * and told at the end, so callers need not look. Owner: the caller, who must end what it began.
 */
#ifndef EK_DAEMON_SUMMARY_H
#define EK_DAEMON_SUMMARY_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ek_summary {
    struct ek_buf text;
    int rc;
    const char *comma; /* in front of what comes next */
};

void ek_summary_begin(struct ek_summary *s);
/* key NULL, here and below: a member of an array. text NULL: null. Bytes that are no UTF-8 become
 * U+FFFD. */
void ek_summary_text(struct ek_summary *s, const char *key, const char *text);
void ek_summary_count(struct ek_summary *s, const char *key, uint64_t count);
void ek_summary_integer(struct ek_summary *s, const char *key, int64_t number);
/* Nine digits; null where it is not finite. */
void ek_summary_number(struct ek_summary *s, const char *key, double number);
void ek_summary_flag(struct ek_summary *s, const char *key, bool flag);
/* An array or an object, '[' or '{', until its closing bracket. */
void ek_summary_open(struct ek_summary *s, const char *key, char bracket);
void ek_summary_close(struct ek_summary *s, char bracket);
/* Writes the line, or nothing: EK_ENOMEM. Always releases it. */
int ek_summary_end(struct ek_summary *s, FILE *to, struct ek_error *e);

#endif
