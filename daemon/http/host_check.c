#include "daemon/http/host_check.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 254 };

static bool is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool is_localhost(const char *name)
{
    return !strcasecmp(name, "localhost");
}

static bool is_loopback(const char *listen)
{
    return is_localhost(listen) || !strncmp(listen, "127.", 4) || !strcmp(listen, "::1");
}

/* Copy a host without brackets, port and trailing dot. Return false if it is empty or too long. */
static bool copy_name(const char *host, char name[NAME_BYTES])
{
    bool bracketed = *host == '[';
    size_t length = strcspn(host += bracketed, bracketed ? "]" : ":");
    if (!length || length >= NAME_BYTES)
        return false;
    memcpy(name, host, length);
    name[length] = 0;
    if (length > 1 && name[length - 1] == '.')
        name[length - 1] = 0;
    return true;
}

static bool contains(const char *name, const struct ek_text_list *names)
{
    for (size_t i = 0; names && i < names->count; i++)
        if (!strcasecmp(name, names->items[i]))
            return true;
    return false;
}

bool ek_http_host_is_allowed(const char *host, const char *listen, const struct ek_text_list *names)
{
    char name[NAME_BYTES];
    bool has_names = names && names->count;
    if (!host || (!has_names && !is_loopback(listen)))
        return true;
    if (!copy_name(host, name))
        return false;
    return contains(name, names) || is_address(name) || is_localhost(name) ||
           !strcasecmp(name, listen);
}

bool ek_http_origin_is_allowed(const char *origin, const char *host,
                               const struct ek_text_list *names)
{
    char name[NAME_BYTES];
    const char *at = strstr(origin, "://");
    if (!at)
        return false;
    at += strlen("://");
    return (host && !strcasecmp(at, host)) || (copy_name(at, name) && contains(name, names));
}
