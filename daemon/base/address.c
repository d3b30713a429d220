#include "daemon/base/address.h"

#include "base/parse.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
    return memchr(text, ':', length) != memrchr(text, ':', length) &&
           strspn(text, "0123456789abcdefABCDEF:.") >= length;
}

static int check_broker(const char *key, const char *text, size_t length, struct ek_error *e)
{
    const char *protocol = memmem(text, length, "://", 3);
    const char *host = protocol ? protocol + 3 : text, *end = text + length;
    const char *colon = memrchr(host, ':', (size_t)(end - host));
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
