/* Calls of the HTTP API of a running instance, one request per connection. */
#ifndef EK_DAEMON_COMMANDS_API_CALL_H
#define EK_DAEMON_COMMANDS_API_CALL_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/config/config.h"

enum { EK_API_WAIT_SECONDS = 5, EK_API_URL_BYTES = 320 };

/* Write the URL of the instance of a configuration, whose file is `path`; one that listens on all
 * addresses is called on this host. Return 0, or EK_ECONFIG if it has no API. */
int ek_api_address(const struct ek_config *c, const char *path, char url[EK_API_URL_BYTES],
                   struct ek_error *e);
/* Call a running instance. url: "http://127.0.0.1:9464" or with https, without a path. body NULL:
 * GET, else POST of that JSON with `token`. Append the answer to `answer`, up to its limit; *status
 * is that of HTTP. Returns 0, EK_EUSAGE for an invalid url, EK_ENOMEM, EK_ELIMIT, or EK_EIO without
 * an answer. */
int ek_api_call(const char *url, const char *path, const char *token, const char *body,
                unsigned *status, struct ek_buf *answer, struct ek_error *e);

#endif
