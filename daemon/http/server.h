/* HTTP server of a stage: health, metrics, API and pages (the only user of libmicrohttpd besides
 * event_stream.h). It runs on threads of its own. */
#ifndef EK_DAEMON_HTTP_SERVER_H
#define EK_DAEMON_HTTP_SERVER_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/base/log.h"
#include "daemon/http/control_api.h"
#include "daemon/http/static_files.h"

#include <microhttpd.h>

/* Add to a response the headers of all responses except static files: content type, no caching, no
 * content sniffing, no framing, no subresources. Server thread. */
void ek_http_headers(struct MHD_Response *response, const char *type);
enum { EK_HTTP_SMALL_BYTES = 64 << 10, EK_HTTP_LOAD_BYTES_MAX = 32 << 20 };
/* Queue a response with a copy or the memory of `body`, which the caller releases in any case.
 * allow: methods of the path, for 405. *load counts the bytes of large responses in flight; a body
 * above EK_HTTP_SMALL_BYTES that would raise it above EK_HTTP_LOAD_BYTES_MAX is replaced by a 503
 * error, and *status set. Return the result of libmicrohttpd. Server thread. */
enum MHD_Result ek_http_respond(struct MHD_Connection *connection, unsigned *status,
                                const char *type, const char *allow, struct ek_buf *body,
                                size_t *load);
/* Queue a response as ek_http_respond, with an entity tag. */
enum MHD_Result ek_http_respond_tagged(struct MHD_Connection *connection, unsigned *status,
                                       const char *type, const char *tag, struct ek_buf *body,
                                       size_t *load);
/* Queue the response {"error": why} with this status. Return the result of libmicrohttpd. Server
 * thread. */
enum MHD_Result ek_http_reject(struct MHD_Connection *connection, unsigned status, const char *why);

/* GET and HEAD: /ping /ready /version /metrics /api/v1/status ... (daemon/http/pages.h) and static
 * files; POST: /api/v1/pause ... (daemon/http/control_api.h); /api/v1/events also as a stream
 * (daemon/http/event_stream.h). Each step of a connection has a deadline: headers, body, receiving
 * the response, idling. The server has one thread for requests and one for deadlines. Stage, reload
 * service and tokens must outlive it. */
struct ek_http;

enum {
    EK_HTTP_URI_BYTES_MAX = 8 << 10,                    /* of a path with its query */
    EK_HTTP_CONNECTION_BYTES_MAX = 32 << 10,            /* of a request line with its headers */
    EK_HTTP_READ_BYTES_MAX = 16 * EK_API_BODY_BYTES_MAX /* of a body, before 413 */
};

/* As in docs/config.md. */
struct ek_http_limits {
    int64_t connections, per_address, streams, request_ms;
    const struct ek_text_list *hosts; /* NULL: none; must outlive the server */
};

/* Check that a server could listen at `listen` now, before work that takes long. Return 0,
 * EK_ENOMEM, EK_ECONFIG for an invalid address, or EK_EIO if it is not available. */
int ek_http_check_address(const char *listen, struct ek_error *e);
/* Start a server. listen: "127.0.0.1:9464", "[::1]:9464", "localhost:9464"; port 0: any free port.
 * limits: NULL: defaults. api: copied. Return 0, EK_ENOMEM, EK_ECONFIG for an invalid address, or
 * EK_EIO if it is not available; a port is never shared with another process. */
int ek_http_start(struct ek_http **out, const char *listen, const struct ek_http_limits *limits,
                  const struct ek_api *api, struct ek_log *log, struct ek_error *e);
/* Return the port that the server listens at, also if port 0 was requested. */
int ek_http_port(const struct ek_http *h);
/* End all connections, stop the server and free it. NULL is allowed. */
void ek_http_stop(struct ek_http *h);

#endif
