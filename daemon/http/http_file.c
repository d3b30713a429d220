#include "daemon/http/http_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The page has all it needs from where it comes from itself, and nobody frames it. */
static const char POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const char *header(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

/* A list of words with parameters: "gzip;q=0" is a no, "gzip;q=0.5" a yes. */
static bool takes_gzip(const char *accepted)
{
    static const char no[] = "gzip;q=0";
    const char *word = strstr(accepted, "gzip");
    if (!word || strncmp(word, no, sizeof no - 1) != 0)
        return word != NULL;
    word += sizeof no - 1;
    word += strspn(word, ".0");
    return *word >= '1' && *word <= '9';
}

static bool has_it(const char *tags, const char *tag)
{
    return strstr(tags, tag) != NULL;
}

enum MHD_Result ek_http_file(struct MHD_Connection *connection, const struct ek_page_file *file)
{
    bool old = has_it(header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH), file->tag);
    bool packed = takes_gzip(header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    const unsigned char *bytes = packed ? file->packed : file->plain;
    size_t length = old ? 0 : packed ? file->packed_bytes : file->plain_bytes;
    struct MHD_Response *r =
        MHD_create_response_from_buffer(length, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, file->type);
    MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, file->tag);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    MHD_add_response_header(r, "Content-Security-Policy", POLICY);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    if (packed && !old)
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    enum MHD_Result result =
        MHD_queue_response(connection, old ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}
