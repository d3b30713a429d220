/* Short external strings: checkpoint references in offset metadata, hosts and origins, URLs, listen
 * addresses, broker lists, token files, checkpoint notes. The first byte selects the parser. */
#include "base/error.h"
#include "daemon/base/url.h"
#include "daemon/http/control_api.h"
#include "daemon/state/checkpoint_ref.h"
#include "daemon/config/auth.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

enum { TEXT_MAX = 4000, WAYS = 6 };

/* A parsed reference must survive formatting and parsing. */
static void pointer(const char *text, size_t length)
{
    struct ek_checkpoint_ref p, again;
    char written[EK_CHECKPOINT_REF_BYTES];
    memset(&p, 0, sizeof p);
    memset(&again, 0, sizeof again);
    if (ek_checkpoint_ref_read(text, length, &p) != EK_CHECKPOINT_REF_READ)
        return;
    ek_fuzz_require(strlen(p.topic) < EK_TOPIC_BYTES && p.partition >= 0, "a home that is none");
    ek_checkpoint_ref_write(&p, written);
    ek_fuzz_require(ek_checkpoint_ref_read(written, strlen(written), &again) ==
                        EK_CHECKPOINT_REF_READ,
                    "what was written cannot be read");
    ek_fuzz_require(!strcmp(p.topic, again.topic) && p.partition == again.partition &&
                        p.base == again.base && p.head == again.head &&
                        p.since_ms == again.since_ms && p.seen == again.seen,
                    "read as another");
    ek_fuzz_require(ek_checkpoint_ref_partition(&again, p.topic, p.partition), "not at home");
}

/* A redacted URL is valid and has nothing after the host. */
static void address(const char *text)
{
    char shown[EK_URL_REDACTED_BYTES], escaped[64];
    ek_url_escape(text, escaped, sizeof escaped);
    ek_fuzz_require(strspn(escaped, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789-._~%") == strlen(escaped),
                    "not escaped");
    if (ek_url_check(text))
        return;
    ek_url_redact(text, shown);
    ek_fuzz_require(strlen(shown) < sizeof shown && !ek_url_check(shown), "shown as no address");
    const char *secret = strstr(text, "geheim");
    const char *path = secret ? strchr(text + 8, '/') : NULL;
    ek_fuzz_require(!path || path > secret || !strstr(shown, "geheim"), "a secret is shown");
}

/* Two strings: the requested host and the origin. */
static void host(const char *text)
{
    static char name[] = "ek.example";
    static char *names[] = {name};
    static const struct ek_text_list own = {names, 1};
    char first[TEXT_MAX + 1];
    const char *line = strchr(text, '\n');
    size_t length = line ? (size_t)(line - text) : strlen(text);
    memcpy(first, text, length);
    first[length] = 0;
    const char *origin = line ? line + 1 : "";
    ek_http_host_is_allowed(first, "127.0.0.1", NULL);
    ek_http_host_is_allowed(first, "0.0.0.0", &own);
    if (ek_http_origin_is_allowed(origin, first, NULL))
        ek_fuzz_require(strcasestr(origin, first) != NULL, "a page of another host");
    ek_http_origin_is_allowed(origin, first, &own);
}

static void places(const char *text)
{
    char at[EK_HOST_BYTES];
    const char *port = NULL;
    struct ek_error e = {0};
    if (ek_address_split("http.listen", text, at, &port, &e))
        ek_fuzz_require(e.message[0], "refused without a word");
    else
        ek_fuzz_require(port > text && strlen(at) < EK_HOST_BYTES, "no port");
    e.message[0] = 0;
    if (ek_brokers_check("input.brokers", text, &e))
        ek_fuzz_require(e.message[0], "refused without a word");
}

static void token_file(const uint8_t *data, size_t size)
{
    char path[EK_FUZZ_PATH_BYTES], name[EK_AUTHOR_BYTES + 1];
    struct ek_tokens *t;
    struct ek_error e = {0};
    int fd = ek_fuzz_file(data, size, path);
    if (ek_tokens_load(&t, path, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
    } else {
        const char *first = ek_tokens_first(t);
        size_t length = strlen(first);
        ek_fuzz_require(length >= EK_TOKEN_MIN && length <= EK_TOKEN_MAX, "no token");
        ek_fuzz_require(ek_tokens_find(t, first, name), "a token that is not known");
        ek_fuzz_require(!ek_tokens_find(t, "", name), "anybody may");
        ek_tokens_free(t);
    }
    close(fd);
}

/* A parsed note must survive writing and reading. */
static void note(const uint8_t *data, size_t size)
{
    struct ek_buf own;
    uint8_t *exact = ek_fuzz_exact(data, size);
    int64_t seen = ek_checkpoint_note_get_offset(exact, size, "scored", 1);
    free(exact);
    ek_fuzz_require(seen >= -1, "no offset");
    ek_buf_init(&own, 0);
    ek_fuzz_require(!ek_checkpoint_note_add(&own, "scored", 0, 7) &&
                        !ek_checkpoint_note_add(&own, "scored", 1, seen < 0 ? 0 : seen),
                    "no memory");
    ek_fuzz_require(ek_checkpoint_note_get_offset(own.data, own.length, "scored", 1) ==
                        (seen < 0 ? 0 : seen),
                    "read as another");
    ek_buf_release(&own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1];
    if (!size)
        return 0;
    size_t length = size - 1 < TEXT_MAX ? size - 1 : TEXT_MAX;
    memcpy(text, data + 1, length);
    text[length] = 0;
    switch (data[0] % WAYS) {
    case 0:
        pointer((const char *)data + 1, size - 1);
        break;
    case 1:
        address(text);
        break;
    case 2:
        host(text);
        break;
    case 3:
        places(text);
        break;
    case 4:
        token_file(data + 1, size - 1);
        break;
    default:
        note(data + 1, size - 1);
    }
    return 0;
}
