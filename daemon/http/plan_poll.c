#include "daemon/http/plan_poll.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/http/server.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

struct ek_plan_poll {
    struct ek_plan_polls *polls;
    struct ek_plan_poll *next, *before;
    struct MHD_Connection *connection;
    int fd;
    int64_t until_ms;
    char tag[EK_PLAN_TAG_BYTES]; /* of the plan that the client has */
    bool suspended;
};

struct ek_plan_polls {
    pthread_mutex_t lock;    /* protects the list and its elements */
    struct ek_plan_poll all; /* head of a circular list */
    size_t count, max;
    bool closing;
    struct ek_plan_view *view;
};

struct ek_plan_polls *ek_plan_polls_new(size_t max, struct ek_plan_view *view)
{
    struct ek_plan_polls *p = ek_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    p->all.next = p->all.before = &p->all;
    p->max = max;
    p->view = view;
    return p;
}

void ek_plan_polls_free(struct ek_plan_polls *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    ek_free(p);
}

void ek_plan_poll_free(struct ek_plan_poll *poll)
{
    if (!poll)
        return;
    pthread_mutex_lock(&poll->polls->lock);
    poll->next->before = poll->before;
    poll->before->next = poll->next;
    poll->polls->count--;
    pthread_mutex_unlock(&poll->polls->lock);
    ek_free(poll);
}

/* Queue the plan, or 304 if the client has it. */
static enum MHD_Result send_plan(struct ek_plan_polls *p, struct MHD_Connection *connection,
                                 const char *known, size_t *load, unsigned *status)
{
    char tag[EK_PLAN_TAG_BYTES];
    struct ek_buf body;
    ek_buf_init(&body, 0);
    int rc = ek_plan_view_json(p->view, tag, &body);
    *status = rc                            ? MHD_HTTP_INTERNAL_SERVER_ERROR
              : known && strstr(known, tag) ? MHD_HTTP_NOT_MODIFIED
                                            : MHD_HTTP_OK;
    if (*status != MHD_HTTP_OK)
        ek_buf_clear(&body);
    enum MHD_Result result =
        ek_http_respond_tagged(connection, status, "application/json", tag, &body, load);
    ek_buf_release(&body);
    return result;
}

static bool add(struct ek_plan_polls *p, struct ek_plan_poll *poll)
{
    pthread_mutex_lock(&p->lock);
    bool added = p->count < p->max && !p->closing;
    if (added) {
        poll->next = &p->all;
        poll->before = p->all.before;
        poll->before->next = p->all.before = poll;
        p->count++;
        poll->suspended = true;
        MHD_suspend_connection(poll->connection);
    }
    pthread_mutex_unlock(&p->lock);
    return added;
}

/* Suspend the connection until the plan has another tag. Without memory or space, respond with an
 * error. */
static enum MHD_Result wait_for_plan(struct ek_plan_polls *p, struct MHD_Connection *connection,
                                     const char tag[EK_PLAN_TAG_BYTES], struct ek_plan_poll **out,
                                     int64_t wait_ms, unsigned *status)
{
    const union MHD_ConnectionInfo *at =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct ek_plan_poll *poll = ek_calloc(1, sizeof *poll);
    *status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (!poll)
        return MHD_NO;
    poll->polls = p;
    poll->connection = connection;
    poll->fd = at ? at->connect_fd : -1;
    poll->until_ms = ek_now_ms() + wait_ms;
    memcpy(poll->tag, tag, sizeof poll->tag);
    *status = 0;
    if (add(p, poll)) {
        *out = poll;
        return MHD_YES;
    }
    ek_free(poll);
    *status = MHD_HTTP_SERVICE_UNAVAILABLE;
    return ek_http_reject(connection, *status,
                          "too many requests wait for a plan; raise 'http.max_event_streams'");
}

enum MHD_Result ek_plan_polls_respond(struct ek_plan_polls *p, struct MHD_Connection *connection,
                                      struct ek_plan_poll **poll, size_t *load, unsigned *status)
{
    const char *known =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "wait");
    char tag[EK_PLAN_TAG_BYTES];
    int64_t wait_ms = 0;
    if (text && (ek_parse_duration_ms(text, EK_WHOLE, &wait_ms) || wait_ms > EK_PLAN_WAIT_MS_MAX))
        return ek_http_reject(connection, *status = MHD_HTTP_BAD_REQUEST,
                              "'wait' must be a duration of at most 5m, like wait=30s");
    ek_plan_view_tag(p->view, tag);
    bool is_new = known && !strstr(known, tag);
    if (wait_ms > 0 && !*poll && !is_new)
        return wait_for_plan(p, connection, tag, poll, wait_ms, status);
    return send_plan(p, connection, known, load, status);
}

/* Return true if the client has disconnected; the server does not check suspended connections. */
static bool is_closed(const struct ek_plan_poll *poll)
{
    char byte;
    return !recv(poll->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

static void resume(struct ek_plan_poll *poll)
{
    poll->suspended = false;
    MHD_resume_connection(poll->connection);
}

void ek_plan_polls_wake(struct ek_plan_polls *p, int64_t now_ms)
{
    char tag[EK_PLAN_TAG_BYTES];
    pthread_mutex_lock(&p->lock);
    if (p->count)
        ek_plan_view_tag(p->view, tag);
    for (struct ek_plan_poll *poll = p->all.next; poll != &p->all; poll = poll->next)
        if (poll->suspended &&
            (now_ms >= poll->until_ms || strcmp(tag, poll->tag) != 0 || is_closed(poll)))
            resume(poll);
    pthread_mutex_unlock(&p->lock);
}

void ek_plan_polls_close(struct ek_plan_polls *p)
{
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    for (struct ek_plan_poll *poll = p->all.next; poll != &p->all; poll = poll->next)
        if (poll->suspended)
            resume(poll);
    pthread_mutex_unlock(&p->lock);
}
