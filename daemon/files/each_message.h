/* Every list of a message file or capture, one after the other. */
#ifndef EK_DAEMON_EACH_MESSAGE_H
#define EK_DAEMON_EACH_MESSAGE_H

#include "base/error.h"
#include "daemon/files/dialect.h"
#include "schema/manifest.h"
#include "lists/query.h"

/* Takes a list; `number` counts from 0, the list dies with the call. */
typedef int ek_take_list(void *context, struct ek_query *q, uint64_t number, struct ek_error *e);

/* Decodes `path` (a capture or bare messages, "-" for standard input) and hands over each list.
 * Ends at the first failure; the error carries file and number of the message, from 1. Messages of
 * an item each (message.layout) are not put together to lists: EK_EUSAGE. Where a configuration
 * expects scores (daemon/files/scores_seen.h) and no list has any, a note on standard error says
 * so. */
int ek_each_message(const struct ek_manifest *m, const struct ek_dialect *dialect, const char *path,
                    ek_take_list *take, void *context, struct ek_error *e);

#endif
