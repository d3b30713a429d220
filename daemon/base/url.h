/* Web addresses: check them, hide their secrets, escape names as parts of them.
 *
 * Everything in an address except scheme, host and port may be a secret (Slack's paths are).
 * libcurl parses them. Threads: any.
 */
#ifndef EK_DAEMON_BASE_URL_H
#define EK_DAEMON_BASE_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { EK_URL_REDACTED_BYTES = 320 };

/* Check for http:// or https://, a host, an optional port; only visible ASCII, at most 2,000
 * bytes. Return 0, EK_EFORMAT or EK_ENOMEM. */
int ek_url_check(const char *url);
/* Return whether the host is this machine: localhost, 127.0.0.0/8 or [::1]. */
bool ek_url_is_loopback(const char *url);
/* Write scheme, host and port, with stars for a path, query or user. Return 0, EK_EFORMAT or
 * EK_ENOMEM; on failure `out` has only stars. */
int ek_url_redact(const char *url, char out[EK_URL_REDACTED_BYTES]);
/* Write text with everything except letters, digits and -._~ as %XX; cut before `size`. */
void ek_url_escape(const char *text, char *out, size_t size);

#endif
