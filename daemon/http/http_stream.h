/* Connections that follow the events of a stage (daemon/http/event_stream.h).
 *
 * One who has all there is is suspended, which costs nothing, and resumed when there is more, or he
 * has gone, which the server does not see by itself. One who does not take what he
 * was given in half a minute is cut off. Owner: the caller. Threads: _open is for that of the
 * server, _wake and _close for any other.
 */
#ifndef EK_DAEMON_HTTP_STREAM_H
#define EK_DAEMON_HTTP_STREAM_H

#include "daemon/http/event_stream.h"
#include "daemon/http/http_watch.h"

#include <microhttpd.h>

struct ek_http_streams;

/* At most so many at a time. NULL without memory. */
struct ek_http_streams *ek_http_streams_new(size_t most, struct ek_http_watch *watch);
/* All have ended. NULL is allowed. */
void ek_http_streams_free(struct ek_http_streams *s);

/* Queues the answer that follows the events; or that he is one too many, or that `last` is neither
 * id nor number. *status: of that answer. */
enum MHD_Result ek_http_streams_open(struct ek_http_streams *s, struct MHD_Connection *connection,
                                     struct ek_stage *stage, const char *last,
                                     struct ek_watched *watched, unsigned *status);
/* Resumes those for whom there is something. How many streams there are. */
size_t ek_http_streams_wake(struct ek_http_streams *s, int64_t now_ms);
/* They end, all of them and soon; a server must not stop with suspended ones. */
void ek_http_streams_close(struct ek_http_streams *s);

#endif
