/* Requests of alerts over HTTP: many under way on one thread, none of which can hold up another.
 *
 * Each of `slots` has one request at a time. Certificates are verified, redirects not followed, the
 * time for each is limited, and of an answer the first EK_ALERT_SAID_BYTES are kept. What is said
 * about a failure has no address in it but the host's name.
 * Owner: the caller. Threads: one, but for ek_alert_http_wake.
 */
#ifndef EK_DAEMON_ALERT_HTTP_H
#define EK_DAEMON_ALERT_HTTP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_ALERT_SAID_BYTES = 300 };

struct ek_alert_http;

/* EK_ENOMEM. */
int ek_alert_http_new(struct ek_alert_http **out, size_t slots, struct ek_error *e);
/* Gives up what is under way. */
void ek_alert_http_free(struct ek_alert_http *h);

struct ek_alert_request {
    const char *url, *token, *ca_file; /* the latter two may be NULL */
    const void *body;                  /* JSON; copied, as the others are */
    size_t length;
    int64_t timeout_ms;
};
/* False: it could not even be begun. The slot must be free. */
bool ek_alert_http_post(struct ek_alert_http *h, size_t slot, const struct ek_alert_request *r);

struct ek_alert_answer {
    size_t slot;
    int status;                     /* of HTTP, 0: there was no answer */
    int64_t asked_ms;               /* Retry-After, 0: none */
    char said[EK_ALERT_SAID_BYTES]; /* begin of the answer, or why there was none */
};
/* Waits for at most wait_ms, a wake, or an answer. */
void ek_alert_http_wait(struct ek_alert_http *h, int wait_ms);
/* True: *out is one more that is through, its slot is free again. */
bool ek_alert_http_next(struct ek_alert_http *h, struct ek_alert_answer *out);
void ek_alert_http_wake(struct ek_alert_http *h);

#endif
