/* Requests for the plan: entity tags, and long polls that wait for another plan.
 *
 * A connection that waits is suspended, and resumed for a new plan, at its time limit, or when the
 * client disconnects, so it needs no thread. Threads: _respond and _free_one belong to the server's
 * thread, _wake and _close to others. Times are monotonic milliseconds.
 */
#ifndef EK_DAEMON_HTTP_PLAN_POLL_H
#define EK_DAEMON_HTTP_PLAN_POLL_H

#include "daemon/views/plan_view.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_PLAN_WAIT_MS_MAX = 300000 };

struct ek_plan_polls;
struct ek_plan_poll;

/* Create a set of at most `max` waiting requests. The view must outlive it; it may be
 * NULL if no request comes. Return NULL if out of
 * memory. */
struct ek_plan_polls *ek_plan_polls_new(size_t max, struct ek_plan_view *view);
/* Free the set after all requests have ended. NULL is allowed. */
void ek_plan_polls_free(struct ek_plan_polls *p);

/* Respond to GET or HEAD with 200, with 304 if the client has the plan, or with 400 or 503; or,
 * with the argument `wait`, suspend the connection and set *poll, which starts as NULL: the server
 * calls again after the wait. Set *status to the status; 0: it waits. load: as for ek_http_respond.
 * Return the result of libmicrohttpd. */
enum MHD_Result ek_plan_polls_respond(struct ek_plan_polls *p, struct MHD_Connection *connection,
                                      struct ek_plan_poll **poll, size_t *load, unsigned *status);
/* Free a poll at the end of its request. NULL is allowed. */
void ek_plan_poll_free(struct ek_plan_poll *poll);
/* Resume connections whose wait has ended. */
void ek_plan_polls_wake(struct ek_plan_polls *p, int64_t now_ms);
/* Resume all connections, and accept no more waits. A server must not stop with suspended
 * connections. */
void ek_plan_polls_close(struct ek_plan_polls *p);

#endif
