#include "daemon/http/http_stream.h"

#include "daemon/base/clock.h"
#include "base/alloc.h"
#include "daemon/http/http_answer.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BLOCK_BYTES = 16 << 10,
    TAKEN_MS = 30000,        /* within which a block is to be taken */
    SOCKET_BYTES = 128 << 10 /* that the system holds for one who does not read */
};

struct follower {
    struct ek_http_streams *of;
    struct follower *next, *before;
    struct MHD_Connection *connection;
    struct ek_watched *watched;
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
    struct ek_http_watch *watch;
};

struct ek_http_streams *ek_http_streams_new(size_t most, struct ek_http_watch *watch)
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

static void forget(void *context)
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

static ssize_t give(void *context, uint64_t at, char *out, size_t most)
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
    ek_http_watch_until(f->of->watch, f->watched,
                        f->suspended ? EK_WATCH_NEVER : ek_now_ms() + TAKEN_MS);
    pthread_mutex_unlock(&f->of->lock);
    return given;
}

/* Else the system would hold megabytes for one who does not read before that is seen. */
static void hold_little(const struct follower *f)
{
    const int bytes = SOCKET_BYTES;
    setsockopt(f->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

/* Which the server would not see while it is suspended. */
static bool has_gone(const struct follower *f)
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
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, give, f, forget);
    if (!response) {
        forget(f);
        return MHD_NO;
    }
    ek_http_headers(response, "text/event-stream");
    MHD_add_response_header(response, "X-Accel-Buffering", "no"); /* to a proxy: pass it on */
    hold_little(f);
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
                                     struct ek_watched *watched, unsigned *status)
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
    return ek_http_refuse(connection, *status,
                          good
                              ? "as many follow the events as 'http.streams' allows"
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
        f->gone |= f->suspended && has_gone(f);
        if (f->suspended && (f->gone || ek_event_stream_has_news(&f->stream, now_ms)))
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
