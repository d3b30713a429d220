#include "daemon/base/url.h"

#include "base/error.h"

#include <curl/curl.h>
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

int ek_url_redact(const char *url, char out[EK_URL_REDACTED_BYTES])
{
    static const CURLUPart hidden[] = {CURLUPART_PATH, CURLUPART_QUERY, CURLUPART_FRAGMENT,
                                       CURLUPART_USER, CURLUPART_PASSWORD};
    CURLU *u;
    bool more = false;
    snprintf(out, EK_URL_REDACTED_BYTES, "***");
    int rc = parse(url, &u);
    if (rc)
        return rc;
    char *scheme = get_part(u, CURLUPART_SCHEME, &rc);
    char *host = get_part(u, CURLUPART_HOST, &rc);
    char *port = get_part(u, CURLUPART_PORT, &rc);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        char *part = get_part(u, hidden[i], &rc);
        more = more || (part && strcmp(part, "/") != 0);
        curl_free(part);
    }
    if (!rc)
        snprintf(out, EK_URL_REDACTED_BYTES, "%s://%s%s%s%s", scheme, host, port ? ":" : "",
                 port ? port : "", more ? "/***" : "");
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(u);
    return rc;
}

void ek_url_escape(const char *text, char *out, size_t size)
{
    size_t at = 0;
    for (; *text && at + 4 <= size; text++)
        if (strchr(PLAIN, *text))
            out[at++] = *text;
        else
            at += (size_t)snprintf(out + at, size - at, "%%%02X", (unsigned char)*text);
    out[at] = 0;
}
