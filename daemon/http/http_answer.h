/* Answers of the HTTP server: the headers that each has, and errors. Threads: that of the server.
 */
#ifndef EK_DAEMON_HTTP_ANSWER_H
#define EK_DAEMON_HTTP_ANSWER_H

#include "base/buf.h"

#include <microhttpd.h>

/* What every answer says to a browser: nothing is kept, nothing is guessed, no page has it in a
 * frame, and it loads nothing. Files of the page have others (daemon/http/http_file.h). */
void ek_http_headers(struct MHD_Response *response, const char *type);
/* Queues the body; allow: methods of the path, for 405. The memory of the body is the answer's:
 * *load has the bytes of such answers that are on their way, and less when one was taken, or given
 * up. 503 in its place where it is longer than EK_HTTP_SMALL_BYTES and all together would be more
 * than EK_HTTP_LOAD_BYTES_MAX; *status says which it was. */
enum { EK_HTTP_SMALL_BYTES = 64 << 10, EK_HTTP_LOAD_BYTES_MAX = 32 << 20 };
enum MHD_Result ek_http_give(struct MHD_Connection *connection, unsigned *status, const char *type,
                             const char *allow, struct ek_buf *body, size_t *load);
/* The same, {"error": why}. */
enum MHD_Result ek_http_refuse(struct MHD_Connection *connection, unsigned status, const char *why);

#endif
