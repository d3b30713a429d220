/* Asking a running instance over HTTP: one question, one connection (HTTP/1.0).
 *
 * Threads: any. */
#ifndef EK_DAEMON_API_CLIENT_H
#define EK_DAEMON_API_CLIENT_H

#include "base/buf.h"
#include "base/error.h"

enum { EK_API_WAIT_SECONDS = 5, EK_API_ANSWER_BYTES = 64 << 20 };

/* url: "http://127.0.0.1:9464", of which only host and port may be said. body NULL: GET, else POST
 * of that JSON with `token`. Appends what came to `answer`; *status is that of HTTP. EK_EUSAGE for
 * an url that is none, EK_EIO when nobody answers in time or not in HTTP. */
int ek_api_call(const char *url, const char *path, const char *token, const char *body,
                unsigned *status, struct ek_buf *answer, struct ek_error *e);

#endif
