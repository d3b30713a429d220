/* The HTTP side of a stage: health, metrics, API (libmicrohttpd; nobody else includes it).
 *
 * /ping /ready /version /metrics /api/v1/status /api/v1/findings /api/v1/plan /api/v1/events?n=
 * /api/v1/features /api/v1/features/NAME /api/v1/history?n=&after=&feature=
 * with GET and HEAD; /api/v1/pause /api/v1/resume with POST (daemon/api.h). Requests that do not
 * end are cut off after 10 seconds; at most 64 at a time. Owner: the caller. Threads: the server
 * has one of its own; stage, steward and tokens must outlive it.
 */
#ifndef EK_DAEMON_HTTP_H
#define EK_DAEMON_HTTP_H

#include "base/error.h"
#include "daemon/api.h"
#include "daemon/log.h"

struct ek_http;

/* listen: "127.0.0.1:9464", "[::1]:9464", "localhost:9464"; port 0 takes a free one. api:
 * what is shown and may be changed; copied.
 * EK_ECONFIG for an address that is none, EK_EIO when it cannot be had: a port that another
 * process has is never shared. */
int ek_http_start(struct ek_http **out, const char *listen, const struct ek_api *api,
                  struct ek_log *log, struct ek_error *e);
int ek_http_port(const struct ek_http *h);
/* NULL is allowed. */
void ek_http_stop(struct ek_http *h);

#endif
