/* API calls: the first byte selects the call and the credentials; the rest is the body. Every
 * response is a JSON object, and only authorized callers change state. */
#include "daemon/http/control_api.h"
#include "daemon/http/pages.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/served.h"

#include <jansson.h>
#include <string.h>

enum { CALLS = 8, MANNERS = 8 };

static const char *const PATHS[CALLS] = {"/api/v1/pause",  "/api/v1/resume", "/api/v1/accept",
                                         "/api/v1/revert", "/api/v1/pin",    "/api/v1/unpin",
                                         "/api/v1/reload", "/api/v1/nothing"};

static void is_object(struct ek_buf *out, unsigned status)
{
    json_error_t fault;
    json_t *answer = json_loadb((char *)out->data, out->length, 0, &fault);
    ek_fuzz_require(json_is_object(answer), "an answer that is no JSON object");
    ek_fuzz_require(status < 400 || json_is_string(json_object_get(answer, "error")),
                    "refused without a word");
    json_decref(answer);
}

static void call(const uint8_t *data, size_t size)
{
    const struct ek_api *api = ek_fuzz_served();
    unsigned manner = data[0] / CALLS % MANNERS;
    struct ek_buf out;
    const struct ek_api_request r = {.path = PATHS[data[0] % CALLS],
                                     .authorization = manner == 1   ? NULL
                                                      : manner == 2 ? "Bearer x"
                                                                    : "bearer " EK_FUZZ_TOKEN,
                                     .content_type =
                                         manner == 3 ? NULL : "application/json; charset=utf-8",
                                     .origin = manner == 4 ? "http://evil" : NULL,
                                     .host = "here:1",
                                     .body = data + 1,
                                     .length = size - 1,
                                     .cut = manner == 5};
    ek_buf_init(&out, 0);
    unsigned status = ek_api_post(api, &r, &out);
    is_object(&out, status);
    ek_fuzz_require(status >= 400 || !manner || manner > 5, "done for somebody who may not");
    ek_fuzz_require(status != 500, "broken");
    ek_buf_release(&out);
}

/* Run the body parser alone, with every set of keys. */
static void read_words(const uint8_t *data, size_t size)
{
    struct ek_api_body w;
    struct ek_error e = {0};
    unsigned knows = data[0] | EK_API_ACTOR;
    int rc = ek_api_body_read(&w, data + 1, size - 1, knows, 0, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    if (!rc)
        ek_fuzz_require((!w.order.reason || knows & EK_API_REASON) &&
                            (!w.order.feature || knows & EK_API_FEATURE) &&
                            (!w.order.segment == !w.order.value) &&
                            (!w.order.action || knows & EK_API_ACTION),
                        "read what is not known");
    ek_api_body_release(&w);
}

/* Use the body as the query of a page. */
static void ask(const uint8_t *data, size_t size)
{
    static const char *const pages[] = {"/api/v1/history", "/api/v1/events", "/api/v1/samples",
                                        "/api/v1/overview"};
    char text[300] = "/api/v1/features/";
    size_t n = strlen(text), more = size - 1 < 200 ? size - 1 : 200;
    const char *type;
    struct ek_buf out;
    memcpy(text + n, data + 1, more);
    const struct ek_http_query q = {.n = data[0] & 1 ? text + n : NULL,
                                    .after = data[0] & 2 ? text + n : NULL,
                                    .feature = data[0] & 4 ? text + n : NULL};
    ek_buf_init(&out, 0);
    unsigned status = ek_http_page(ek_fuzz_served(), pages[data[0] / 8 % 4], &q, &type, &out);
    ek_fuzz_require(status == 200 || status == 400 || status == 404, "a page is broken");
    ek_buf_clear(&out);
    status = ek_http_page(ek_fuzz_served(), text, NULL, &type, &out);
    ek_fuzz_require(status == 200 || status == 404, "the page of a feature is broken");
    ek_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned turns;
    if (!size)
        return 0;
    read_words(data, size);
    call(data, size);
    if (++turns % 8 == 0)
        ask(data, size);
    return 0;
}
