/* Host and Origin checks, against DNS rebinding.
 *
 * With DNS rebinding, a foreign name resolves to this server, so its page has the same origin and
 * could read everything; but its requests have the foreign name as Host. Threads: any.
 */
#ifndef EK_DAEMON_HTTP_HOST_CHECK_H
#define EK_DAEMON_HTTP_HOST_CHECK_H

#include "daemon/config/config.h"

#include <stdbool.h>

/* Return true if the Host header is allowed: an address, localhost, `listen`, or a name of
 * `http.allowed_hosts`. NULL (no header, never from browsers) is allowed. Without names, all hosts
 * are allowed, unless `listen` is a loopback address. */
bool ek_http_host_is_allowed(const char *host, const char *listen,
                             const struct ek_text_list *names);
/* Return true if the Origin header is allowed: equal to the Host header, or a name of
 * `http.allowed_hosts` with any port, since a proxy may send another Host. */
bool ek_http_origin_is_allowed(const char *origin, const char *host,
                               const struct ek_text_list *names);

#endif
