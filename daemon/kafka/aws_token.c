#include "daemon/kafka/aws_token.h"

#include "base/alloc.h"
#include "daemon/base/url.h"
#include "evenkeel.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    HASH_BYTES = 32, /* SHA-256 */
    HEX_BYTES = 2 * HASH_BYTES + 1,
    TIME_BYTES = 40, /* 20270131T120000Z */
    DATE_LENGTH = 8, /* of these, 20270131 */
    ENCODED_MAX = 1 << 20
};

static const char ALGORITHM[] = "AWS4-HMAC-SHA256", SERVICE[] = "kafka-cluster",
                  TERMINATOR[] = "aws4_request";

/* A request while it is signed. */
struct signing {
    const struct ek_aws_credentials *credentials;
    const char *region;
    char time[TIME_BYTES];
    struct ek_buf scope;
    struct ek_buf query;     /* of the URL, in the order of the names, as it is signed */
    struct ek_buf canonical; /* request */
    struct ek_buf text;      /* string to sign */
    struct ek_buf url;
};

static void write_hex(const uint8_t bytes[HASH_BYTES], char out[HEX_BYTES])
{
    for (int i = 0; i < HASH_BYTES; i++)
        snprintf(out + (ptrdiff_t)2 * i, 3, "%02x", bytes[i]);
}

/* Return 0, or EK_ENOMEM if OpenSSL fails. */
static int hash_hex(const void *bytes, size_t length, char out[HEX_BYTES])
{
    uint8_t hash[HASH_BYTES];
    if (!EVP_Digest(bytes, length, hash, NULL, EVP_sha256(), NULL))
        return EK_ENOMEM;
    write_hex(hash, out);
    return EK_OK;
}

/* Append `name=value`, the value escaped. Return 0 or EK_ENOMEM. */
static int add_parameter(struct ek_buf *out, const char *name, const char *value)
{
    size_t size = 3 * strlen(value) + 1;
    char *escaped = ek_realloc(NULL, size, 1);
    if (!escaped)
        return out->rc = EK_ENOMEM;
    ek_url_escape(value, escaped, size);
    int rc = ek_buf_printf(out, "%s%s=%s", out->length ? "&" : "", name, escaped);
    ek_free(escaped);
    return rc;
}

/* The order is that of the names, which Signature Version 4 requires. */
static int write_query(struct signing *s)
{
    const struct ek_aws_credentials *c = s->credentials;
    struct ek_buf user;
    char seconds[20];
    snprintf(seconds, sizeof seconds, "%d", EK_AWS_TOKEN_S);
    ek_buf_init(&user, ENCODED_MAX);
    ek_buf_printf(&user, "%s/%s", c->key_id, ek_buf_string(&s->scope));
    const char *text = ek_buf_string(&user);
    int rc = text ? EK_OK : EK_ENOMEM;
    if (!rc) {
        add_parameter(&s->query, "Action", "kafka-cluster:Connect");
        add_parameter(&s->query, "X-Amz-Algorithm", ALGORITHM);
        add_parameter(&s->query, "X-Amz-Credential", text);
        add_parameter(&s->query, "X-Amz-Date", s->time);
        add_parameter(&s->query, "X-Amz-Expires", seconds);
        if (c->session_token)
            add_parameter(&s->query, "X-Amz-Security-Token", c->session_token);
        rc = add_parameter(&s->query, "X-Amz-SignedHeaders", "host");
    }
    ek_buf_release(&user);
    return rc;
}

static int write_text(struct signing *s)
{
    char empty[HEX_BYTES], hash[HEX_BYTES];
    int rc = hash_hex("", 0, empty);
    if (!rc)
        rc = ek_buf_printf(&s->canonical, "GET\n/\n%s\nhost:kafka.%s.amazonaws.com\n\nhost\n%s",
                           ek_buf_string(&s->query), s->region, empty);
    if (!rc)
        rc = hash_hex(s->canonical.data, s->canonical.length, hash);
    return rc ? rc
              : ek_buf_printf(&s->text, "%s\n%s\n%s\n%s", ALGORITHM, s->time,
                              ek_buf_string(&s->scope), hash);
}

/* Replace the key by the code of `text` with it. Return 0, or EK_ENOMEM if OpenSSL fails. */
static int derive(uint8_t key[HASH_BYTES], const void *text, size_t length)
{
    uint8_t next[HASH_BYTES];
    if (!HMAC(EVP_sha256(), key, HASH_BYTES, text, length, next, NULL))
        return EK_ENOMEM;
    memcpy(key, next, HASH_BYTES);
    return EK_OK;
}

/* Derive the key of date, region and service, then sign the text. */
static int write_signature(const struct signing *s, char out[HEX_BYTES])
{
    uint8_t key[HASH_BYTES];
    struct ek_buf first;
    int rc = EK_OK;
    ek_buf_init(&first, ENCODED_MAX);
    ek_buf_text(&first, "AWS4");
    if (ek_buf_text(&first, s->credentials->secret) ||
        !HMAC(EVP_sha256(), first.data, (int)first.length, (const uint8_t *)s->time, DATE_LENGTH,
              key, NULL))
        rc = EK_ENOMEM;
    ek_buf_release(&first);
    if (!rc)
        rc = derive(key, s->region, strlen(s->region));
    if (!rc)
        rc = derive(key, SERVICE, sizeof SERVICE - 1);
    if (!rc)
        rc = derive(key, TERMINATOR, sizeof TERMINATOR - 1);
    if (!rc)
        rc = derive(key, s->text.data, s->text.length);
    write_hex(key, out);
    return rc;
}

/* Append in base64 with - and _ in place of + and /, without =. */
static int add_base64url(struct ek_buf *out, const struct ek_buf *bytes)
{
    int rc = ek_buf_reserve(out, bytes->length / 3 * 4 + 5);
    if (rc)
        return rc;
    uint8_t *text = out->data + out->length;
    int length = EVP_EncodeBlock(text, bytes->data, (int)bytes->length);
    while (length && text[length - 1] == '=')
        length--;
    for (int i = 0; i < length; i++)
        text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
    out->length += (size_t)length;
    return EK_OK;
}

static int sign(struct signing *s, struct ek_buf *out)
{
    char signature[HEX_BYTES];
    int rc = ek_buf_printf(&s->scope, "%.*s/%s/%s/%s", DATE_LENGTH, s->time, s->region, SERVICE,
                           TERMINATOR);
    if (!rc && !ek_buf_string(&s->scope))
        rc = EK_ENOMEM;
    if (!rc)
        rc = write_query(s);
    if (!rc && !ek_buf_string(&s->query))
        rc = EK_ENOMEM;
    if (!rc)
        rc = write_text(s);
    if (!rc)
        rc = write_signature(s, signature);
    if (!rc)
        rc = ek_buf_printf(&s->url,
                           "https://kafka.%s.amazonaws.com/?%s&X-Amz-Signature=%s"
                           "&User-Agent=evenkeel%%2F" EK_VERSION,
                           s->region, ek_buf_string(&s->query), signature);
    return rc ? rc : add_base64url(out, &s->url);
}

int ek_aws_token_sign(const struct ek_aws_credentials *c, const char *region, int64_t now_ms,
                      struct ek_buf *out)
{
    struct signing s = {.credentials = c, .region = region};
    struct ek_buf *const bufs[] = {&s.scope, &s.query, &s.canonical, &s.text, &s.url};
    time_t now = (time_t)(now_ms / 1000);
    struct tm utc;
    strftime(s.time, sizeof s.time, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        ek_buf_init(bufs[i], ENCODED_MAX);
    int rc = sign(&s, out);
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        ek_buf_release(bufs[i]);
    return rc;
}
