#include "daemon/alerts/alert_http.h"

#include "base/alloc.h"
#include "evenkeel.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_BYTES = 9000, ANSWER_BYTES_MAX = 64 << 10 };

struct slot {
    CURL *easy; /* NULL: free */
    struct curl_slist *headers;
    char said[EK_ALERT_SAID_BYTES], why[CURL_ERROR_SIZE];
    size_t length, received;
};

struct ek_alert_http {
    CURLM *multi;
    size_t slots;
    struct slot slot[];
};

int ek_alert_http_new(struct ek_alert_http **out, size_t slots, struct ek_error *e)
{
    struct ek_alert_http *h = ek_calloc(1, sizeof *h + slots * sizeof *h->slot);
    if (!h || curl_global_init(CURL_GLOBAL_DEFAULT)) {
        ek_free(h);
        return ek_fail(e, EK_ENOMEM, "no memory for alerts over HTTP");
    }
    h->slots = slots;
    h->multi = curl_multi_init();
    if (h->multi) {
        *out = h;
        return EK_OK;
    }
    curl_global_cleanup();
    ek_free(h);
    return ek_fail(e, EK_ENOMEM, "no memory for alerts over HTTP");
}

static void clear(struct ek_alert_http *h, struct slot *s)
{
    if (!s->easy)
        return;
    curl_multi_remove_handle(h->multi, s->easy);
    curl_easy_cleanup(s->easy);
    curl_slist_free_all(s->headers);
    s->easy = NULL;
    s->headers = NULL;
}

void ek_alert_http_free(struct ek_alert_http *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->slots; i++)
        clear(h, &h->slot[i]);
    curl_multi_cleanup(h->multi);
    curl_global_cleanup();
    ek_free(h);
}

/* An answer that does not end is ended: that it was given is all that counts. */
static size_t on_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct slot *s = context;
    size_t length = size * count, room = sizeof s->said - 1 - s->length;
    size_t taken = length < room ? length : room;
    memcpy(s->said + s->length, bytes, taken);
    s->length += taken;
    s->said[s->length] = 0;
    s->received += length;
    return s->received > ANSWER_BYTES_MAX ? 0 : length;
}

static bool add_header(struct slot *s, const char *text)
{
    struct curl_slist *more = curl_slist_append(s->headers, text);
    if (more)
        s->headers = more;
    return more != NULL;
}

static bool add_headers(struct slot *s, const char *token)
{
    char bearer[HEADER_BYTES];
    /* Without the second one a larger body waits for a word that many servers do not say. */
    if (!add_header(s, "Content-Type: application/json") || !add_header(s, "Expect:"))
        return false;
    if (!token)
        return true;
    int length = snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", token);
    return length < HEADER_BYTES && add_header(s, bearer);
}

static bool set_target(struct slot *s, const struct ek_alert_request *r)
{
    return !curl_easy_setopt(s->easy, CURLOPT_URL, r->url) &&
           !curl_easy_setopt(s->easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
           !curl_easy_setopt(s->easy, CURLOPT_FOLLOWLOCATION, 0L) &&
           !curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers) &&
           !curl_easy_setopt(s->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->length) &&
           !curl_easy_setopt(s->easy, CURLOPT_COPYPOSTFIELDS, r->body) &&
           (!r->ca_file || !curl_easy_setopt(s->easy, CURLOPT_CAINFO, r->ca_file));
}

static bool set_manners(struct slot *s, const struct ek_alert_request *r)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(s->easy, CURLOPT_QUICK_EXIT, 1L); /* of a name that nobody answers for */
#endif
    return !curl_easy_setopt(s->easy, CURLOPT_NOSIGNAL, 1L) &&
           !curl_easy_setopt(s->easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms) &&
           !curl_easy_setopt(s->easy, CURLOPT_USERAGENT, "evenkeel") &&
           !curl_easy_setopt(s->easy, CURLOPT_ERRORBUFFER, s->why) &&
           !curl_easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, on_answer) &&
           !curl_easy_setopt(s->easy, CURLOPT_WRITEDATA, s) &&
           !curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
}

bool ek_alert_http_post(struct ek_alert_http *h, size_t slot, const struct ek_alert_request *r)
{
    struct slot *s = &h->slot[slot];
    *s = (struct slot){.easy = curl_easy_init()};
    if (!s->easy)
        return false;
    if (add_headers(s, r->token) && set_target(s, r) && set_manners(s, r) &&
        !curl_multi_add_handle(h->multi, s->easy))
        return true;
    clear(h, s);
    return false;
}

void ek_alert_http_wait(struct ek_alert_http *h, int wait_ms)
{
    int running;
    curl_multi_perform(h->multi, &running);
    curl_multi_poll(h->multi, NULL, 0, wait_ms, NULL);
    curl_multi_perform(h->multi, &running);
}

void ek_alert_http_wake(struct ek_alert_http *h)
{
    curl_multi_wakeup(h->multi);
}

static void read_answer(const struct slot *s, CURLcode code, struct ek_alert_answer *out)
{
    long status = 0;
    curl_off_t asked = 0;
    if (code == CURLE_OK || code == CURLE_WRITE_ERROR) {
        curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(s->easy, CURLINFO_RETRY_AFTER, &asked);
        snprintf(out->said, sizeof out->said, "%s", s->said);
    } else {
        snprintf(out->said, sizeof out->said, "%s", *s->why ? s->why : curl_easy_strerror(code));
    }
    out->status = (int)status;
    out->asked_ms = asked > 0 && asked < INT32_MAX ? (int64_t)asked * 1000 : 0;
}

bool ek_alert_http_next(struct ek_alert_http *h, struct ek_alert_answer *out)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(h->multi, &left))) {
        char *context = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
        struct slot *s = (struct slot *)(void *)context;
        *out = (struct ek_alert_answer){.slot = (size_t)(s - h->slot)};
        read_answer(s, message->data.result, out);
        clear(h, s);
        return true;
    }
    return false;
}
