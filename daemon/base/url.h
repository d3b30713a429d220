/* Web addresses (checks, hidden secrets, escapes), listening addresses and broker lists.
 *
 * Everything in an address except scheme, host and port may be a secret (Slack's paths are).
 * libcurl parses them. Threads: any.
 */
#ifndef EK_DAEMON_BASE_URL_H
#define EK_DAEMON_BASE_URL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { EK_URL_REDACTED_BYTES = 320 };

/* Check an address: http:// or https://, a host, an optional port; only visible ASCII, at most
 * 2,000 bytes. Return 0, EK_EFORMAT or EK_ENOMEM. */
int ek_url_check(const char *url);
/* Return whether the host is this machine: localhost, 127.0.0.0/8 or [::1]. False for an invalid
 * address. */
bool ek_url_is_loopback(const char *url);
/* Return whether an address has a user or a password. True for an invalid address, or if memory
 * runs out. */
bool ek_url_has_user(const char *url);
/* Write scheme, host and port, with stars for a path, query or user. Return 0, EK_EFORMAT or
 * EK_ENOMEM; on failure `out` has only stars. */
int ek_url_redact(const char *url, char out[EK_URL_REDACTED_BYTES]);
/* Write text to `out` with everything except letters, digits and -._~ as %XX; cut before `size`,
 * nul-terminated. Return whether all of it fits; the last 3 bytes may stay unused. */
bool ek_url_escape(const char *text, char *out, size_t size);

/* Listening addresses and broker lists are parsed without name resolution; errors are EK_ECONFIG
 * without a position and name `key`. */
enum { EK_HOST_BYTES = 256 };

/* Split "host:port" or "[host]:port". `host` has EK_HOST_BYTES bytes and may become empty; *port
 * points into `text`. Port 0 means any. `key` is named in errors. Return 0 or EK_ECONFIG. */
int ek_address_split(const char *key, const char *text, char *host, const char **port,
                     struct ek_error *e);
/* Check a comma-separated list of "host", "host:port" or "[host]:port", each with an optional
 * protocol ("SSL://"). Ports are 1 to 65535. `key` is named in errors. Return 0 or EK_ECONFIG. */
int ek_brokers_check(const char *key, const char *text, struct ek_error *e);

#endif
