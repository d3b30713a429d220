#include "daemon/http/server.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/base/metrics.h"
#include "daemon/base/process.h"
#include "daemon/base/address.h"
#include "daemon/http/control_api.h"
#include "daemon/http/event_stream.h"
#include "daemon/http/host_check.h"
#include "daemon/http/pages.h"

#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Seconds until a client may come again for what is full now. */
static const char RETRY_SECONDS[] = "5";

static const char ANSWER_POLICY[] = "default-src 'none'; frame-ancestors 'none'";

void ek_http_headers(struct MHD_Response *response, const char *type)
{
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy", ANSWER_POLICY);
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status, const char *type,
                             const char *allow, struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    ek_http_headers(response, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_SECONDS);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result queue_body(struct MHD_Connection *connection, unsigned status,
                                  const char *type, const char *allow, const struct ek_buf *body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->length, body->length ? (void *)body->data : (void *)(uintptr_t) "",
        MHD_RESPMEM_MUST_COPY);
    return queue(connection, status, type, allow, response);
}

/* One on its way. */
struct answer {
    struct ek_buf body;
    size_t *load;
};

static void free_response(void *context)
{
    struct answer *a = context;
    *a->load -= a->body.capacity;
    ek_buf_release(&a->body);
    ek_free(a);
}

enum MHD_Result ek_http_respond(struct MHD_Connection *connection, unsigned *status,
                                const char *type, const char *allow, struct ek_buf *body,
                                size_t *load)
{
    if (body->length <= EK_HTTP_SMALL_BYTES)
        return queue_body(connection, *status, type, allow, body);
    if (*load + body->capacity > EK_HTTP_LOAD_BYTES_MAX)
        return ek_http_reject(connection, *status = MHD_HTTP_SERVICE_UNAVAILABLE,
                              "too many long answers are on their way: come again");
    struct answer *a = ek_calloc(1, sizeof *a);
    if (!a)
        return MHD_NO;
    a->body = *body;
    a->load = load;
    *load += a->body.capacity;
    ek_buf_init(body, 0);
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        a->body.length, a->body.data, free_response, a);
    if (!response)
        free_response(a);
    return queue(connection, *status, type, allow, response);
}

enum MHD_Result ek_http_reject(struct MHD_Connection *connection, unsigned status, const char *why)
{
    struct ek_buf body;
    ek_buf_init(&body, 0);
    ek_buf_text(&body, "{\"error\":");
    ek_buf_json(&body, why, strlen(why));
    ek_buf_text(&body, "}\n");
    enum MHD_Result result =
        body.rc ? MHD_NO : queue_body(connection, status, "application/json", NULL, &body);
    ek_buf_release(&body);
    return result;
}

/* The page has all it needs from where it comes from itself, and nobody frames it. */
static const char PAGE_POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* NULL: the request does not have it. */
static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* A list of words with parameters: "gzip;q=0" is a no, "gzip;q=0.5" a yes. */
static bool accepts_gzip(const char *accepted)
{
    static const char no[] = "gzip;q=0";
    const char *word = accepted ? strstr(accepted, "gzip") : NULL;
    if (!word || strncmp(word, no, sizeof no - 1) != 0)
        return word != NULL;
    word += sizeof no - 1;
    word += strspn(word, ".0");
    return *word >= '1' && *word <= '9';
}

static bool has_it(const char *tags, const char *tag)
{
    return tags && strstr(tags, tag);
}

/* Answers a GET or HEAD: 200, or 304 for who names its tag. */
static enum MHD_Result http_file(struct MHD_Connection *connection,
                                 const struct ek_static_file *file)
{
    bool old = has_it(header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH), file->tag);
    bool packed = accepts_gzip(header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    const unsigned char *bytes = packed ? file->packed : file->plain;
    size_t length = old ? 0 : packed ? file->packed_bytes : file->plain_bytes;
    struct MHD_Response *r =
        MHD_create_response_from_buffer(length, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, file->type);
    MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, file->tag);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    MHD_add_response_header(r, "Content-Security-Policy", PAGE_POLICY);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    if (packed && !old)
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    enum MHD_Result result =
        MHD_queue_response(connection, old ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

enum {
    ANSWER_MS = 60000, /* within which an answer is to be taken */
    BEAT_MS = 200,     /* between two looks at who is overdue, and who has news */
    LEAVE_MS = 5,      /* between two looks at who is still there at the end, */
    LEAVE_LOOKS = 200  /* and how many: it does not wait for ever */
};

struct ek_http {
    struct MHD_Daemon *server;
    struct ek_api api;
    struct ek_http_limits limits;
    char host[EK_HOST_BYTES]; /* that is listened on */
    int port;
    struct ek_http_timeouts *watch;
    struct ek_http_streams *streams;
    pthread_t checkpoint_store;
    bool kept;       /* there is one */
    size_t load;     /* bytes of answers on their way */
    bool background; /* the thread of the server has given way */
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ending;
};

/* One request, from its line to its answer. */
struct exchange {
    struct ek_buf body; /* what came of it, at most EK_API_BODY_BYTES_MAX */
    size_t came;
    bool begun;       /* its headers are there */
    unsigned refused; /* for what its headers say; 0: it is not */
};

static const char *why(unsigned status)
{
    switch (status) {
    case MHD_HTTP_URI_TOO_LONG:
        return "the request line is too long";
    case MHD_HTTP_CONTENT_TOO_LARGE:
        return "the body is too large";
    case MHD_HTTP_BAD_REQUEST:
        return "its headers say twice for whom it is, or how long";
    default:
        return "not under this name: ask for an address, localhost, or a name of "
               "'http.allowed_hosts'";
    }
}

static unsigned post(const struct ek_http *h, struct MHD_Connection *connection, const char *url,
                     const struct exchange *x, struct ek_buf *out)
{
    const struct ek_api_request r = {
        .path = url,
        .authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
        .content_type = header(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
        .origin = header(connection, MHD_HTTP_HEADER_ORIGIN),
        .host = header(connection, MHD_HTTP_HEADER_HOST),
        .hosts = h->limits.hosts,
        .body = x->body.data,
        .length = x->body.length,
        .cut = x->came > EK_API_BODY_BYTES_MAX};
    return ek_api_post(&h->api, &r, out);
}

static const char *argument(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static unsigned get(const struct ek_http *h, struct MHD_Connection *connection, const char *url,
                    const char **type, struct ek_buf *out)
{
    const struct ek_http_query query = {.n = argument(connection, "n"),
                                        .after = argument(connection, "after"),
                                        .feature = argument(connection, "feature")};
    return ek_http_page(h->api.stage, url, &query, type, out);
}

static void count(const struct ek_http *h, unsigned status)
{
    enum ek_counter which = status >= 500   ? EK_COUNT_HTTP_BROKEN
                            : status >= 400 ? EK_COUNT_HTTP_REFUSED
                                            : EK_COUNT_HTTP_GOOD;
    ek_metrics_count(ek_stage_metrics(h->api.stage), which, 1);
}

static bool is(const char *method, const char *name)
{
    return !strcmp(method, name);
}

static bool wants_stream(struct MHD_Connection *connection, const char *url)
{
    const char *accepts = header(connection, MHD_HTTP_HEADER_ACCEPT);
    if (strcmp(url, "/api/v1/events") != 0)
        return false;
    return (accepts && strstr(accepts, "text/event-stream")) ||
           MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "stream", 6, NULL,
                                         NULL);
}

static struct ek_http_timeout *watched(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *at =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return at ? at->socket_context : NULL;
}

static enum MHD_Result stream(const struct ek_http *h, struct MHD_Connection *connection)
{
    const char *last = header(connection, "Last-Event-ID");
    unsigned status;
    enum MHD_Result result = ek_http_streams_open(h->streams, connection, h->api.stage,
                                                  last ? last : argument(connection, "after"),
                                                  watched(connection), &status);
    count(h, status);
    return result;
}

static enum MHD_Result respond(struct ek_http *h, struct MHD_Connection *connection,
                               const char *url, const char *method, const struct exchange *x)
{
    struct ek_buf body;
    const char *type = "application/json";
    bool reads = is(method, MHD_HTTP_METHOD_GET) || is(method, MHD_HTTP_METHOD_HEAD);
    const struct ek_static_file *file = ek_static_file_find(url);
    bool page = file || ek_http_is_page(url);
    const char *methods = ek_api_methods(url); /* of what changes something */
    unsigned status = MHD_HTTP_METHOD_NOT_ALLOWED;
    if (reads && file) {
        count(h, MHD_HTTP_OK);
        return http_file(connection, file);
    }
    if (reads && wants_stream(connection, url))
        return stream(h, connection);
    ek_buf_init(&body, EK_HTTP_LOAD_BYTES_MAX);
    if (reads && methods)
        status = ek_api_get(&h->api, url, &body);
    else if (is(method, MHD_HTTP_METHOD_POST) && !page)
        status = post(h, connection, url, x, &body);
    else if (reads || (!page && !methods))
        status = get(h, connection, url, &type, &body);
    enum MHD_Result result = ek_http_respond(connection, &status, type,
                                             methods ? methods : "GET, HEAD", &body, &h->load);
    count(h, status);
    ek_buf_release(&body);
    return result;
}

static void until(struct ek_http *h, struct MHD_Connection *connection, int64_t more_ms)
{
    ek_http_timeouts_until(h->watch, watched(connection), ek_now_ms() + more_ms);
}

/* Called with the request line, before the headers are there. */
static void *on_line(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct exchange *x = ek_calloc(1, sizeof *x);
    (void)context;
    (void)connection;
    if (!x)
        return NULL;
    ek_buf_init(&x->body, EK_API_BODY_BYTES_MAX);
    if (strlen(uri) > EK_HTTP_URI_BYTES_MAX)
        x->refused = MHD_HTTP_URI_TOO_LONG;
    return x;
}

/* Longer than what would be read of it only to be thrown away. */
static bool is_huge(struct MHD_Connection *connection)
{
    const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t bytes;
    return length && (ek_parse_u64(length, EK_WHOLE, &bytes) || bytes > EK_HTTP_READ_BYTES_MAX);
}

struct framing {
    unsigned hosts, lengths;
};

static enum MHD_Result see(void *context, enum MHD_ValueKind kind, const char *name,
                           const char *value)
{
    struct framing *seen = context;
    (void)kind;
    (void)value;
    seen->hosts += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
    seen->lengths += !strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
                     !strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    return MHD_YES;
}

/* A proxy may read it otherwise than we do: where one request ends, or for whom it is. */
static bool is_ambiguous(struct MHD_Connection *connection)
{
    struct framing seen = {0, 0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, see, &seen);
    return seen.hosts > 1 || seen.lengths > 1;
}

/* Its headers are there: what they say is answered at once, without the body. */
static enum MHD_Result begin(struct ek_http *h, struct MHD_Connection *connection,
                             struct exchange *x)
{
    x->begun = true;
    until(h, connection, h->limits.request_ms);
    if (!x->refused && is_ambiguous(connection))
        x->refused = MHD_HTTP_BAD_REQUEST;
    if (!x->refused && is_huge(connection))
        x->refused = MHD_HTTP_CONTENT_TOO_LARGE;
    if (!x->refused && !ek_http_host_is_allowed(header(connection, MHD_HTTP_HEADER_HOST), h->host,
                                                h->limits.hosts))
        x->refused = MHD_HTTP_MISDIRECTED_REQUEST;
    if (!x->refused)
        return MHD_YES;
    count(h, x->refused);
    return ek_http_reject(connection, x->refused, why(x->refused));
}

/* False: enough of it. */
static bool add_body(struct exchange *x, const char *bytes, size_t length)
{
    x->came += length;
    if (x->came <= EK_API_BODY_BYTES_MAX && ek_buf_add(&x->body, bytes, length))
        return false;
    return x->came <= EK_HTTP_READ_BYTES_MAX;
}

/* Called with the headers, then with parts of the body, then with nothing: time to answer. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct exchange *x = *state;
    (void)version;
    if (!x)
        return MHD_NO; /* without memory */
    if (!x->begun)
        return begin(context, connection, x);
    if (!*upload_size) {
        until(context, connection, ANSWER_MS);
        return respond(context, connection, url, method, x);
    }
    bool more = add_body(x, upload, *upload_size);
    *upload_size = 0;
    return more ? MHD_YES : MHD_NO;
}

static void on_end(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode how)
{
    struct ek_http *h = context;
    struct exchange *x = *state;
    (void)how;
    until(h, connection, h->limits.request_ms);
    if (!x)
        return;
    ek_buf_release(&x->body);
    ek_free(x);
    *state = NULL;
}

/* One without memory for it is not watched, but has the timeout of the server. The first one comes
 * before any can be turned away: from then on the thread of the server, which is libmicrohttpd's,
 * gives way. */
static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
    struct ek_http *h = context;
    const union MHD_ConnectionInfo *at =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!h->background)
        ek_lower_priority();
    h->background = true;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED)
        ek_http_timeouts_stop(h->watch, *state);
    else if (at)
        *state =
            ek_http_timeouts_start(h->watch, at->connect_fd, ek_now_ms() + h->limits.request_ms);
}

/* A socket of our own: the server would share a port that another instance has (SO_REUSEPORT). -1
 * with errno. */
static int listen_on(const struct addrinfo *at, int waiting)
{
    const int on = 1;
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (!bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, waiting))
        return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_storage at = {0};
    socklen_t size = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &size))
        return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

/* The server owns the socket from here on. Its own timeout is of silence alone. */
static int serve(struct ek_http *h, int fd, int family)
{
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     (family == AF_INET6 ? MHD_USE_IPv6 : 0u);
    unsigned silence = (unsigned)((h->limits.request_ms + 999) / 1000);
    h->port = port_of(fd);
    h->server =
        MHD_start_daemon(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET,
                         (MHD_socket)fd, MHD_OPTION_CONNECTION_TIMEOUT, silence,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)h->limits.connections,
                         MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)h->limits.per_address,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)EK_HTTP_CONNECTION_BYTES_MAX,
                         MHD_OPTION_URI_LOG_CALLBACK, on_line, h, MHD_OPTION_NOTIFY_COMPLETED,
                         on_end, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
    return h->server ? EK_OK : EK_EIO;
}

/* Cuts off who is overdue, and wakes the streams that have news. */
static void *run_timeouts(void *context)
{
    struct ek_http *h = context;
    struct timespec next;
    ek_lower_priority();
    pthread_mutex_lock(&h->lock);
    while (!h->ending) {
        pthread_mutex_unlock(&h->lock);
        ek_http_timeouts_expire(h->watch, ek_now_ms());
        ek_http_streams_wake(h->streams, ek_now_ms());
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += BEAT_MS * 1000000L;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        pthread_mutex_lock(&h->lock);
        if (!h->ending)
            pthread_cond_timedwait(&h->end, &h->lock, &next);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static int begin_keeping(struct ek_http *h)
{
    h->kept = !pthread_create(&h->checkpoint_store, NULL, run_timeouts, h);
    return h->kept ? EK_OK : EK_EIO;
}

/* The system's reason begins with a capital. */
static int no_socket(const char *listen, int problem, struct ek_error *e)
{
    const char *why = strerrordesc_np(problem);
    if (!why)
        why = "?";
    return ek_fail(e, EK_EIO, "cannot listen on %s: %c%s", listen, tolower((unsigned char)*why),
                   why + 1);
}

static int start(struct ek_http *h, const char *listen, struct ek_error *e)
{
    const char *port = NULL;
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    int rc = ek_address_split("http.listen", listen, h->host, &port, e);
    if (!rc)
        rc = ek_raise_fd_limit("http.max_connections", h->limits.connections, e);
    if (rc)
        return rc;
    int problem = getaddrinfo(*h->host ? h->host : NULL, port, &hints, &found);
    if (problem)
        return ek_fail(e, EK_ECONFIG, "'http.listen': '%s': %s", listen, gai_strerror(problem));
    int fd = listen_on(found, (int)h->limits.connections);
    if (fd < 0)
        rc = no_socket(listen, errno, e);
    else if (serve(h, fd, found->ai_family) || begin_keeping(h))
        rc = ek_fail(e, EK_EIO, "cannot listen on %s: the server does not start", listen);
    freeaddrinfo(found);
    return rc;
}

static struct ek_http *make(const struct ek_http_limits *limits, const struct ek_api *api)
{
    static const struct ek_http_limits built_in = {64, 48, 16, 10000, NULL};
    pthread_condattr_t monotonic;
    struct ek_http *h = ek_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->api = *api;
    h->limits = limits ? *limits : built_in;
    pthread_mutex_init(&h->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&h->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    h->watch = ek_http_timeouts_new();
    h->streams = h->watch ? ek_http_streams_new((size_t)h->limits.streams, h->watch) : NULL;
    if (h->streams)
        return h;
    ek_http_stop(h);
    return NULL;
}

int ek_http_start(struct ek_http **out, const char *listen, const struct ek_http_limits *limits,
                  const struct ek_api *api, struct ek_log *log, struct ek_error *e)
{
    struct ek_http *h = make(limits, api);
    if (!h)
        return ek_fail(e, EK_ENOMEM, "no memory for the http server");
    int rc = start(h, listen, e);
    if (rc) {
        ek_http_stop(h);
        return rc;
    }
    ek_log_write(log, EK_LOG_INFO, "http_listening", "listen=%s port=%d", listen, ek_http_port(h));
    *out = h;
    return EK_OK;
}

int ek_http_port(const struct ek_http *h)
{
    return h->port;
}

static void end_keeping(struct ek_http *h)
{
    pthread_mutex_lock(&h->lock);
    h->ending = true;
    pthread_cond_signal(&h->end);
    pthread_mutex_unlock(&h->lock);
    if (h->kept)
        pthread_join(h->checkpoint_store, NULL);
}

/* libmicrohttpd (0.9.75) goes by an answer that is not there when it refuses a request by itself
 * while it ends, and crashes. So it ends when nobody is left, which two looks have to say: somebody
 * may have been let in at the very last moment. */
static void end_serving(struct ek_http *h)
{
    const struct timespec pause = {0, LEAVE_MS * 1000000L};
    int fd = MHD_quiesce_daemon(h->server);
    for (int looks = 0, empty = 0; looks < LEAVE_LOOKS && empty < 2; looks++) {
        empty = ek_http_timeouts_expire(h->watch, EK_TIMEOUT_NEVER) ? 0 : empty + 1;
        nanosleep(&pause, NULL);
    }
    MHD_stop_daemon(h->server);
    if (fd >= 0)
        close(fd);
}

void ek_http_stop(struct ek_http *h)
{
    if (!h)
        return;
    end_keeping(h);
    if (h->streams)
        ek_http_streams_close(h->streams);
    if (h->server)
        end_serving(h);
    ek_http_streams_free(h->streams);
    ek_http_timeouts_free(h->watch);
    pthread_cond_destroy(&h->end);
    pthread_mutex_destroy(&h->lock);
    ek_free(h);
}
