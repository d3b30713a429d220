#include "daemon/base/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { URL_BYTES_MAX = 2000, HOST_BYTES_MAX = 255, PORT_MAX = 65535, SHOWN_HOST = 280 };
static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

/* Length of the scheme with its slashes; 0: none of ours. */
static size_t scheme_of(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (!strncasecmp(url, schemes[i], strlen(schemes[i])))
            return strlen(schemes[i]);
    return 0;
}

/* Host and port; *length of it. */
static const char *place_of(const char *url, size_t *length)
{
    const char *start = url + scheme_of(url);
    size_t all = strcspn(start, "/?#");
    const char *at = memrchr(start, '@', all);
    const char *host = at ? at + 1 : start;
    *length = all - (size_t)(host - start);
    return host;
}

static bool valid_port(const char *port, size_t length)
{
    char *end;
    if (!length)
        return true;
    if (*port != ':' || length < 2 || length > 6 || strspn(port + 1, "0123456789") < length - 1)
        return false;
    long number = strtol(port + 1, &end, 10);
    return number > 0 && number <= PORT_MAX;
}

static bool valid_place(const char *host, size_t length)
{
    size_t name;
    if (*host == '[') {
        const char *end = memchr(host, ']', length);
        name = end ? (size_t)(end - host) + 1 : 0;
        if (name < 4 || strspn(host + 1, "0123456789abcdefABCDEF:.") != name - 2)
            return false;
    } else {
        name = strspn(host, PLAIN);
        if (name > length)
            name = length;
    }
    return name && name <= HOST_BYTES_MAX && valid_port(host + name, length - name);
}

bool ek_url_valid(const char *url)
{
    size_t length;
    for (const char *p = url; *p; p++)
        if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\' || *p == '<' || *p == '>')
            return false;
    const char *place = place_of(url, &length);
    return strlen(url) <= URL_BYTES_MAX && scheme_of(url) && valid_place(place, length);
}

char *ek_url_show(const char *url, char out[EK_URL_SHOWN_BYTES])
{
    size_t length;
    const char *place = place_of(url, &length), *rest = place + length;
    bool more = *rest && strcmp(rest, "/") != 0;
    bool user = place != url + scheme_of(url);
    snprintf(out, EK_URL_SHOWN_BYTES, "%.*s%.*s%s", (int)scheme_of(url), url,
             length < SHOWN_HOST ? (int)length : SHOWN_HOST, place, more || user ? "/***" : "");
    return out;
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
