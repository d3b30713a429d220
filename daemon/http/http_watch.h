/* Connections with something due: who does not get on with it is cut off.
 *
 * A server that only looks at how long nothing came can be held by who sends a byte now and then;
 * here each step of a request has a moment by which it is to be over. What is overdue is shut down,
 * which the server then finds closed. Times are monotonic milliseconds. Owner: the caller. Threads:
 * any; a descriptor must stay open until its _end.
 */
#ifndef EK_DAEMON_HTTP_WATCH_H
#define EK_DAEMON_HTTP_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct ek_http_watch;
struct ek_watched;

#define EK_WATCH_NEVER INT64_MAX

/* NULL without memory. */
struct ek_http_watch *ek_http_watch_new(void);
/* All connections have ended. NULL is allowed. */
void ek_http_watch_free(struct ek_http_watch *w);

/* NULL without memory. */
struct ek_watched *ek_http_watch_begin(struct ek_http_watch *w, int fd, int64_t until_ms);
/* NULL is allowed for `one`. */
void ek_http_watch_until(struct ek_http_watch *w, struct ek_watched *one, int64_t until_ms);
void ek_http_watch_end(struct ek_http_watch *w, struct ek_watched *one);
/* Shuts down what is overdue, each once; how many that were. At EK_WATCH_NEVER it is all there are,
 * again each time. */
size_t ek_http_watch_sweep(struct ek_http_watch *w, int64_t now_ms);

#endif
