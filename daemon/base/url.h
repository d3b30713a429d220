/* Web addresses: whether a text is one, what of it may be shown, and names as parts of one.
 *
 * Of an address everything behind the host may be a secret (Slack's are), and so may what stands
 * before it. Threads: any.
 */
#ifndef EK_DAEMON_URL_H
#define EK_DAEMON_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { EK_URL_SHOWN_BYTES = 320 };

/* http:// or https://, a host, perhaps a port; all of it visible ASCII, 2,000 bytes at most. */
bool ek_url_valid(const char *url);
/* Scheme, host and port, and stars for a path, query or user that is not to be seen. What
 * comes out is valid, too. Returns `out`. */
char *ek_url_show(const char *url, char out[EK_URL_SHOWN_BYTES]);
/* Writes text with everything but letters, digits and -._~ as %XX; cut before `size`. */
void ek_url_escape(const char *text, char *out, size_t size);

#endif
