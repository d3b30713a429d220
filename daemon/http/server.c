#include "daemon/http/server.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/base/descriptor.h"
#include "daemon/base/metrics.h"
#include "daemon/base/process.h"
#include "daemon/base/url.h"
#include "daemon/http/control_api.h"
#include "daemon/http/event_stream.h"
#include "daemon/http/pages.h"
#include "daemon/http/plan_poll.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
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

/* Retry-After of 503, in seconds. */
static const char RETRY_SECONDS[] = "5";

static const char RESPONSE_POLICY[] = "default-src 'none'; frame-ancestors 'none'";

void ek_http_headers(struct MHD_Response *response, const char *type)
{
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy", RESPONSE_POLICY);
}

/* Headers that not all responses have. */
struct head {
    const char *type;
    const char *allow; /* of 405 */
    const char *tag;   /* NULL: none */
};

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             const struct head *head, struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    ek_http_headers(response, head->type);
    if (head->tag)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, head->tag);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, head->allow);
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_SECONDS);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result queue_body(struct MHD_Connection *connection, unsigned status,
                                  const struct head *head, const struct ek_buf *body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->length, body->length ? (void *)body->data : (void *)(uintptr_t) "",
        MHD_RESPMEM_MUST_COPY);
    return queue(connection, status, head, response);
}

/* Large response in flight. */
struct large_response {
    struct ek_buf body;
    size_t *load;
};

static void free_response(void *context)
{
    struct large_response *a = context;
    *a->load -= a->body.capacity;
    ek_buf_release(&a->body);
    ek_free(a);
}

static enum MHD_Result respond_with(struct MHD_Connection *connection, unsigned *status,
                                    const struct head *head, struct ek_buf *body, size_t *load)
{
    if (body->length <= EK_HTTP_SMALL_BYTES)
        return queue_body(connection, *status, head, body);
    if (*load + body->capacity > EK_HTTP_LOAD_BYTES_MAX)
        return ek_http_reject(connection, *status = MHD_HTTP_SERVICE_UNAVAILABLE,
                              "too many large responses in flight; retry later");
    struct large_response *a = ek_calloc(1, sizeof *a);
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
    return queue(connection, *status, head, response);
}

enum MHD_Result ek_http_respond(struct MHD_Connection *connection, unsigned *status,
                                const char *type, const char *allow, struct ek_buf *body,
                                size_t *load)
{
    return respond_with(connection, status, &(struct head){.type = type, .allow = allow}, body,
                        load);
}

enum MHD_Result ek_http_respond_tagged(struct MHD_Connection *connection, unsigned *status,
                                       const char *type, const char *tag, struct ek_buf *body,
                                       size_t *load)
{
    return respond_with(connection, status, &(struct head){.type = type, .tag = tag}, body, load);
}

enum MHD_Result ek_http_reject(struct MHD_Connection *connection, unsigned status, const char *why)
{
    struct ek_buf body;
    ek_buf_init(&body, 0);
    int rc = ek_http_error(why, &body);
    enum MHD_Result result =
        rc ? MHD_NO
           : queue_body(connection, status, &(struct head){.type = "application/json"}, &body);
    ek_buf_release(&body);
    return result;
}

/* The page loads resources of its own origin only, and cannot be framed. */
static const char PAGE_POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* Return a header; NULL: absent. */
static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Return true if Accept-Encoding accepts gzip: "gzip;q=0" does not, "gzip;q=0.5" does. */
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

static bool has_tag(const char *tags, const char *tag)
{
    return tags && strstr(tags, tag);
}

/* Respond to GET or HEAD with a static file: 200, or 304 if the client has it. */
static enum MHD_Result http_file(struct MHD_Connection *connection,
                                 const struct ek_static_file *file)
{
    bool unchanged = has_tag(header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH), file->tag);
    bool use_gzip = accepts_gzip(header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    const unsigned char *bytes = use_gzip ? file->packed : file->plain;
    size_t length = unchanged ? 0 : use_gzip ? file->packed_bytes : file->plain_bytes;
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
    if (use_gzip && !unchanged)
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    enum MHD_Result result =
        MHD_queue_response(connection, unchanged ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

enum {
    RESPONSE_MS = 60000,  /* deadline for receiving a response */
    CHECK_MS = 200,       /* interval of checks for deadlines and streams */
    LOG_EVERY_MS = 10000, /* interval of log lines about requests without a valid token */
    STOP_CHECK_MS = 5,    /* at shutdown: interval of checks for connections */
    STOP_CHECKS = 200,    /* at shutdown: checks, at most */
    RESERVED = 8          /* connections above the limit, so that a new one is accepted */
};

struct ek_http {
    struct MHD_Daemon *server;
    struct ek_api api;
    struct ek_http_limits limits;
    char host[EK_HOST_BYTES]; /* listening address */
    int port;
    struct ek_http_timeouts *timeouts;
    struct ek_http_streams *streams;
    struct ek_plan_polls *plan_polls;
    pthread_t timeout_thread;
    bool has_timeout_thread; /* the timeout thread runs */
    size_t load;             /* bytes of large responses in flight */
    int64_t connections;     /* open; of the server's thread */
    bool background;         /* the server's thread has low priority */
    struct ek_log *log;
    uint64_t unauthorized;       /* requests since their last log line; of the server's thread */
    int64_t unauthorized_due_ms; /* earliest time of the next line */
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool stopping;
};

/* Request in progress. */
struct exchange {
    struct ek_buf body; /* received part, at most EK_API_BODY_BYTES_MAX */
    size_t received;
    bool has_headers;          /* headers received */
    unsigned rejected;         /* status of a rejection by headers; 0: none */
    const char *why;           /* its reason; NULL: reason_text */
    struct ek_plan_poll *poll; /* long poll of the plan; NULL: none */
};

static const char *reason_text(unsigned status)
{
    switch (status) {
    case MHD_HTTP_URI_TOO_LONG:
        return "the request line is too long";
    case MHD_HTTP_CONTENT_TOO_LARGE:
        return "the body is too large";
    case MHD_HTTP_BAD_REQUEST:
        return "duplicate Host, Content-Length or Transfer-Encoding header";
    default:
        return "unknown host name; use an address, localhost, or a name of "
               "'http.allowed_hosts'";
    }
}

/* Log requests without a valid token, at intervals with their count since the last line. */
static void log_unauthorized(struct ek_http *h, struct MHD_Connection *connection)
{
    char address[INET6_ADDRSTRLEN + 20] = "?"; /* with the name of an interface */
    int64_t now = ek_now_ms();
    h->unauthorized++;
    if (now < h->unauthorized_due_ms)
        return;
    const union MHD_ConnectionInfo *at =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (at && at->client_addr)
        getnameinfo(at->client_addr,
                    at->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                           : sizeof(struct sockaddr_in),
                    address, sizeof address, NULL, 0, NI_NUMERICHOST);
    ek_log_write(h->log, EK_LOG_WARN, "request_unauthorized", "address=%s count=%" PRIu64, address,
                 h->unauthorized);
    h->unauthorized = 0;
    h->unauthorized_due_ms = now + LOG_EVERY_MS;
}

static unsigned post(struct ek_http *h, struct MHD_Connection *connection, const char *url,
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
        .cut = x->received > EK_API_BODY_BYTES_MAX};
    unsigned status = ek_api_post(&h->api, &r, out);
    if (status == MHD_HTTP_UNAUTHORIZED)
        log_unauthorized(h, connection);
    return status;
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
    return ek_http_page(&h->api, url, &query, type, out);
}

static void count(const struct ek_http *h, unsigned status)
{
    enum ek_counter which = status >= 500   ? EK_COUNT_HTTP_BROKEN
                            : status >= 400 ? EK_COUNT_HTTP_REFUSED
                                            : EK_COUNT_HTTP_GOOD;
    ek_metrics_count(ek_stage_parts(h->api.stage).metrics, which, 1);
}

static bool equal(const char *method, const char *name)
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

static struct ek_http_timeout *get_timeout(struct MHD_Connection *connection)
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
                                                  get_timeout(connection), &status);
    count(h, status);
    return result;
}

/* Respond with the plan, or suspend the connection until there is another one. */
static enum MHD_Result respond_plan(struct ek_http *h, struct MHD_Connection *connection,
                                    struct exchange *x)
{
    unsigned status;
    enum MHD_Result result =
        ek_plan_polls_respond(h->plan_polls, connection, &x->poll, &h->load, &status);
    if (status)
        count(h, status);
    else
        ek_http_timeouts_until(h->timeouts, get_timeout(connection), EK_TIMEOUT_NEVER);
    return result;
}

static enum MHD_Result respond(struct ek_http *h, struct MHD_Connection *connection,
                               const char *url, const char *method, struct exchange *x)
{
    struct ek_buf body;
    const char *type = "application/json";
    bool reads = equal(method, MHD_HTTP_METHOD_GET) || equal(method, MHD_HTTP_METHOD_HEAD);
    const struct ek_static_file *file = ek_static_file_find(url);
    bool page = file || ek_http_is_page(url);
    const char *methods = ek_api_methods(url); /* of the control API */
    unsigned status = MHD_HTTP_METHOD_NOT_ALLOWED;
    if (reads && file) {
        count(h, MHD_HTTP_OK);
        return http_file(connection, file);
    }
    if (reads && wants_stream(connection, url))
        return stream(h, connection);
    if (reads && equal(url, "/api/v1/plan"))
        return respond_plan(h, connection, x);
    ek_buf_init(&body, EK_HTTP_LOAD_BYTES_MAX);
    if (reads && methods)
        status = ek_api_get(&h->api, url, &body);
    else if (equal(method, MHD_HTTP_METHOD_POST) && !page)
        status = post(h, connection, url, x, &body);
    else if (reads || (!page && !methods))
        status = get(h, connection, url, &type, &body);
    enum MHD_Result result = ek_http_respond(connection, &status, type,
                                             methods ? methods : "GET, HEAD", &body, &h->load);
    count(h, status);
    ek_buf_release(&body);
    return result;
}

static void set_deadline(struct ek_http *h, struct MHD_Connection *connection, int64_t more_ms)
{
    ek_http_timeouts_until(h->timeouts, get_timeout(connection), ek_now_ms() + more_ms);
}

/* Return true for an encoded NUL byte in the path, which would end it here but not in a proxy that
 * decides by its ending. */
static bool has_nul(const char *uri)
{
    const char *nul = strstr(uri, "%00"), *query = strchr(uri, '?');
    return nul && (!query || nul < query);
}

/* Callback for the request line, before the headers. */
static void *on_line(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct exchange *x = ek_calloc(1, sizeof *x);
    (void)context;
    (void)connection;
    if (!x)
        return NULL;
    ek_buf_init(&x->body, EK_API_BODY_BYTES_MAX);
    if (strlen(uri) > EK_HTTP_URI_BYTES_MAX)
        x->rejected = MHD_HTTP_URI_TOO_LONG;
    if (!x->rejected && has_nul(uri)) {
        x->rejected = MHD_HTTP_BAD_REQUEST;
        x->why = "the path contains an encoded NUL byte";
    }
    return x;
}

/* Return true if the declared body is too large to read and discard. */
static bool is_huge(struct MHD_Connection *connection)
{
    const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t bytes;
    return length && (ek_parse_u64(length, EK_WHOLE, &bytes) || bytes > EK_HTTP_READ_BYTES_MAX);
}

struct framing {
    unsigned hosts, lengths;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct framing *headers = context;
    (void)kind;
    (void)value;
    headers->hosts += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
    headers->lengths += !strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
                        !strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    return MHD_YES;
}

/* Return true for duplicate headers that a proxy may interpret differently (request smuggling). */
static bool is_ambiguous(struct MHD_Connection *connection)
{
    struct framing headers = {0, 0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &headers);
    return headers.hosts > 1 || headers.lengths > 1;
}

/* Process the headers; a rejection does not wait for the body. */
static enum MHD_Result process_headers(struct ek_http *h, struct MHD_Connection *connection,
                                       struct exchange *x)
{
    x->has_headers = true;
    set_deadline(h, connection, h->limits.request_ms);
    if (!x->rejected && is_ambiguous(connection))
        x->rejected = MHD_HTTP_BAD_REQUEST;
    if (!x->rejected && is_huge(connection))
        x->rejected = MHD_HTTP_CONTENT_TOO_LARGE;
    if (!x->rejected && !ek_http_host_is_allowed(header(connection, MHD_HTTP_HEADER_HOST), h->host,
                                                 h->limits.hosts))
        x->rejected = MHD_HTTP_MISDIRECTED_REQUEST;
    if (!x->rejected)
        return MHD_YES;
    count(h, x->rejected);
    return ek_http_reject(connection, x->rejected, x->why ? x->why : reason_text(x->rejected));
}

/* Store a part of the body. Return false if it is too large to continue. */
static bool add_body(struct exchange *x, const char *bytes, size_t length)
{
    x->received += length;
    if (x->received <= EK_API_BODY_BYTES_MAX && ek_buf_add(&x->body, bytes, length))
        return false;
    return x->received <= EK_HTTP_READ_BYTES_MAX;
}

/* Callback for the headers, then for parts of the body, and at last without data, to respond. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct exchange *x = *state;
    const struct ek_http *h = context;
    (void)version;
    if (!x)
        return MHD_NO; /* out of memory */
    if (!x->has_headers)
        return process_headers(context, connection, x);
    if (!*upload_size) {
        set_deadline(context, connection, RESPONSE_MS);
        ek_http_timeouts_wait(h->timeouts, get_timeout(connection), EK_TIMEOUT_NEVER);
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
    set_deadline(h, connection, h->limits.request_ms);
    ek_http_timeouts_wait(h->timeouts, get_timeout(connection), ek_now_ms());
    if (!x)
        return;
    ek_plan_poll_free(x->poll);
    ek_buf_release(&x->body);
    ek_free(x);
    *state = NULL;
}

/* Above the limit, a new connection displaces the one that has waited longest for its request, so
 * that idle and slow clients do not keep probes out. */
static void start_connection(struct ek_http *h, int fd, void **state)
{
    int64_t now = ek_now_ms();
    struct ek_http_timeout *one =
        ek_http_timeouts_start(h->timeouts, fd, now + h->limits.request_ms);
    ek_http_timeouts_wait(h->timeouts, one, now);
    if (h->connections > h->limits.connections)
        ek_http_timeouts_evict(h->timeouts, one);
    *state = one;
}

/* Callback for a new or closed connection. Without memory for a deadline it only has the server's
 * idle timeout. The first call lowers the priority of the server's thread, which libmicrohttpd
 * creates. */
static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
    struct ek_http *h = context;
    const union MHD_ConnectionInfo *at =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!h->background)
        ek_lower_priority();
    h->background = true;
    h->connections += what == MHD_CONNECTION_NOTIFY_CLOSED ? -1 : 1;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED)
        ek_http_timeouts_stop(h->timeouts, *state);
    else if (at)
        start_connection(h, at->connect_fd, state);
}

/* Return a listening socket, or -1 with errno. libmicrohttpd's own socket would share a port with
 * another instance (SO_REUSEPORT). */
static int listen_on(const struct addrinfo *at, int waiting)
{
    const int on = 1;
    int fd = ek_socket_open(at->ai_family, at->ai_socktype, at->ai_protocol);
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

static int get_port(int fd)
{
    struct sockaddr_storage at = {0};
    socklen_t size = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &size))
        return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

/* Start libmicrohttpd, which then owns the socket. Its timeout only limits idling. */
static int serve(struct ek_http *h, int fd, int family)
{
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     (family == AF_INET6 ? MHD_USE_IPv6 : 0u);
    unsigned idle_s = (unsigned)((h->limits.request_ms + 999) / 1000);
    h->port = get_port(fd);
    h->server =
        MHD_start_daemon(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET,
                         (MHD_socket)fd, MHD_OPTION_CONNECTION_TIMEOUT, idle_s,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)h->limits.connections + RESERVED,
                         MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)h->limits.per_address,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)EK_HTTP_CONNECTION_BYTES_MAX,
                         MHD_OPTION_URI_LOG_CALLBACK, on_line, h, MHD_OPTION_NOTIFY_COMPLETED,
                         on_end, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
    return h->server ? EK_OK : EK_EIO;
}

/* Thread that shuts down overdue connections and resumes streams. */
static void *run_timeouts(void *context)
{
    struct ek_http *h = context;
    ek_lower_priority();
    pthread_mutex_lock(&h->lock);
    while (!h->stopping) {
        pthread_mutex_unlock(&h->lock);
        ek_http_timeouts_expire(h->timeouts, ek_now_ms());
        ek_http_streams_wake(h->streams, ek_now_ms());
        ek_plan_polls_wake(h->plan_polls, ek_now_ms());
        pthread_mutex_lock(&h->lock);
        if (!h->stopping)
            ek_cond_wait_until(&h->end, &h->lock, ek_now_ms() + CHECK_MS);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static int start_timeout_thread(struct ek_http *h)
{
    h->has_timeout_thread = !pthread_create(&h->timeout_thread, NULL, run_timeouts, h);
    return h->has_timeout_thread ? EK_OK : EK_EIO;
}

/* Report a failure to listen; strerror starts with a capital letter. */
static int fail_listen(const char *listen, int problem, struct ek_error *e)
{
    const char *why = strerror(problem);
    return ek_fail(e, EK_EIO, "cannot listen on %s: %c%s", listen, tolower((unsigned char)*why),
                   why + 1);
}

/* Open a listening socket. Set *fd and *family, and `host` to the name before the port. */
static int open_address(const char *listen, char host[EK_HOST_BYTES], int waiting, int *fd,
                        int *family, struct ek_error *e)
{
    const char *port = NULL;
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    int rc = ek_address_split("http.listen", listen, host, &port, e);
    if (rc)
        return rc;
    int problem = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (problem)
        return ek_fail(e, EK_ECONFIG, "'http.listen': '%s': %s", listen, gai_strerror(problem));
    *family = found->ai_family;
    *fd = listen_on(found, waiting);
    if (*fd < 0)
        rc = fail_listen(listen, errno, e);
    freeaddrinfo(found);
    return rc;
}

int ek_http_check_address(const char *listen, struct ek_error *e)
{
    char host[EK_HOST_BYTES];
    int fd = -1, family = 0, rc = open_address(listen, host, 1, &fd, &family, e);
    if (!rc)
        close(fd);
    return rc;
}

static int start(struct ek_http *h, const char *listen, struct ek_error *e)
{
    int fd = -1, family = AF_INET;
    int rc = ek_raise_fd_limit("http.max_connections", h->limits.connections, e);
    if (!rc)
        rc = open_address(listen, h->host, (int)h->limits.connections, &fd, &family, e);
    if (!rc && (serve(h, fd, family) || start_timeout_thread(h)))
        rc = ek_fail(e, EK_EIO, "cannot listen on %s: the server cannot start", listen);
    return rc;
}

static struct ek_http *create(const struct ek_http_limits *limits, const struct ek_api *api)
{
    static const struct ek_http_limits defaults = {64, 48, 16, 10000, NULL};
    struct ek_http *h = ek_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->api = *api;
    h->limits = limits ? *limits : defaults;
    pthread_mutex_init(&h->lock, NULL);
    ek_cond_init(&h->end);
    h->timeouts = ek_http_timeouts_new();
    h->streams = h->timeouts ? ek_http_streams_new((size_t)h->limits.streams, h->timeouts) : NULL;
    h->plan_polls = ek_plan_polls_new((size_t)h->limits.streams,
                                      api->stage ? ek_stage_parts(api->stage).plan : NULL);
    if (h->streams && h->plan_polls)
        return h;
    ek_http_stop(h);
    return NULL;
}

int ek_http_start(struct ek_http **out, const char *listen, const struct ek_http_limits *limits,
                  const struct ek_api *api, struct ek_log *log, struct ek_error *e)
{
    struct ek_http *h = create(limits, api);
    if (!h)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    h->log = log;
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

static void stop_timeout_thread(struct ek_http *h)
{
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_signal(&h->end);
    pthread_mutex_unlock(&h->lock);
    if (h->has_timeout_thread)
        pthread_join(h->timeout_thread, NULL);
}

/* libmicrohttpd (0.9.75) crashes with a NULL response if it rejects a request while stopping. So
 * stop it when two successive checks find no connection, since one may be accepted after the first.
 */
static void stop_server(struct ek_http *h)
{
    const struct timespec pause = {0, STOP_CHECK_MS * 1000000L};
    int fd = MHD_quiesce_daemon(h->server);
    for (int checks = 0, empty = 0; checks < STOP_CHECKS && empty < 2; checks++) {
        empty = ek_http_timeouts_expire(h->timeouts, EK_TIMEOUT_NEVER) ? 0 : empty + 1;
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
    stop_timeout_thread(h);
    if (h->streams)
        ek_http_streams_close(h->streams);
    if (h->plan_polls)
        ek_plan_polls_close(h->plan_polls);
    if (h->server)
        stop_server(h);
    ek_http_streams_free(h->streams);
    ek_plan_polls_free(h->plan_polls);
    ek_http_timeouts_free(h->timeouts);
    pthread_cond_destroy(&h->end);
    pthread_mutex_destroy(&h->lock);
    ek_free(h);
}
