/* The events of a stage as server-sent events (the HTML standard's text/event-stream), for one who
 * follows them: where he is, and what he is to be sent next (docs/format/events.md).
 *
 * Events are copied from the journal when he can take them, so one who is slow costs no memory;
 * what the journal has forgotten by then he is told to have missed. Value type,
 * ek_event_stream_release. Times are monotonic milliseconds. Threads: one at a time.
 */
#ifndef EK_DAEMON_EVENT_STREAM_H
#define EK_DAEMON_EVENT_STREAM_H

#include "base/buf.h"
#include "daemon/stage/stage.h"

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
/* Whether _next may have something. */
bool ek_event_stream_has_news(const struct ek_event_stream *s, int64_t now_ms);

#endif
