#include "daemon/http/http_answer.h"

#include "base/alloc.h"

#include <string.h>

/* Seconds until a client may come again for what is full now. */
static const char RETRY_SECONDS[] = "5";

static const char POLICY[] = "default-src 'none'; frame-ancestors 'none'";

void ek_http_headers(struct MHD_Response *response, const char *type)
{
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy", POLICY);
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status, const char *type,
                             const char *allow, struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    ek_http_headers(response, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_SECONDS);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result queue_body(struct MHD_Connection *connection, unsigned status,
                                  const char *type, const char *allow, const struct ek_buf *body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->length, body->length ? (void *)body->data : (void *)(uintptr_t) "",
        MHD_RESPMEM_MUST_COPY);
    return queue(connection, status, type, allow, response);
}

/* One on its way. */
struct answer {
    struct ek_buf body;
    size_t *load;
};

static void forget(void *context)
{
    struct answer *a = context;
    *a->load -= a->body.capacity;
    ek_buf_release(&a->body);
    ek_free(a);
}

enum MHD_Result ek_http_give(struct MHD_Connection *connection, unsigned *status, const char *type,
                             const char *allow, struct ek_buf *body, size_t *load)
{
    if (body->length <= EK_HTTP_SMALL_BYTES)
        return queue_body(connection, *status, type, allow, body);
    if (*load + body->capacity > EK_HTTP_LOAD_BYTES_MAX)
        return ek_http_refuse(connection, *status = MHD_HTTP_SERVICE_UNAVAILABLE,
                              "too many long answers are on their way: come again");
    struct answer *a = ek_calloc(1, sizeof *a);
    if (!a)
        return MHD_NO;
    a->body = *body;
    a->load = load;
    *load += a->body.capacity;
    ek_buf_init(body, 0);
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        a->body.length, a->body.data, forget, a);
    if (!response)
        forget(a);
    return queue(connection, *status, type, allow, response);
}

enum MHD_Result ek_http_refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
    struct ek_buf body;
    ek_buf_init(&body, 0);
    int rc = ek_buf_text(&body, "{\"error\":");
    if (!rc)
        rc = ek_buf_json(&body, why, strlen(why));
    if (!rc)
        rc = ek_buf_text(&body, "}\n");
    enum MHD_Result result =
        rc ? MHD_NO : queue_body(connection, status, "application/json", NULL, &body);
    ek_buf_release(&body);
    return result;
}
