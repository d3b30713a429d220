#include "daemon/base/url.h"

#include "base/error.h"
#include "base/parse.h"
#include "base/portable.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { URL_BYTES_MAX = 2000, HOST_BYTES_MAX = 255 };
static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

/* Return a part, to be freed with curl_free; NULL if it is missing, or memory runs out and *rc is
 * EK_ENOMEM. */
static char *get_part(CURLU *u, CURLUPart which, int *rc)
{
    char *part = NULL;
    if (curl_url_get(u, which, &part, 0) == CURLUE_OUT_OF_MEMORY)
        *rc = EK_ENOMEM;
    return part;
}

/* libcurl also accepts other schemes, and one or three slashes. */
static bool has_scheme(const char *url)
{
    size_t length = !strncasecmp(url, "http://", 7) ? 7 : !strncasecmp(url, "https://", 8) ? 8 : 0;
    return length && url[length] != '/';
}

static bool has_only_visible(const char *url)
{
    for (const char *p = url; *p; p++)
        if (*p <= ' ' || *p > '~' || strchr("\"\\<>", *p))
            return false;
    return strlen(url) <= URL_BYTES_MAX;
}

static int check_parts(CURLU *u)
{
    int rc = EK_OK;
    char *host = get_part(u, CURLUPART_HOST, &rc), *port = get_part(u, CURLUPART_PORT, &rc);
    if (!rc && (!host || strlen(host) > HOST_BYTES_MAX || (port && !port[strspn(port, "0")])))
        rc = EK_EFORMAT;
    curl_free(host);
    curl_free(port);
    return rc;
}

/* Parse a URL. Return 0, EK_EFORMAT or EK_ENOMEM; on failure *out is NULL. */
static int parse(const char *url, CURLU **out)
{
    *out = NULL;
    if (!has_scheme(url) || !has_only_visible(url))
        return EK_EFORMAT;
    CURLU *u = curl_url();
    CURLUcode code = u ? curl_url_set(u, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
    int rc = !code ? check_parts(u) : code == CURLUE_OUT_OF_MEMORY ? EK_ENOMEM : EK_EFORMAT;
    if (rc)
        curl_url_cleanup(u);
    else
        *out = u;
    return rc;
}

int ek_url_check(const char *url)
{
    CURLU *u;
    int rc = parse(url, &u);
    curl_url_cleanup(u);
    return rc;
}

bool ek_url_is_loopback(const char *url)
{
    CURLU *u;
    int rc = parse(url, &u);
    char *host = rc ? NULL : get_part(u, CURLUPART_HOST, &rc);
    bool loopback =
        host && (!strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
                 (!strncmp(host, "127.", 4) && strspn(host, "0123456789.") == strlen(host)));
    curl_free(host);
    curl_url_cleanup(u);
    return loopback;
}

/* Return whether the URL has one of the parts, apart from the path of the root. */
static bool has_part(CURLU *u, const CURLUPart *parts, size_t count, int *rc)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        char *part = get_part(u, parts[i], rc);
        found = found || (part && strcmp(part, "/") != 0);
        curl_free(part);
    }
    return found;
}

bool ek_url_has_user(const char *url)
{
    static const CURLUPart user[] = {CURLUPART_USER, CURLUPART_PASSWORD};
    CURLU *u;
    int rc = parse(url, &u);
    bool has_user = !rc && has_part(u, user, sizeof user / sizeof *user, &rc);
    curl_url_cleanup(u);
    return rc || has_user;
}

int ek_url_redact(const char *url, char out[EK_URL_REDACTED_BYTES])
{
    static const CURLUPart hidden[] = {CURLUPART_PATH, CURLUPART_QUERY, CURLUPART_FRAGMENT,
                                       CURLUPART_USER, CURLUPART_PASSWORD};
    CURLU *u;
    snprintf(out, EK_URL_REDACTED_BYTES, "***");
    int rc = parse(url, &u);
    if (rc)
        return rc;
    char *scheme = get_part(u, CURLUPART_SCHEME, &rc);
    char *host = get_part(u, CURLUPART_HOST, &rc);
    char *port = get_part(u, CURLUPART_PORT, &rc);
    bool more = has_part(u, hidden, sizeof hidden / sizeof *hidden, &rc);
    if (!rc)
        snprintf(out, EK_URL_REDACTED_BYTES, "%s://%s%s%s%s", scheme, host, port ? ":" : "",
                 port ? port : "", more ? "/***" : "");
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(u);
    return rc;
}

bool ek_url_escape(const char *text, char *out, size_t size)
{
    size_t at = 0;
    for (; *text && at + 4 <= size; text++)
        if (strchr(PLAIN, *text))
            out[at++] = *text;
        else
            at += (size_t)snprintf(out + at, size - at, "%%%02X", (unsigned char)*text);
    out[at] = 0;
    return !*text;
}

int ek_address_split(const char *key, const char *text, char *host, const char **port,
                     struct ek_error *e)
{
    const char *colon = strrchr(text, ':');
    uint64_t number;
    if (!colon || ek_parse_u64(colon + 1, EK_WHOLE, &number) || number > UINT16_MAX)
        return ek_fail(e, EK_ECONFIG, "'%s': '%s' is not address:port, with a port up to 65535",
                       key, text);
    size_t length = (size_t)(colon - text);
    bool brackets = length >= 2 && text[0] == '[' && colon[-1] == ']';
    if (length - 2 * brackets >= EK_HOST_BYTES)
        return ek_fail(e, EK_ECONFIG, "'%s': the address is too long", key);
    snprintf(host, EK_HOST_BYTES, "%.*s", (int)(length - 2 * brackets), text + brackets);
    *port = colon + 1;
    return EK_OK;
}

/* Return true for an IPv6 address without brackets, which has colons but no port. */
static bool is_plain_v6(const char *text, size_t length)
{
    return memchr(text, ':', length) != ek_find_last(text, ':', length) &&
           strspn(text, "0123456789abcdefABCDEF:.") >= length;
}

static int check_broker(const char *key, const char *text, size_t length, struct ek_error *e)
{
    const char *protocol = memmem(text, length, "://", 3);
    const char *host = protocol ? protocol + 3 : text, *end = text + length;
    const char *colon = ek_find_last(host, ':', (size_t)(end - host));
    uint64_t port = 1;
    if (colon && (host[0] == '[' ? colon[-1] != ']' : is_plain_v6(host, (size_t)(end - host))))
        colon = NULL;
    if (host == end || colon == host)
        return ek_fail(e, EK_ECONFIG, "'%s': '%.*s' has no host", key, (int)length, text);
    if (!colon)
        return EK_OK;
    if (ek_parse_u64(colon + 1, (size_t)(end - colon - 1), &port) || !port || port > UINT16_MAX)
        return ek_fail(e, EK_ECONFIG, "'%s': the port of '%.*s' is not from 1 to 65535", key,
                       (int)length, text);
    return EK_OK;
}

int ek_brokers_check(const char *key, const char *text, struct ek_error *e)
{
    int rc;
    do {
        text += strspn(text, " ");
        size_t length = strcspn(text, ","), trimmed = length;
        while (trimmed && text[trimmed - 1] == ' ')
            trimmed--;
        rc = check_broker(key, text, trimmed, e);
        text += length;
    } while (!rc && *text++);
    return rc;
}
