#include "daemon/state/checkpoint_ref.h"

#include "base/error.h"
#include "base/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 320 };

int ek_checkpoint_note_add(struct ek_buf *note, const char *topic, int partition, int64_t seen)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "%s/%d %" PRId64 "\n", topic, partition, seen);
    return length < (int)sizeof line ? ek_buf_add(note, line, (size_t)length) : EK_ELIMIT;
}

int64_t ek_checkpoint_note_get_offset(const void *note, size_t length, const char *topic,
                                      int partition)
{
    char name[LINE_BYTES];
    int64_t seen;
    const char *at = note, *end = length ? at + length : at;
    size_t size = (size_t)snprintf(name, sizeof name, "%s/%d ", topic, partition);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t line = (size_t)((stop ? stop : end) - at);
        if (line > size && !memcmp(at, name, size))
            return ek_parse_i64(at + size, line - size, &seen) || seen < 0 ? -1 : seen;
        at += line + (stop != NULL);
    }
    return -1;
}

enum { HEAD_DIGITS = 16, NUMBER_MAX = 0x7fffffff };

void ek_checkpoint_ref_write(const struct ek_checkpoint_ref *p, char text[EK_CHECKPOINT_REF_BYTES])
{
    snprintf(text, EK_CHECKPOINT_REF_BYTES,
             "ek1;home=%s/%d;base=%" PRIu64 ";head=%016" PRIx64 ";since=%" PRId64 ";seen=%" PRId64,
             p->topic, p->partition, p->base, p->head, p->since_ms, p->seen);
    size_t length = strlen(text);
    if (p->at != p->partition)
        snprintf(text + length, EK_CHECKPOINT_REF_BYTES - length, ";at=%d", p->at);
}

/* Unparsed part of the string. */
struct rest {
    const char *at, *end;
};

/* Parse the next field up to ';'. Return false if it has another name. */
static bool field(struct rest *r, const char *name, const char **text, size_t *length)
{
    size_t size = strlen(name);
    if ((size_t)(r->end - r->at) <= size || memcmp(r->at, name, size) != 0 || r->at[size] != '=')
        return false;
    *text = r->at + size + 1;
    const char *stop = memchr(*text, ';', (size_t)(r->end - *text));
    *length = (size_t)((stop ? stop : r->end) - *text);
    r->at = stop ? stop + 1 : r->end;
    return true;
}

static bool whole(struct rest *r, const char *name, int64_t *out)
{
    const char *text;
    size_t length;
    return field(r, name, &text, &length) && !ek_parse_i64(text, length, out) && *out >= 0;
}

static bool read_partition(struct rest *r, struct ek_checkpoint_ref *p)
{
    const char *text;
    size_t length, topic;
    int64_t number;
    if (!field(r, "home", &text, &length))
        return false;
    for (topic = length; topic > 0 && text[topic - 1] != '/'; topic--)
        ;
    if (topic < 2 || topic > EK_TOPIC_BYTES || memchr(text, 0, topic) || /* length includes '/' */
        ek_parse_i64(text + topic, length - topic, &number) || number < 0 || number > NUMBER_MAX)
        return false;
    memcpy(p->topic, text, topic - 1);
    p->topic[topic - 1] = 0;
    p->partition = (int)number;
    return true;
}

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

static bool read_hex(const char *text, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < HEAD_DIGITS; i++) {
        int d = digit(text[i]);
        if (d < 0)
            return false;
        *out = *out << 4 | (uint64_t)d;
    }
    return true;
}

static bool read_head(struct rest *r, uint64_t *out)
{
    const char *text;
    size_t length;
    return field(r, "head", &text, &length) && length == HEAD_DIGITS && read_hex(text, out);
}

static const char PRINT[] = ";print=";
enum { PRINT_LENGTH = sizeof PRINT - 1 + HEAD_DIGITS };

static bool has_print(const char *text, size_t length)
{
    return length >= PRINT_LENGTH && !memcmp(text + length - PRINT_LENGTH, PRINT, sizeof PRINT - 1);
}

static const char OWNER[] = ";owner=";
enum { OWNER_LENGTH = sizeof OWNER - 1 };

void ek_print_write(uint64_t print, const char *owner, bool reference,
                    char text[EK_PRINT_TEXT_BYTES])
{
    bool owned = owner && !strchr(owner, ';');
    int length =
        snprintf(text, EK_PRINT_TEXT_BYTES, "%s%s%s", !reference && (owned || print) ? "ek1p" : "",
                 owned ? OWNER : "", owned ? owner : "");
    if (print)
        snprintf(text + length, EK_PRINT_TEXT_BYTES - (size_t)length, "%s%016" PRIx64, PRINT,
                 print);
}

/* Return the text from the owner on, or NULL. Topics, the only names before it, have no ';'. */
static const char *find_owner(const char *text, size_t length)
{
    return length ? memmem(text, length, OWNER, OWNER_LENGTH) : NULL;
}

void ek_owner_read(const char *text, size_t length, char name[EK_INSTANCE_BYTES])
{
    const char *at = find_owner(text, length);
    name[0] = 0;
    if (!at)
        return;
    at += OWNER_LENGTH;
    size_t left = (size_t)(text + length - at);
    const char *stop = memchr(at, ';', left);
    size_t size = stop ? (size_t)(stop - at) : left;
    if (size < EK_INSTANCE_BYTES)
        snprintf(name, EK_INSTANCE_BYTES, "%.*s", (int)size, at);
}

uint64_t ek_print_read(const char *text, size_t length)
{
    uint64_t print;
    return has_print(text, length) && read_hex(text + length - HEAD_DIGITS, &print) ? print : 0;
}

static bool is_newer(const char *text, size_t length)
{
    const char *stop = length > 2 && !memcmp(text, "ek", 2) ? memchr(text, ';', length) : NULL;
    int64_t version;
    return stop && !ek_parse_i64(text + 2, (size_t)(stop - text) - 2, &version) && version > 1;
}

enum ek_checkpoint_ref_kind ek_checkpoint_ref_read(const char *text, size_t length,
                                                   struct ek_checkpoint_ref *out)
{
    static const char mine[] = "ek1;";
    struct ek_checkpoint_ref p;
    int64_t base, at;
    if (has_print(text, length))
        length -= PRINT_LENGTH;
    const char *owner = find_owner(text, length);
    if (owner)
        length = (size_t)(owner - text);
    if (length < sizeof mine || memcmp(text, mine, sizeof mine - 1) != 0)
        return is_newer(text, length) ? EK_CHECKPOINT_REF_NEWER : EK_CHECKPOINT_REF_NONE;
    struct rest r = {text + sizeof mine - 1, text + length};
    if (!read_partition(&r, &p) || !whole(&r, "base", &base) || !read_head(&r, &p.head) ||
        !whole(&r, "since", &p.since_ms) || !whole(&r, "seen", &p.seen))
        return EK_CHECKPOINT_REF_NONE;
    at = p.partition;
    if (r.at != r.end && (!whole(&r, "at", &at) || at > NUMBER_MAX || r.at != r.end))
        return EK_CHECKPOINT_REF_NONE;
    p.at = (int)at;
    p.base = (uint64_t)base;
    *out = p;
    return EK_CHECKPOINT_REF_READ;
}

bool ek_checkpoint_ref_partition(const struct ek_checkpoint_ref *p, const char *topic,
                                 int partition)
{
    return p->partition == partition && !strcmp(p->topic, topic);
}
