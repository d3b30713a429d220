#include "daemon/base/http_client.h"

#include "base/alloc.h"
#include "daemon/base/url.h"
#include "evenkeel.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_BYTES = 9000, RESPONSE_BYTES_MAX = 64 << 10 };

struct slot {
    CURL *easy; /* NULL: free */
    struct curl_slist *headers;
    char start[EK_HTTP_START_BYTES], why[CURL_ERROR_SIZE];
    size_t length, received;
    struct ek_buf *body;
    enum ek_http_fault fault; /* of adding to `body` */
};

struct ek_http {
    CURLM *multi;
    size_t slots;
    struct slot slot[];
};

int ek_http_new(struct ek_http **out, size_t slots, struct ek_error *e)
{
    struct ek_http *h = ek_calloc(1, sizeof *h + slots * sizeof *h->slot);
    if (!h || curl_global_init(CURL_GLOBAL_DEFAULT)) {
        ek_free(h);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    h->slots = slots;
    h->multi = curl_multi_init();
    if (h->multi) {
        *out = h;
        return EK_OK;
    }
    curl_global_cleanup();
    ek_free(h);
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static void clear(struct ek_http *h, struct slot *s)
{
    if (!s->easy)
        return;
    curl_multi_remove_handle(h->multi, s->easy);
    curl_easy_cleanup(s->easy);
    curl_slist_free_all(s->headers);
    s->easy = NULL;
    s->headers = NULL;
}

void ek_http_free(struct ek_http *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->slots; i++)
        clear(h, &h->slot[i]);
    curl_multi_cleanup(h->multi);
    curl_global_cleanup();
    ek_free(h);
}

/* Callback for a part of the body. If only the start is stored, a long body is cut off, since only
 * the status matters. */
static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct slot *s = context;
    size_t length = size * count, room = sizeof s->start - 1 - s->length;
    size_t taken = length < room ? length : room;
    memcpy(s->start + s->length, bytes, taken);
    s->length += taken;
    s->start[s->length] = 0;
    s->received += length;
    if (s->body) {
        int rc = ek_buf_add(s->body, bytes, length);
        s->fault = !rc ? EK_HTTP_NONE : rc == EK_ELIMIT ? EK_HTTP_TOO_LONG : EK_HTTP_MEMORY;
        return rc ? 0 : length;
    }
    return s->received > RESPONSE_BYTES_MAX ? 0 : length;
}

static bool add_header(struct slot *s, const char *text)
{
    struct curl_slist *more = curl_slist_append(s->headers, text);
    if (more)
        s->headers = more;
    return more != NULL;
}

static bool add_headers(struct slot *s, const struct ek_http_request *r)
{
    enum { TYPE_BYTES = 80 };
    char access[HEADER_BYTES];
    /* The empty "Expect:" prevents a wait for "100 Continue", which many servers do not send. */
    char type[TYPE_BYTES];
    snprintf(type, sizeof type, "Content-Type: %s",
             r->body_type ? r->body_type : "application/json");
    if (r->body && (!add_header(s, type) || !add_header(s, "Expect:")))
        return false;
    if (!r->token && !r->authorization)
        return true;
    int length = snprintf(access, sizeof access, "Authorization: %s%s", r->token ? "Bearer " : "",
                          r->token ? r->token : r->authorization);
    return length < HEADER_BYTES && add_header(s, access);
}

static bool set_body(struct slot *s, const struct ek_http_request *r)
{
    return !r->body ||
           (!curl_easy_setopt(s->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->length) &&
            !curl_easy_setopt(s->easy, CURLOPT_COPYPOSTFIELDS, r->body));
}

static bool set_target(struct slot *s, const struct ek_http_request *r)
{
    return !curl_easy_setopt(s->easy, CURLOPT_URL, r->url) &&
           !curl_easy_setopt(s->easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
           !curl_easy_setopt(s->easy, CURLOPT_FOLLOWLOCATION, 0L) &&
           !curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers) &&
           ((!r->no_proxy && !ek_url_is_loopback(r->url)) ||
            !curl_easy_setopt(s->easy, CURLOPT_PROXY, "")) &&
           (!r->user || (!curl_easy_setopt(s->easy, CURLOPT_USERNAME, r->user) &&
                         !curl_easy_setopt(s->easy, CURLOPT_PASSWORD, r->password))) &&
           (!r->ca_file || !curl_easy_setopt(s->easy, CURLOPT_CAINFO, r->ca_file));
}

static bool set_times(struct slot *s, const struct ek_http_request *r)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(s->easy, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a slow name server */
#endif
    return !curl_easy_setopt(s->easy, CURLOPT_NOSIGNAL, 1L) &&
           !curl_easy_setopt(s->easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms) &&
           !curl_easy_setopt(s->easy, CURLOPT_CONNECTTIMEOUT, (long)r->idle_s) &&
           !curl_easy_setopt(s->easy, CURLOPT_LOW_SPEED_LIMIT, r->idle_s ? 1L : 0L) &&
           !curl_easy_setopt(s->easy, CURLOPT_LOW_SPEED_TIME, (long)r->idle_s);
}

static bool set_response(struct slot *s)
{
    return !curl_easy_setopt(s->easy, CURLOPT_USERAGENT, "evenkeel") &&
           !curl_easy_setopt(s->easy, CURLOPT_ERRORBUFFER, s->why) &&
           !curl_easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, on_body) &&
           !curl_easy_setopt(s->easy, CURLOPT_WRITEDATA, s) &&
           !curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
}

bool ek_http_begin(struct ek_http *h, size_t slot, const struct ek_http_request *r)
{
    struct slot *s = &h->slot[slot];
    *s = (struct slot){.easy = curl_easy_init(), .body = r->body_out};
    if (!s->easy)
        return false;
    if (add_headers(s, r) && set_body(s, r) && set_target(s, r) && set_times(s, r) &&
        set_response(s) && !curl_multi_add_handle(h->multi, s->easy))
        return true;
    clear(h, s);
    return false;
}

void ek_http_wait(struct ek_http *h, int wait_ms)
{
    int running;
    curl_multi_perform(h->multi, &running);
    curl_multi_poll(h->multi, NULL, 0, wait_ms, NULL);
    curl_multi_perform(h->multi, &running);
}

void ek_http_wake(struct ek_http *h)
{
    curl_multi_wakeup(h->multi);
}

/* Write the error of a failed request, with short texts instead of those of libcurl that contain an
 * address or a duration. */
static void describe(const struct slot *s, CURLcode code, char *out, size_t size)
{
    long number = 0;
    curl_easy_getinfo(s->easy, CURLINFO_OS_ERRNO, &number);
    const char *text = code == CURLE_COULDNT_CONNECT && number ? strerror((int)number)
                       : code == CURLE_COULDNT_RESOLVE_HOST    ? "unknown host"
                       : code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL
                           ? "invalid HTTP response"
                       : code == CURLE_GOT_NOTHING ? "empty response"
                       : *s->why                   ? s->why
                                                   : curl_easy_strerror(code);
    snprintf(out, size, "%s", text);
    if (*out >= 'A' && *out <= 'Z')
        *out = (char)(*out - 'A' + 'a');
}

static enum ek_http_fault get_fault(const struct slot *s, CURLcode code)
{
    return s->fault                           ? s->fault
           : code == CURLE_OK                 ? EK_HTTP_NONE
           : code == CURLE_OPERATION_TIMEDOUT ? EK_HTTP_TIMEOUT
           : code == CURLE_OUT_OF_MEMORY      ? EK_HTTP_MEMORY
           : code == CURLE_WRITE_ERROR        ? EK_HTTP_NONE
                                              : EK_HTTP_OTHER;
}

static void read_response(const struct slot *s, CURLcode code, struct ek_http_response *out)
{
    long status = 0;
    curl_off_t retry_s = 0;
    if (code == CURLE_OK || code == CURLE_WRITE_ERROR) {
        curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(s->easy, CURLINFO_RETRY_AFTER, &retry_s);
        snprintf(out->text, sizeof out->text, "%s", s->start);
    } else {
        describe(s, code, out->text, sizeof out->text);
    }
    out->fault = get_fault(s, code);
    out->status = (int)status;
    out->retry_after_ms = retry_s > 0 && retry_s < INT32_MAX ? (int64_t)retry_s * 1000 : 0;
}

bool ek_http_next(struct ek_http *h, struct ek_http_response *out)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(h->multi, &left))) {
        char *context = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
        struct slot *s = (struct slot *)(void *)context;
        *out = (struct ek_http_response){.slot = (size_t)(s - h->slot)};
        read_response(s, message->data.result, out);
        clear(h, s);
        return true;
    }
    return false;
}
