/* Answers of the HTTP server: the headers that each has, and errors. Threads: that of the server.
 */
#ifndef EK_DAEMON_HTTP_SERVER_H
#define EK_DAEMON_HTTP_SERVER_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/base/log.h"
#include "daemon/http/control_api.h"
#include "daemon/http/static_files.h"

#include <microhttpd.h>

/* What every answer says to a browser: nothing is kept, nothing is guessed, no page has it in a
 * frame, and it loads nothing. Files of the page have others (daemon/http/server.h). */
void ek_http_headers(struct MHD_Response *response, const char *type);
/* Queues the body; allow: methods of the path, for 405. The memory of the body is the answer's:
 * *load has the bytes of such answers that are on their way, and less when one was taken, or given
 * up. 503 in its place where it is longer than EK_HTTP_SMALL_BYTES and all together would be more
 * than EK_HTTP_LOAD_BYTES_MAX; *status says which it was. */
enum { EK_HTTP_SMALL_BYTES = 64 << 10, EK_HTTP_LOAD_BYTES_MAX = 32 << 20 };
enum MHD_Result ek_http_respond(struct MHD_Connection *connection, unsigned *status,
                                const char *type, const char *allow, struct ek_buf *body,
                                size_t *load);
/* The same, {"error": why}. */
enum MHD_Result ek_http_reject(struct MHD_Connection *connection, unsigned status, const char *why);

/* How a file of the page goes out: packed where the browser takes that, and not again when it has
 * it. */

/* The HTTP side of a stage: health, metrics, API (libmicrohttpd; nobody else includes it).
 *
 * /ping /ready /version /metrics /api/v1/status /api/v1/findings /api/v1/plan /api/v1/events?n=
 * /api/v1/features /api/v1/features/NAME /api/v1/history?n=&after=&feature=
 * and others (daemon/http/pages.h) with GET and HEAD; /api/v1/pause, ... with POST
 * (daemon/http/control_api.h); /api/v1/events as a stream (daemon/http/event_stream.h). A
 * connection has a limited time for each step: the headers, the body, taking the answer, being
 * idle. Owner: the caller. Threads: the server has one of its own, and one that keeps time; stage,
 * steward and tokens must outlive it.
 */
struct ek_http;

enum {
    EK_HTTP_URI_BYTES_MAX = 8 << 10,         /* of a path with what is asked of it */
    EK_HTTP_CONNECTION_BYTES_MAX = 32 << 10, /* what a request line with its headers may take */
    EK_HTTP_READ_BYTES_MAX =
        16 * EK_API_BODY_BYTES_MAX /* of a body, to tell that it is too large */
};

/* As in docs/config.md. */
struct ek_http_limits {
    int64_t connections, per_address, streams, request_ms;
    const struct ek_text_list *hosts; /* NULL: none; good as long as the server */
};

/* listen: "127.0.0.1:9464", "[::1]:9464", "localhost:9464"; port 0 takes a free one. limits: NULL:
 * those built in. api: what is shown and may be changed; copied. EK_ECONFIG for an address that is
 * none, EK_EIO when it cannot be had: a port that another process has is never shared. */
int ek_http_start(struct ek_http **out, const char *listen, const struct ek_http_limits *limits,
                  const struct ek_api *api, struct ek_log *log, struct ek_error *e);
int ek_http_port(const struct ek_http *h);
/* NULL is allowed. */
void ek_http_stop(struct ek_http *h);

#endif
