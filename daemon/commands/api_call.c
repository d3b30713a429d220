#include "daemon/commands/api_call.h"

#include "daemon/base/http_client.h"
#include "daemon/base/url.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int enomem(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

/* Append the URL of a call. */
static int join(struct ek_buf *out, const char *url, const char *path, struct ek_error *e)
{
    const char *scheme = strstr(url, "://") ? "" : "http://";
    const char *host = *scheme ? url : strstr(url, "://") + 3;
    size_t length = strcspn(host, "/?#@");
    bool alone = !host[length] || !strcmp(host + length, "/");
    int rc = ek_buf_printf(out, "%s%.*s", scheme, (int)(host - url + (ptrdiff_t)length), url);
    const char *text = rc ? NULL : ek_buf_string(out);
    if (!text)
        return enomem(e);
    rc = alone ? ek_url_check(text) : EK_EFORMAT;
    if (rc == EK_EFORMAT)
        return ek_fail(e, EK_EUSAGE, "'%s' is not like http://127.0.0.1:9464", url);
    return rc || ek_buf_text(out, path) || !ek_buf_string(out) ? enomem(e) : EK_OK;
}

static int check_answer(const struct ek_http_response *a, const char *url, struct ek_error *e)
{
    switch (a->fault) {
    case EK_HTTP_NONE:
        return EK_OK;
    case EK_HTTP_TIMEOUT:
        return ek_fail(e, EK_EIO, "%s: no answer within %d seconds", url, EK_API_WAIT_SECONDS);
    case EK_HTTP_TOO_LONG:
        return ek_fail(e, EK_ELIMIT, "%s: the answer is too long", url);
    case EK_HTTP_MEMORY:
        return enomem(e);
    default:
        return ek_fail(e, EK_EIO, "%s: %s", url, a->text);
    }
}

static int exchange(const struct ek_http_request *r, struct ek_http_response *a, struct ek_error *e)
{
    struct ek_http *h;
    int rc = ek_http_new(&h, 1, e);
    if (rc)
        return rc;
    if (!ek_http_begin(h, 0, r))
        rc = enomem(e);
    while (!rc && !ek_http_next(h, a))
        ek_http_wait(h, EK_API_WAIT_SECONDS * 1000);
    ek_http_free(h);
    return rc;
}

int ek_api_call(const char *url, const char *path, const char *token, const char *body,
                unsigned *status, struct ek_buf *answer, struct ek_error *e)
{
    struct ek_buf target;
    struct ek_http_response a = {0};
    ek_buf_init(&target, 0);
    int rc = join(&target, url, path, e);
    const struct ek_http_request r = {.url = (const char *)target.data,
                                      .token = token,
                                      .body = body,
                                      .length = body ? strlen(body) : 0,
                                      .idle_s = EK_API_WAIT_SECONDS,
                                      .body_out = answer};
    if (!rc)
        rc = exchange(&r, &a, e);
    if (!rc)
        rc = check_answer(&a, url, e);
    *status = (unsigned)a.status;
    ek_buf_release(&target);
    return rc;
}

int ek_api_address(const struct ek_config *c, const char *path, char url[EK_API_URL_BYTES],
                   struct ek_error *e)
{
    const char *listen = c->listen;
    if (!strcmp(listen, "off"))
        return ek_fail(e, EK_ECONFIG, "%s: 'http.listen' is off, so the instance has no API", path);
    const char *port = strrchr(listen, ':');
    bool all4 = !strncmp(listen, "0.0.0.0:", 8) || *listen == ':';
    bool all6 = !strncmp(listen, "[::]:", 5);
    snprintf(url, EK_API_URL_BYTES, "http://%s%s",
             all4   ? "127.0.0.1"
             : all6 ? "[::1]"
                    : "",
             (all4 || all6) && port ? port : listen);
    return EK_OK;
}
