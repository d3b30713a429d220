/* The events of a stage as server-sent events (the HTML standard's text/event-stream), for one who
 * follows them: where he is, and what he is to be sent next (docs/format/events.md).
 *
 * Events are copied from the journal when he can take them, so one who is slow costs no memory;
 * what the journal has forgotten by then he is told to have missed. Value type,
 * ek_event_stream_release. Times are monotonic milliseconds. Threads: one at a time.
 */
#ifndef EK_DAEMON_HTTP_EVENT_STREAM_H
#define EK_DAEMON_HTTP_EVENT_STREAM_H

#include "base/buf.h"
#include "daemon/stage/stage.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EK_STREAM_STATUS_MS = 1000, /* between two looks at the status */
    EK_STREAM_ALIVE_MS = 15000, /* of silence, before a comment */
    EK_STREAM_BYTES = 64 << 10  /* at a time, an event at least */
};

struct ek_event_stream {
    struct ek_stage *stage;
    int64_t started_ms; /* of the process, by the wall */
    uint64_t after;     /* number of the last event he has */
    bool begun, lost;   /* lost: he comes from elsewhere, and nobody knows what he has missed */
    int64_t status_due_ms, alive_due_ms;
    struct ek_buf status; /* as last told */
};

/* last: id or number of the last event he has, as he says it; NULL: he wants those from now on.
 * With an id of another process he gets all that is kept. False: it is neither. */
bool ek_event_stream_init(struct ek_event_stream *s, struct ek_stage *stage, int64_t started_ms,
                          const char *last);
void ek_event_stream_release(struct ek_event_stream *s);
/* Appends what he is to be sent now; nothing, where there is nothing. EK_ENOMEM. */
int ek_event_stream_next(struct ek_event_stream *s, int64_t now_ms, struct ek_buf *out);

/* Connections with something due: who does not get on with it is cut off.
 *
 * A server that only looks at how long nothing came can be held by who sends a byte now and then;
 * here each step of a request has a moment by which it is to be over. What is overdue is shut down,
 * which the server then finds closed. Times are monotonic milliseconds. Owner: the caller. Threads:
 * any; a descriptor must stay open until its _end.
 */
struct ek_http_timeouts;
struct ek_http_timeout;

#define EK_TIMEOUT_NEVER INT64_MAX

/* NULL without memory. */
struct ek_http_timeouts *ek_http_timeouts_new(void);
/* All connections have ended. NULL is allowed. */
void ek_http_timeouts_free(struct ek_http_timeouts *w);

/* NULL without memory. */
struct ek_http_timeout *ek_http_timeouts_start(struct ek_http_timeouts *w, int fd,
                                               int64_t until_ms);
/* NULL is allowed for `one`. */
void ek_http_timeouts_until(struct ek_http_timeouts *w, struct ek_http_timeout *one,
                            int64_t until_ms);
void ek_http_timeouts_stop(struct ek_http_timeouts *w, struct ek_http_timeout *one);
/* Shuts down what is overdue, each once; how many that were. At EK_TIMEOUT_NEVER it is all there
 * are, again each time. */
size_t ek_http_timeouts_expire(struct ek_http_timeouts *w, int64_t now_ms);

/* Connections that follow the events of a stage (daemon/http/event_stream.h).
 *
 * One who has all there is is suspended, which costs nothing, and resumed when there is more, or he
 * has gone, which the server does not see by itself. One who does not take what he
 * was given in half a minute is cut off. Owner: the caller. Threads: _open is for that of the
 * server, _wake and _close for any other.
 */
struct ek_http_streams;

/* At most so many at a time. NULL without memory. */
struct ek_http_streams *ek_http_streams_new(size_t most, struct ek_http_timeouts *watch);
/* All have ended. NULL is allowed. */
void ek_http_streams_free(struct ek_http_streams *s);

/* Queues the answer that follows the events; or that he is one too many, or that `last` is neither
 * id nor number. *status: of that answer. */
enum MHD_Result ek_http_streams_open(struct ek_http_streams *s, struct MHD_Connection *connection,
                                     struct ek_stage *stage, const char *last,
                                     struct ek_http_timeout *watched, unsigned *status);
/* Resumes those for whom there is something. How many streams there are. */
size_t ek_http_streams_wake(struct ek_http_streams *s, int64_t now_ms);
/* They end, all of them and soon; a server must not stop with suspended ones. */
void ek_http_streams_close(struct ek_http_streams *s);

#endif
