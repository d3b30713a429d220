#include "daemon/http/event_stream.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/http/server.h"
#include "daemon/views/event_log.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

enum { RETRY_MS = 2000 }; /* delay before a client reconnects */

/* Parse "NUMBER", of this process, or an id "STARTED_MS-NUMBER". Return false if it is neither. */
static bool read_last(struct ek_event_stream *s, const char *last, uint64_t count)
{
    const char *dash = strchr(last, '-');
    uint64_t started = (uint64_t)s->started_ms;
    if ((dash && ek_parse_u64(last, (size_t)(dash - last), &started)) ||
        ek_parse_u64(dash ? dash + 1 : last, EK_WHOLE, &s->after))
        return false;
    bool other = started != (uint64_t)s->started_ms;
    s->lost = other || s->after > count;
    if (s->lost) /* the client has no event of this process */
        s->after = other ? 0 : count;
    return true;
}

bool ek_event_stream_init(struct ek_event_stream *s, struct ek_stage *stage, int64_t started_ms,
                          const char *last)
{
    uint64_t count = ek_event_log_count(ek_stage_parts(stage).event_log);
    *s = (struct ek_event_stream){.stage = stage, .started_ms = started_ms, .after = count};
    ek_buf_init(&s->status, 0);
    return !last || read_last(s, last, count);
}

void ek_event_stream_release(struct ek_event_stream *s)
{
    ek_buf_release(&s->status);
}

static const char *bool_text(bool is)
{
    return is ? "true" : "false";
}

static int write_status(const struct ek_event_stream *s, struct ek_buf *out)
{
    struct ek_stage_stats t;
    struct ek_kafka_health_state health;
    struct ek_event_log *event_log = ek_stage_parts(s->stage).event_log;
    ek_stage_stats(s->stage, &t);
    bool good = t.ready && !ek_stage_health(s->stage, &health);
    return ek_buf_printf(
        out,
        "event: status\ndata: {\"started_ms\":%" PRId64 ",\"ready\":%s,\"paused\":%s,"
        "\"plan_version\":%" PRIu64 ",\"observed_lists\":%" PRIu64
        ",\"lists_per_second\":%.3g,\"consumed\":%" PRIu64 ",\"routed\":%" PRIu64
        ",\"dead_letters\":%" PRIu64 ",\"open_findings\":%zu,\"lag\":%" PRId64
        ",\"events\":%" PRIu64 "}\n\n",
        s->started_ms, bool_text(good), bool_text(ek_pause_is_on(ek_stage_parts(s->stage).pause)),
        t.plan_version, t.queries, t.lists_per_second, t.consumed, t.routed, t.dead,
        ek_event_log_open(event_log), t.lag, ek_event_log_count(event_log));
}

/* Append the status if it changed. */
static int add_status(struct ek_event_stream *s, struct ek_buf *out)
{
    struct ek_buf now;
    ek_buf_init(&now, 0);
    int rc = write_status(s, &now);
    bool same =
        now.length == s->status.length && !memcmp(now.data, s->status.data, s->status.length);
    if (!rc && !same) {
        rc = ek_buf_add(out, now.data, now.length);
        ek_buf_clear(&s->status);
        if (!rc)
            rc = ek_buf_add(&s->status, now.data, now.length);
    }
    ek_buf_release(&now);
    return rc;
}

/* Give the first status an id, so a client that reconnects before any event continues there. */
static int write_start(struct ek_event_stream *s, struct ek_buf *out)
{
    s->started = true;
    ek_buf_printf(out, "retry: %d\n\n", RETRY_MS);
    if (s->lost)
        ek_buf_text(out, "event: missed\ndata: {\"missed\":null}\n\n");
    return ek_buf_printf(out, "id: %" PRId64 "-%" PRIu64 "\n", s->started_ms, s->after);
}

int ek_event_stream_next(struct ek_event_stream *s, int64_t now_ms, struct ek_buf *out)
{
    size_t before = out->length;
    int rc = s->started ? EK_OK : write_start(s, out);
    if (!rc && now_ms >= s->status_due_ms) {
        s->status_due_ms = now_ms + EK_STREAM_STATUS_MS;
        rc = add_status(s, out);
    }
    if (!rc)
        rc = ek_event_log_stream(ek_stage_parts(s->stage).event_log, s->started_ms, &s->after,
                                 EK_STREAM_BYTES, out);
    if (!rc && out->length == before && now_ms >= s->alive_due_ms)
        rc = ek_buf_text(out, ": alive\n\n");
    if (out->length > before)
        s->alive_due_ms = now_ms + EK_STREAM_ALIVE_MS;
    return rc;
}

/* Return true if ek_event_stream_next may append data. */
static bool has_pending(const struct ek_event_stream *s, int64_t now_ms)
{
    return !s->started || now_ms >= s->status_due_ms || now_ms >= s->alive_due_ms ||
           ek_event_log_count(ek_stage_parts(s->stage).event_log) > s->after;
}

struct ek_http_timeout {
    struct ek_http_timeout *next, *before;
    int fd;
    int64_t until_ms, waits_ms; /* waits_ms: no complete request since then */
};

struct ek_http_timeouts {
    pthread_mutex_t lock;
    struct ek_http_timeout all; /* head of a circular list */
};

struct ek_http_timeouts *ek_http_timeouts_new(void)
{
    struct ek_http_timeouts *w = ek_calloc(1, sizeof *w);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->all.next = w->all.before = &w->all;
    return w;
}

void ek_http_timeouts_free(struct ek_http_timeouts *w)
{
    if (!w)
        return;
    pthread_mutex_destroy(&w->lock);
    ek_free(w);
}

struct ek_http_timeout *ek_http_timeouts_start(struct ek_http_timeouts *w, int fd, int64_t until_ms)
{
    struct ek_http_timeout *one = ek_calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->fd = fd;
    one->until_ms = until_ms;
    one->waits_ms = EK_TIMEOUT_NEVER;
    one->next = &w->all;
    pthread_mutex_lock(&w->lock);
    one->before = w->all.before;
    one->before->next = w->all.before = one;
    pthread_mutex_unlock(&w->lock);
    return one;
}

void ek_http_timeouts_until(struct ek_http_timeouts *w, struct ek_http_timeout *one,
                            int64_t until_ms)
{
    if (!one)
        return;
    pthread_mutex_lock(&w->lock);
    one->until_ms = until_ms;
    pthread_mutex_unlock(&w->lock);
}

void ek_http_timeouts_wait(struct ek_http_timeouts *w, struct ek_http_timeout *one,
                           int64_t since_ms)
{
    if (!one)
        return;
    pthread_mutex_lock(&w->lock);
    one->waits_ms = since_ms;
    pthread_mutex_unlock(&w->lock);
}

bool ek_http_timeouts_evict(struct ek_http_timeouts *w, const struct ek_http_timeout *but)
{
    struct ek_http_timeout *oldest = NULL;
    pthread_mutex_lock(&w->lock);
    for (struct ek_http_timeout *one = w->all.next; one != &w->all; one = one->next)
        if (one != but && one->waits_ms != EK_TIMEOUT_NEVER &&
            (!oldest || one->waits_ms < oldest->waits_ms))
            oldest = one;
    if (oldest) {
        shutdown(oldest->fd, SHUT_RDWR);
        oldest->until_ms = oldest->waits_ms = EK_TIMEOUT_NEVER;
    }
    pthread_mutex_unlock(&w->lock);
    return oldest != NULL;
}

void ek_http_timeouts_stop(struct ek_http_timeouts *w, struct ek_http_timeout *one)
{
    if (!one)
        return;
    pthread_mutex_lock(&w->lock);
    one->next->before = one->before;
    one->before->next = one->next;
    pthread_mutex_unlock(&w->lock);
    ek_free(one);
}

size_t ek_http_timeouts_expire(struct ek_http_timeouts *w, int64_t now_ms)
{
    size_t expired = 0;
    pthread_mutex_lock(&w->lock);
    for (struct ek_http_timeout *one = w->all.next; one != &w->all; one = one->next) {
        if (now_ms < one->until_ms)
            continue;
        shutdown(one->fd, SHUT_RDWR);
        one->until_ms = EK_TIMEOUT_NEVER;
        expired++;
    }
    pthread_mutex_unlock(&w->lock);
    return expired;
}

enum {
    BLOCK_BYTES = 16 << 10,
    RECEIVE_MS = 30000,      /* deadline for receiving a block */
    SOCKET_BYTES = 128 << 10 /* send buffer of the socket */
};

struct client {
    struct ek_http_streams *streams;
    struct client *next, *before;
    struct MHD_Connection *connection;
    struct ek_http_timeout *timeout;
    struct ek_event_stream stream;
    struct ek_buf ready; /* pending data, of which `sent` bytes are passed on */
    size_t sent;
    bool suspended, gone;
    int fd;
};

struct ek_http_streams {
    pthread_mutex_t lock; /* protects the list and its elements */
    struct client all;    /* head of a circular list */
    size_t count, max;
    int64_t started_ms;
    bool closing;
    struct ek_http_timeouts *timeouts;
};

struct ek_http_streams *ek_http_streams_new(size_t max, struct ek_http_timeouts *timeouts)
{
    struct ek_http_streams *s = ek_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->all.next = s->all.before = &s->all;
    s->max = max;
    s->started_ms = ek_wall_ms();
    s->timeouts = timeouts;
    return s;
}

void ek_http_streams_free(struct ek_http_streams *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    ek_free(s);
}

static void free_client(void *context)
{
    struct client *f = context;
    pthread_mutex_lock(&f->streams->lock);
    f->next->before = f->before;
    f->before->next = f->next;
    f->streams->count--;
    pthread_mutex_unlock(&f->streams->lock);
    ek_event_stream_release(&f->stream);
    ek_buf_release(&f->ready);
    ek_free(f);
}

/* Return true if data is pending. */
static bool fill(struct client *f)
{
    if (f->sent < f->ready.length)
        return true;
    f->sent = 0;
    ek_buf_clear(&f->ready);
    if (ek_event_stream_next(&f->stream, ek_now_ms(), &f->ready))
        ek_buf_clear(&f->ready); /* out of memory; reported as missed by the next call */
    return f->ready.length > 0;
}

static ssize_t read_stream(void *context, uint64_t at, char *out, size_t max)
{
    struct client *f = context;
    ssize_t sent = 0;
    (void)at;
    pthread_mutex_lock(&f->streams->lock);
    if (f->streams->closing || f->gone) {
        sent = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (fill(f)) {
        size_t left = f->ready.length - f->sent;
        sent = (ssize_t)(left < max ? left : max);
        memcpy(out, f->ready.data + f->sent, (size_t)sent);
        f->sent += (size_t)sent;
    } else {
        f->suspended = true;
        MHD_suspend_connection(f->connection);
    }
    ek_http_timeouts_until(f->streams->timeouts, f->timeout,
                           f->suspended ? EK_TIMEOUT_NEVER : ek_now_ms() + RECEIVE_MS);
    pthread_mutex_unlock(&f->streams->lock);
    return sent;
}

/* Limit the socket's send buffer; otherwise the kernel buffers megabytes for a client that does not
 * read. */
static void limit_buffer(const struct client *f)
{
    const int bytes = SOCKET_BYTES;
    setsockopt(f->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

/* Return true if the client has disconnected; the server does not check suspended connections. */
static bool is_closed(const struct client *f)
{
    char byte;
    return !recv(f->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

static int get_fd(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *at =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return at ? at->connect_fd : -1;
}

static enum MHD_Result respond(struct client *f)
{
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                                                      read_stream, f, free_client);
    if (!response) {
        free_client(f);
        return MHD_NO;
    }
    ek_http_headers(response, "text/event-stream");
    MHD_add_response_header(response, "X-Accel-Buffering", "no"); /* proxies must not buffer */
    limit_buffer(f);
    enum MHD_Result result = MHD_queue_response(f->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* Add a stream. Return false if there are too many. */
static bool add_client(struct ek_http_streams *s, struct client *f)
{
    pthread_mutex_lock(&s->lock);
    bool added = s->count < s->max && !s->closing;
    if (added) {
        f->next = &s->all;
        f->before = s->all.before;
        f->before->next = s->all.before = f;
        s->count++;
    }
    pthread_mutex_unlock(&s->lock);
    return added;
}

enum MHD_Result ek_http_streams_open(struct ek_http_streams *s, struct MHD_Connection *connection,
                                     struct ek_stage *stage, const char *last,
                                     struct ek_http_timeout *timeout, unsigned *status)
{
    struct client *f = ek_calloc(1, sizeof *f);
    *status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (!f)
        return MHD_NO;
    f->streams = s;
    f->connection = connection;
    f->fd = get_fd(connection);
    f->timeout = timeout;
    ek_buf_init(&f->ready, 0);
    bool good = ek_event_stream_init(&f->stream, stage, s->started_ms, last);
    *status = good ? MHD_HTTP_OK : MHD_HTTP_BAD_REQUEST;
    if (good && add_client(s, f))
        return respond(f);
    if (good)
        *status = MHD_HTTP_SERVICE_UNAVAILABLE;
    ek_event_stream_release(&f->stream);
    ek_free(f);
    return ek_http_reject(
        connection, *status,
        good ? "too many event streams; raise 'http.max_event_streams'"
             : "'after' and Last-Event-ID must be the id or number of an event, or 0");
}

static void resume(struct client *f)
{
    f->suspended = false;
    MHD_resume_connection(f->connection);
}

size_t ek_http_streams_wake(struct ek_http_streams *s, int64_t now_ms)
{
    pthread_mutex_lock(&s->lock);
    for (struct client *f = s->all.next; f != &s->all; f = f->next) {
        f->gone |= f->suspended && is_closed(f);
        if (f->suspended && (f->gone || has_pending(&f->stream, now_ms)))
            resume(f);
    }
    size_t count = s->count;
    pthread_mutex_unlock(&s->lock);
    return count;
}

void ek_http_streams_close(struct ek_http_streams *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    for (struct client *f = s->all.next; f != &s->all; f = f->next)
        if (f->suspended)
            resume(f);
    pthread_mutex_unlock(&s->lock);
}
