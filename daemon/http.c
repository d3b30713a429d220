#include "daemon/http.h"

#include "base/alloc.h"
#include "daemon/address.h"
#include "daemon/api.h"
#include "daemon/cli.h"
#include "daemon/http_file.h"
#include "daemon/http_pages.h"
#include "daemon/metrics.h"

#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TIMEOUT_SECONDS = 10,
    CONNECTIONS_MAX = 64,
    CONNECTION_BYTES = 32 << 10,
    READ_MOST = 16 * EK_API_BODY_BYTES /* of a body that is too large, before it is cut off */
};

struct ek_http {
    struct MHD_Daemon *server;
    struct ek_api api;
    int port;
};

/* One request, from its headers to its answer. */
struct exchange {
    struct ek_buf body; /* what came of it, at most EK_API_BODY_BYTES */
    size_t came;
    int64_t until_ms; /* it is to be complete by then */
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              const char *allow, const struct ek_buf *body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->length, body->length ? (void *)body->data : (void *)(uintptr_t) "",
        MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
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
        .body = x->body.data,
        .length = x->body.length,
        .cut = x->came > EK_API_BODY_BYTES};
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

static enum MHD_Result respond(const struct ek_http *h, struct MHD_Connection *connection,
                               const char *url, const char *method, const struct exchange *x)
{
    struct ek_buf body;
    const char *type = "application/json";
    bool reads = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);
    const char *methods = ek_api_methods(url); /* of what changes something */
    unsigned status = MHD_HTTP_METHOD_NOT_ALLOWED;
    const struct ek_page_file *file = reads ? ek_page_file(url) : NULL;
    if (file) {
        count(h, MHD_HTTP_OK);
        return ek_http_file(connection, file);
    }
    ek_buf_init(&body, 0);
    if (reads && methods)
        status = ek_api_get(&h->api, url, &body);
    else if (reads)
        status = get(h, connection, url, &type, &body);
    else if (methods && !strcmp(method, MHD_HTTP_METHOD_POST))
        status = post(h, connection, url, x, &body);
    count(h, status);
    enum MHD_Result result =
        answer(connection, status, type, methods ? methods : "GET, HEAD", &body);
    ek_buf_release(&body);
    return result;
}

static struct exchange *begin(void)
{
    struct exchange *x = ek_calloc(1, sizeof *x);
    if (!x)
        return NULL;
    ek_buf_init(&x->body, EK_API_BODY_BYTES);
    x->until_ms = ek_now_ms() + 1000 * TIMEOUT_SECONDS;
    return x;
}

/* False: enough of it. */
static bool take(struct exchange *x, const char *bytes, size_t length)
{
    x->came += length;
    if (x->came <= EK_API_BODY_BYTES && ek_buf_add(&x->body, bytes, length))
        return false;
    return x->came <= READ_MOST && ek_now_ms() < x->until_ms;
}

/* Called with the headers, then with parts of the body, then with nothing: time to answer. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct exchange *x = *state;
    (void)version;
    if (!x)
        return (*state = begin()) ? MHD_YES : MHD_NO;
    if (!*upload_size)
        return respond(context, connection, url, method, x);
    bool more = take(x, upload, *upload_size);
    *upload_size = 0;
    return more ? MHD_YES : MHD_NO;
}

static void on_end(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode how)
{
    struct exchange *x = *state;
    (void)context;
    (void)connection;
    (void)how;
    if (!x)
        return;
    ek_buf_release(&x->body);
    ek_free(x);
    *state = NULL;
}

/* A socket of our own: the server would share a port that another instance has (SO_REUSEPORT). -1
 * with errno. */
static int listen_on(const struct addrinfo *at)
{
    const int on = 1;
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (!bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, CONNECTIONS_MAX))
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

/* The server owns the socket from here on. */
static int serve(struct ek_http *h, int fd, int family)
{
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | (family == AF_INET6 ? MHD_USE_IPv6 : 0u);
    h->port = port_of(fd);
    h->server = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_NOTIFY_COMPLETED, on_end, h, MHD_OPTION_END);
    return h->server ? EK_OK : EK_EIO;
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
    char host[EK_HOST_BYTES];
    const char *port = NULL;
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    int rc = ek_address_split("http.listen", listen, host, &port, e);
    if (rc)
        return rc;
    int problem = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (problem)
        return ek_fail(e, EK_ECONFIG, "'http.listen': '%s': %s", listen, gai_strerror(problem));
    int fd = listen_on(found);
    if (fd < 0)
        rc = no_socket(listen, errno, e);
    else if (serve(h, fd, found->ai_family))
        rc = ek_fail(e, EK_EIO, "cannot listen on %s: the server does not start", listen);
    freeaddrinfo(found);
    return rc;
}

int ek_http_start(struct ek_http **out, const char *listen, const struct ek_api *api,
                  struct ek_log *log, struct ek_error *e)
{
    struct ek_http *h = ek_calloc(1, sizeof *h);
    if (!h)
        return ek_fail(e, EK_ENOMEM, "no memory for the http server");
    h->api = *api;
    int rc = start(h, listen, e);
    if (rc) {
        ek_free(h);
        return rc;
    }
    ek_log_write(log, EK_LOG_INFO, "http", "listen=%s port=%d", listen, ek_http_port(h));
    *out = h;
    return EK_OK;
}

int ek_http_port(const struct ek_http *h)
{
    return h->port;
}

void ek_http_stop(struct ek_http *h)
{
    if (!h)
        return;
    MHD_stop_daemon(h->server);
    ek_free(h);
}
