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

enum { RETRY_MS = 2000 }; /* before he comes again */

/* Where his `last` is of: "NUMBER", taken for one of ours, or an id "STARTED_MS-NUMBER". False: it
 * is neither. */
static bool read_last(struct ek_event_stream *s, const char *last, uint64_t count)
{
    const char *dash = strchr(last, '-');
    uint64_t started = (uint64_t)s->started_ms;
    if ((dash && ek_parse_u64(last, (size_t)(dash - last), &started)) ||
        ek_parse_u64(dash ? dash + 1 : last, EK_WHOLE, &s->after))
        return false;
    bool other = started != (uint64_t)s->started_ms;
    s->lost = other || s->after > count;
    if (s->lost) /* of another process he has none of ours */
        s->after = other ? 0 : count;
    return true;
}

bool ek_event_stream_init(struct ek_event_stream *s, struct ek_stage *stage, int64_t started_ms,
                          const char *last)
{
    uint64_t count = ek_event_log_count(ek_stage_event_log(stage));
    *s = (struct ek_event_stream){.stage = stage, .started_ms = started_ms, .after = count};
    ek_buf_init(&s->status, 0);
    return !last || read_last(s, last, count);
}

void ek_event_stream_release(struct ek_event_stream *s)
{
    ek_buf_release(&s->status);
}

static const char *truth(bool is)
{
    return is ? "true" : "false";
}

static int write_status(const struct ek_event_stream *s, struct ek_buf *out)
{
    struct ek_stage_stats t;
    struct ek_kafka_health_state trouble;
    struct ek_event_log *event_log = ek_stage_event_log(s->stage);
    ek_stage_stats(s->stage, &t);
    bool good = t.ready && !ek_stage_health(s->stage, &trouble);
    return ek_buf_printf(
        out,
        "event: status\ndata: {\"started_ms\":%" PRId64 ",\"ready\":%s,\"paused\":%s,"
        "\"plan_version\":%" PRIu64 ",\"observed_lists\":%" PRIu64 ",\"consumed\":%" PRIu64
        ",\"routed\":%" PRIu64 ",\"dead_letters\":%" PRIu64
        ",\"open_findings\":%zu,\"lag\":%" PRId64 ",\"events\":%" PRIu64 "}\n\n",
        s->started_ms, truth(good), truth(ek_pause_is_on(ek_stage_paused(s->stage))),
        t.plan_version, t.queries, t.consumed, t.routed, t.dead, ek_event_log_open(event_log),
        t.lag, ek_event_log_count(event_log));
}

/* Where it is not what was told last. */
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

/* The number of the first status is where he is: one who comes again before any event goes on
 * there. */
static int begin(struct ek_event_stream *s, struct ek_buf *out)
{
    s->begun = true;
    ek_buf_printf(out, "retry: %d\n\n", RETRY_MS);
    if (s->lost)
        ek_buf_text(out, "event: missed\ndata: {\"missed\":null}\n\n");
    return ek_buf_printf(out, "id: %" PRId64 "-%" PRIu64 "\n", s->started_ms, s->after);
}

int ek_event_stream_next(struct ek_event_stream *s, int64_t now_ms, struct ek_buf *out)
{
    size_t before = out->length;
    int rc = s->begun ? EK_OK : begin(s, out);
    if (!rc && now_ms >= s->status_due_ms) {
        s->status_due_ms = now_ms + EK_STREAM_STATUS_MS;
        rc = add_status(s, out);
    }
    if (!rc)
        rc = ek_event_log_stream(ek_stage_event_log(s->stage), s->started_ms, &s->after,
                                 EK_STREAM_BYTES, out);
    if (!rc && out->length == before && now_ms >= s->alive_due_ms)
        rc = ek_buf_text(out, ": alive\n\n");
    if (out->length > before)
        s->alive_due_ms = now_ms + EK_STREAM_ALIVE_MS;
    return rc;
}

/* Whether _next may have something. */
static bool event_stream_has_news(const struct ek_event_stream *s, int64_t now_ms)
{
    return !s->begun || now_ms >= s->status_due_ms || now_ms >= s->alive_due_ms ||
           ek_event_log_count(ek_stage_event_log(s->stage)) > s->after;
}

struct ek_http_timeout {
    struct ek_http_timeout *next, *before;
    int fd;
    int64_t until_ms;
};

struct ek_http_timeouts {
    pthread_mutex_t lock;
    struct ek_http_timeout all; /* a ring around this one */
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
    size_t cut = 0;
    pthread_mutex_lock(&w->lock);
    for (struct ek_http_timeout *one = w->all.next; one != &w->all; one = one->next) {
        if (now_ms < one->until_ms)
            continue;
        shutdown(one->fd, SHUT_RDWR);
        one->until_ms = EK_TIMEOUT_NEVER;
        cut++;
    }
    pthread_mutex_unlock(&w->lock);
    return cut;
}

enum {
    BLOCK_BYTES = 16 << 10,
    TAKEN_MS = 30000,        /* within which a block is to be taken */
    SOCKET_BYTES = 128 << 10 /* that the system holds for one who does not read */
};

struct follower {
    struct ek_http_streams *of;
    struct follower *next, *before;
    struct MHD_Connection *connection;
    struct ek_http_timeout *watched;
    struct ek_event_stream stream;
    struct ek_buf ready; /* for him, of which `given` bytes are with the server */
    size_t given;
    bool suspended, gone;
    int fd;
};

struct ek_http_streams {
    pthread_mutex_t lock; /* of the ring, and of all in it */
    struct follower all;  /* a ring around this one */
    size_t count, most;
    int64_t started_ms;
    bool closing;
    struct ek_http_timeouts *watch;
};

struct ek_http_streams *ek_http_streams_new(size_t most, struct ek_http_timeouts *watch)
{
    struct ek_http_streams *s = ek_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->all.next = s->all.before = &s->all;
    s->most = most;
    s->started_ms = ek_wall_ms();
    s->watch = watch;
    return s;
}

void ek_http_streams_free(struct ek_http_streams *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    ek_free(s);
}

static void free_follower(void *context)
{
    struct follower *f = context;
    pthread_mutex_lock(&f->of->lock);
    f->next->before = f->before;
    f->before->next = f->next;
    f->of->count--;
    pthread_mutex_unlock(&f->of->lock);
    ek_event_stream_release(&f->stream);
    ek_buf_release(&f->ready);
    ek_free(f);
}

/* False: he has all there is. */
static bool fill(struct follower *f)
{
    if (f->given < f->ready.length)
        return true;
    f->given = 0;
    ek_buf_clear(&f->ready);
    if (ek_event_stream_next(&f->stream, ek_now_ms(), &f->ready))
        ek_buf_clear(&f->ready); /* without memory; he hears of it with the next */
    return f->ready.length > 0;
}

static ssize_t read_stream(void *context, uint64_t at, char *out, size_t most)
{
    struct follower *f = context;
    ssize_t given = 0;
    (void)at;
    pthread_mutex_lock(&f->of->lock);
    if (f->of->closing || f->gone) {
        given = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (fill(f)) {
        size_t left = f->ready.length - f->given;
        given = (ssize_t)(left < most ? left : most);
        memcpy(out, f->ready.data + f->given, (size_t)given);
        f->given += (size_t)given;
    } else {
        f->suspended = true;
        MHD_suspend_connection(f->connection);
    }
    ek_http_timeouts_until(f->of->watch, f->watched,
                           f->suspended ? EK_TIMEOUT_NEVER : ek_now_ms() + TAKEN_MS);
    pthread_mutex_unlock(&f->of->lock);
    return given;
}

/* Else the system would hold megabytes for one who does not read before that is seen. */
static void limit_buffer(const struct follower *f)
{
    const int bytes = SOCKET_BYTES;
    setsockopt(f->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

/* Which the server would not see while it is suspended. */
static bool is_closed(const struct follower *f)
{
    char byte;
    return !recv(f->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

static int descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *at =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return at ? at->connect_fd : -1;
}

static enum MHD_Result answer(struct follower *f)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream, f, free_follower);
    if (!response) {
        free_follower(f);
        return MHD_NO;
    }
    ek_http_headers(response, "text/event-stream");
    MHD_add_response_header(response, "X-Accel-Buffering", "no"); /* to a proxy: pass it on */
    limit_buffer(f);
    enum MHD_Result result = MHD_queue_response(f->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* False: he is one too many. */
static bool enter(struct ek_http_streams *s, struct follower *f)
{
    pthread_mutex_lock(&s->lock);
    bool room = s->count < s->most && !s->closing;
    if (room) {
        f->next = &s->all;
        f->before = s->all.before;
        f->before->next = s->all.before = f;
        s->count++;
    }
    pthread_mutex_unlock(&s->lock);
    return room;
}

enum MHD_Result ek_http_streams_open(struct ek_http_streams *s, struct MHD_Connection *connection,
                                     struct ek_stage *stage, const char *last,
                                     struct ek_http_timeout *watched, unsigned *status)
{
    struct follower *f = ek_calloc(1, sizeof *f);
    *status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (!f)
        return MHD_NO;
    f->of = s;
    f->connection = connection;
    f->fd = descriptor(connection);
    f->watched = watched;
    ek_buf_init(&f->ready, 0);
    bool good = ek_event_stream_init(&f->stream, stage, s->started_ms, last);
    *status = good ? MHD_HTTP_OK : MHD_HTTP_BAD_REQUEST;
    if (good && enter(s, f))
        return answer(f);
    if (good)
        *status = MHD_HTTP_SERVICE_UNAVAILABLE;
    ek_event_stream_release(&f->stream);
    ek_free(f);
    return ek_http_reject(connection, *status,
                          good
                              ? "as many follow the events as 'http.max_event_streams' allows"
                              : "'after' and Last-Event-ID are the id or number of an event, or 0");
}

static void resume(struct follower *f)
{
    f->suspended = false;
    MHD_resume_connection(f->connection);
}

size_t ek_http_streams_wake(struct ek_http_streams *s, int64_t now_ms)
{
    pthread_mutex_lock(&s->lock);
    for (struct follower *f = s->all.next; f != &s->all; f = f->next) {
        f->gone |= f->suspended && is_closed(f);
        if (f->suspended && (f->gone || event_stream_has_news(&f->stream, now_ms)))
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
    for (struct follower *f = s->all.next; f != &s->all; f = f->next)
        if (f->suspended)
            resume(f);
    pthread_mutex_unlock(&s->lock);
}
