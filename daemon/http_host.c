#include "daemon/http_host.h"

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

/* Without brackets, port, and the dot of a full name. False: it is no name. */
static bool name_of(const char *host, char name[NAME_BYTES])
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

bool ek_http_host_is_ours(const char *host, const char *listen, const struct ek_text_list *names)
{
    char name[NAME_BYTES];
    size_t count = names ? names->count : 0;
    if (!host || (!count && !is_loopback(listen)))
        return true;
    if (!name_of(host, name))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(name, names->items[i]))
            return true;
    return is_address(name) || is_localhost(name) || !strcasecmp(name, listen);
}
