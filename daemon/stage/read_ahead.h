/* Messages that one of several workers reads before it needs the guard, which moves from one
 * processor to another with each that does.
 *
 * Each has a context, and contexts grow with their lists. The first one, of which the others share
 * reader and scorer, stays as large as it became; of the others only the last that is used may be
 * large, and gives back what it took. So a worker's memory is that of two large lists and many
 * small ones, whatever comes, and a large list makes the next batch no shorter.
 * Owner: the worker. One thread.
 */
#ifndef EK_DAEMON_READ_AHEAD_H
#define EK_DAEMON_READ_AHEAD_H

#include "daemon/guard/shared_guard.h"

enum {
    EK_AHEAD_MOST = 32,
    EK_AHEAD_MESSAGE = 65536,            /* bytes of a message that is read alone */
    EK_AHEAD_LIST = 4 * EK_AHEAD_MESSAGE /* that few bytes became: none is read behind it */
};

/* How many of the messages can be read together, which have a context each: at least one. */
size_t ek_ahead_of(struct ek_ticket *const *tickets, size_t count);
/* Reads them, each into the list of its place, which has a context. Returns how many it read: what
 * is behind a large list waits. */
size_t ek_ahead_read(struct ek_shared_list *lists, struct ek_ticket *const *tickets, size_t count,
                     void (*read)(void *context, const struct ek_ticket *t,
                                  struct ek_shared_list *l),
                     void *context);
/* When their lists are done with. */
void ek_ahead_done(struct ek_shared_list *lists, size_t count);

#endif
