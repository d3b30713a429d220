/* Under which names the HTTP server may be asked (the Host header), and from whose pages (Origin).
 *
 * A page of somebody else's can have its name point here (DNS rebinding), and would then read what
 * it likes, being of the same origin; it cannot have it sent with a name or address of ours. Plain
 * functions; any thread.
 */
#ifndef EK_DAEMON_HTTP_HOST_CHECK_H
#define EK_DAEMON_HTTP_HOST_CHECK_H

#include "daemon/config/config.h"

#include <stdbool.h>

/* host: as the header has it, NULL: not said, as no browser does. listen: the host that is
 * listened on. names: `http.allowed_hosts`; with none all names will do, unless we listen on
 * loopback. */
bool ek_http_host_is_allowed(const char *host, const char *listen,
                             const struct ek_text_list *names);
/* Whether the page a call comes from is ours: of the host that was asked, as both headers have it,
 * or of a name of `http.allowed_hosts`, whatever its port, for a proxy asks under a name of its
 * own. */
bool ek_http_origin_is_allowed(const char *origin, const char *host,
                               const struct ek_text_list *names);

#endif
