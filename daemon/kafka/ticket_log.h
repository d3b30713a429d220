/* A log line about one message, with its place: `topic=scored partition=2 offset=17 class=format
 * message="..."`. Threads: whoever works on the ticket. */
#ifndef EK_DAEMON_TICKET_LOG_H
#define EK_DAEMON_TICKET_LOG_H

#include "daemon/kafka/lanes.h"
#include "daemon/base/log.h"

/* `event` as in ek_log_write; class is a word, NULL: there is none. Without memory for the text the
 * line goes without it. */
void ek_ticket_log(struct ek_log *l, enum ek_log_level level, const char *event,
                   const struct ek_ticket *t, const char *class, const char *text);

#endif
