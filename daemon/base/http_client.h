/* HTTP client over libcurl: many requests in flight on one thread, none of which blocks another.
 *
 * Each of `slots` has one request at a time. Certificates are verified, redirects not followed.
 * Proxies are those of the environment (http_proxy, https_proxy, no_proxy), except that a loopback
 * host is always connected to directly. Error texts contain no part of a URL except the host name.
 * Threads: one, except for ek_http_wake.
 */
#ifndef EK_DAEMON_BASE_HTTP_CLIENT_H
#define EK_DAEMON_BASE_HTTP_CLIENT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_HTTP_START_BYTES = 300 };

struct ek_http;

/* Create a client with `slots` free slots. Return 0 or EK_ENOMEM. */
int ek_http_new(struct ek_http **out, size_t slots, struct ek_error *e);
/* Abandon all requests in flight and free the client. NULL is allowed. */
void ek_http_free(struct ek_http *h);

struct ek_http_request {
    const char *url, *token, *ca_file; /* copied; the last two may be NULL */
    const char *user, *password;       /* basic authentication, copied; NULL: none */
    const char *authorization;         /* header of another kind, copied; NULL: none */
    bool no_proxy;                     /* connect directly */
    const void *body;                  /* to post, copied; NULL: GET */
    const char *body_type;             /* media type; NULL: JSON */
    size_t length;
    int64_t timeout_ms;      /* for the whole request; 0: none */
    int idle_s;              /* for the connection, and between two bytes; 0: none */
    struct ek_buf *body_out; /* receives the body, up to its limit; NULL: only the start */
};
/* Start a request, which is copied, in a free slot. Return false, with the slot free, if memory
 * runs out. */
bool ek_http_begin(struct ek_http *h, size_t slot, const struct ek_http_request *r);

enum ek_http_fault {
    EK_HTTP_NONE,
    EK_HTTP_TIMEOUT,
    EK_HTTP_TOO_LONG,
    EK_HTTP_MEMORY,
    EK_HTTP_OTHER
};

struct ek_http_response {
    size_t slot;
    int status;               /* of HTTP; 0: no response */
    enum ek_http_fault fault; /* error of an incomplete response */
    int64_t retry_after_ms;   /* Retry-After, 0: none */
    /* Start of the body, or an error text if there is no response. */
    char text[EK_HTTP_START_BYTES];
};
/* Wait for a response or ek_http_wake, at most wait_ms. */
void ek_http_wait(struct ek_http *h, int wait_ms);
/* Set *out to a copy of the response of a finished request, and free its slot for the next request.
 * Return false, with *out unchanged, if none has finished. */
bool ek_http_next(struct ek_http *h, struct ek_http_response *out);
/* Interrupt ek_http_wait. Any thread. */
void ek_http_wake(struct ek_http *h);

#endif
