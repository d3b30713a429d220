/* Event streams over HTTP: server-sent events of a stage (docs/format/events.md), timeouts of
 * connections, and the connections that receive a stream. Times are monotonic milliseconds. */
#ifndef EK_DAEMON_HTTP_EVENT_STREAM_H
#define EK_DAEMON_HTTP_EVENT_STREAM_H

#include "base/buf.h"
#include "daemon/stage/stage.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EK_STREAM_STATUS_MS = 1000, /* interval of checks for a changed status */
    EK_STREAM_ALIVE_MS = 15000, /* longest silence; then a comment is sent */
    EK_STREAM_BYTES = 64 << 10  /* per block, but at least one event */
};

/* Position of a client in the events. Events are copied from the event log when the client can
 * receive them, so a slow client needs no memory; removed events are reported as missed. Threads:
 * one at a time. */
struct ek_event_stream {
    struct ek_stage *stage;
    int64_t started_ms; /* start of the process, wall time */
    uint64_t after;     /* number of the last event sent */
    bool started, lost; /* lost: the client's last event is of another process */
    int64_t status_due_ms, alive_due_ms;
    struct ek_buf status; /* as sent last */
};

/* Initialize a stream after `last`, the id or number of the client's last event; NULL: new events
 * only; an id of another process: all retained events. Return false if `last` is invalid. Release
 * it in any case. */
bool ek_event_stream_init(struct ek_event_stream *s, struct ek_stage *stage, int64_t started_ms,
                          const char *last);
void ek_event_stream_release(struct ek_event_stream *s);
/* Append the data that is due at now_ms: events, status, or a keep-alive line; nothing otherwise.
 * Return 0 or EK_ENOMEM. */
int ek_event_stream_next(struct ek_event_stream *s, int64_t now_ms, struct ek_buf *out);

/* Deadlines of connections. An idle timeout does not stop a client that sends a byte now and then,
 * so each step of a request has a deadline. An overdue connection is shut down, and the server
 * finds it closed. Threads: any. A descriptor must stay open until ek_http_timeouts_stop. */
struct ek_http_timeouts;
struct ek_http_timeout;

#define EK_TIMEOUT_NEVER INT64_MAX

/* Create a table of deadlines without connections. Return NULL if memory runs out. */
struct ek_http_timeouts *ek_http_timeouts_new(void);
/* Free the table after all connections have stopped. NULL is allowed. */
void ek_http_timeouts_free(struct ek_http_timeouts *w);

/* Add a connection, which is shut down at until_ms. Return its entry, or NULL if memory runs out.
 */
struct ek_http_timeout *ek_http_timeouts_start(struct ek_http_timeouts *w, int fd,
                                               int64_t until_ms);
/* Change the deadline of a connection. `one` may be NULL. */
void ek_http_timeouts_until(struct ek_http_timeouts *w, struct ek_http_timeout *one,
                            int64_t until_ms);
/* Remove a connection and free its entry. `one` may be NULL. */
void ek_http_timeouts_stop(struct ek_http_timeouts *w, struct ek_http_timeout *one);
/* Set the time since which a connection has no complete request; EK_TIMEOUT_NEVER: it has one.
 * `one` may be NULL. */
void ek_http_timeouts_wait(struct ek_http_timeouts *w, struct ek_http_timeout *one,
                           int64_t since_ms);
/* Shut down the connection that has had no complete request for longest, except `but`. Return false
 * if each has one. */
bool ek_http_timeouts_evict(struct ek_http_timeouts *w, const struct ek_http_timeout *but);
/* Shut down overdue connections, each once. Return their number. now_ms EK_TIMEOUT_NEVER shuts down
 * all connections, on each call. */
size_t ek_http_timeouts_expire(struct ek_http_timeouts *w, int64_t now_ms);

/* Connections that receive event streams. A connection without pending data is suspended, and
 * resumed for new data or when the client disconnects, which the server does not detect while it is
 * suspended. A client that does not receive a block within 30 s is disconnected. Threads: _open
 * belongs to the server's thread, _wake and _close to others. */
struct ek_http_streams;

/* Create a set of at most `max` streams. The timeouts must outlive it. Return NULL if memory runs
 * out. */
struct ek_http_streams *ek_http_streams_new(size_t max, struct ek_http_timeouts *timeouts);
/* Free the set after all streams have ended. NULL is allowed. */
void ek_http_streams_free(struct ek_http_streams *s);

/* Queue a streaming response, or an error if there are too many streams or `last` is invalid, and
 * set *status to its status. Return the result of libmicrohttpd. */
enum MHD_Result ek_http_streams_open(struct ek_http_streams *s, struct MHD_Connection *connection,
                                     struct ek_stage *stage, const char *last,
                                     struct ek_http_timeout *timeout, unsigned *status);
/* Resume streams with pending data. Return the number of streams. */
size_t ek_http_streams_wake(struct ek_http_streams *s, int64_t now_ms);
/* End all streams. A server must not stop with suspended connections. */
void ek_http_streams_close(struct ek_http_streams *s);

#endif
