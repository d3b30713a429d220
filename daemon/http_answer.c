#include "daemon/http_answer.h"

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

enum MHD_Result ek_http_answer(struct MHD_Connection *connection, unsigned status, const char *type,
                               const char *allow, const struct ek_buf *body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->length, body->length ? (void *)body->data : (void *)(uintptr_t) "",
        MHD_RESPMEM_MUST_COPY);
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
        rc ? MHD_NO : ek_http_answer(connection, status, "application/json", NULL, &body);
    ek_buf_release(&body);
    return result;
}
