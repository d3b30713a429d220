/* Parsing of listening addresses and broker lists, without name resolution.
 *
 * Errors are EK_ECONFIG without a position and name `key`.
 */
#ifndef EK_DAEMON_BASE_ADDRESS_H
#define EK_DAEMON_BASE_ADDRESS_H

#include "base/error.h"

enum { EK_HOST_BYTES = 256 };

/* Split "host:port" or "[host]:port". `host` has EK_HOST_BYTES bytes and may become empty; *port
 * points into `text`. Port 0 means any. Return 0 or EK_ECONFIG. */
int ek_address_split(const char *key, const char *text, char *host, const char **port,
                     struct ek_error *e);
/* Check a comma-separated list of "host", "host:port" or "[host]:port", each with an optional
 * protocol
 * ("SSL://"). Ports are 1 to 65535. Return 0 or EK_ECONFIG. */
int ek_brokers_check(const char *key, const char *text, struct ek_error *e);

#endif
