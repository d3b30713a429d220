/* Reader for TREC text. */
#include "text/index/collection_internal.h"
#include "text/index/entities.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { DEPTH = 32, TAG_MOST = 4096, NAME_MOST = 16 };
enum { DROPPED = -1 }; /* part number of ignored text */

static const struct {
    const char *tag;
    int part;
} TAGS[] = {{"docno", EK_TEXT_ID},    {"title", EK_FIELD_TITLE},   {"headline", EK_FIELD_TITLE},
            {"text", EK_FIELD_BODY},  {"body", EK_FIELD_BODY},     {"heading", EK_FIELD_HEADING},
            {"h1", EK_FIELD_HEADING}, {"h2", EK_FIELD_HEADING},    {"h3", EK_FIELD_HEADING},
            {"h4", EK_FIELD_HEADING}, {"h5", EK_FIELD_HEADING},    {"h6", EK_FIELD_HEADING},
            {"url", EK_TEXT_URL},     {"anchor", EK_FIELD_ANCHOR}, {"inlink", EK_FIELD_INLINK},
            {"script", DROPPED},      {"style", DROPPED},          {"dochdr", DROPPED}};

struct nest {
    int tag[DEPTH]; /* indexes of TAGS */
    int depth;
};

static int part_of(const struct nest *n)
{
    return n->depth ? TAGS[n->tag[n->depth - 1]].part : EK_FIELD_BODY;
}

static int find_tag(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof TAGS / sizeof *TAGS; i++)
        if (strlen(TAGS[i].tag) == length && !strncasecmp(TAGS[i].tag, name, length))
            return (int)i;
    return -1;
}

/* Close a tag and all tags within it. An unopened tag is ignored. */
static void close_tag(struct nest *n, int tag)
{
    for (int i = n->depth; i-- > 0;)
        if (n->tag[i] == tag) {
            n->depth = i;
            return;
        }
}

/* Return the length of the tag at p including '>', or 0 if '<' does not begin a tag. */
static size_t tag_length(const char *p, const char *end)
{
    const char *name = p + 1 + (p + 1 < end && p[1] == '/');
    bool good =
        name < end && (((unsigned)(*name | 0x20) - 'a') < 26 || *name == '!' || *name == '?');
    size_t room = (size_t)(end - p);
    if (good && room >= 4 && !memcmp(p, "<!--", 4)) { /* an unterminated comment extends to the
                                                       * end */
        const char *stop = memmem(p, room, "-->", 3);
        return stop ? (size_t)(stop - p) + 3 : room;
    }
    const char *close = good ? memchr(p, '>', room < TAG_MOST ? room : TAG_MOST) : NULL;
    return close ? (size_t)(close - p) + 1 : 0;
}

/* Return the first occurrence of a tag's beginning, or NULL. Handles NUL bytes. */
static char *find_tag_text(char *line, size_t length, const char *tag)
{
    size_t n = strlen(tag);
    char *end = line + length;
    for (char *p = line; (p = memchr(p, '<', (size_t)(end - p))); p++)
        if ((size_t)(end - p) >= n && !strncasecmp(p, tag, n))
            return p;
    return NULL;
}

/* Return the length of the content of a dropped tag, which may contain '<' ("if (a < b)"). Without
 * an end tag it extends to the end of the document, so each byte is scanned once. */
static size_t dropped_length(const struct nest *n, char *p, const char *end)
{
    char close[NAME_MOST];
    if (part_of(n) != DROPPED)
        return 0;
    snprintf(close, sizeof close, "</%s", TAGS[n->tag[n->depth - 1]].tag);
    const char *at = find_tag_text(p, (size_t)(end - p), close);
    return (size_t)((at ? at : end) - p);
}

static void read_tag(struct nest *n, const char *p, size_t length)
{
    bool closing = p[1] == '/';
    const char *name = p + 1 + closing;
    size_t size = strcspn(name, " \t\n/>");
    int tag = find_tag(name, size);
    if (tag < 0)
        return;
    if (closing)
        close_tag(n, tag);
    else if (p[length - 2] != '/' && n->depth < DEPTH)
        n->tag[n->depth++] = tag;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int add_text(struct ek_collection *c, int part, const char *from, const char *to,
                    struct ek_error *e)
{
    while (from < to && is_space(*from))
        from++;
    while (from < to && is_space(to[-1]))
        to--;
    if (from == to || part == DROPPED)
        return EK_OK;
    if (part == EK_TEXT_ID && c->part[EK_TEXT_ID].length)
        return ek_collection_fault(c, e, "a document with a second '<DOCNO>'");
    int rc = ek_collection_add(c, part, from, (size_t)(to - from), e);
    struct ek_buf *b = c->part + part;
    if (!rc)
        b->length -= (size_t)(to - from) -
                     ek_entities((char *)b->data + b->length - (to - from), (size_t)(to - from));
    return rc;
}

static int read_parts(struct ek_collection *c, struct ek_error *e)
{
    char *p = (char *)c->document.data, *end = p + c->document.length, *from = p;
    struct nest n = {{0}, 0};
    int rc = EK_OK;
    while (p < end && !rc) {
        char *open = memchr(p, '<', (size_t)(end - p));
        size_t length = open ? tag_length(open, end) : 0;
        if (open && !length) {
            p = open + 1;
            continue;
        }
        rc = add_text(c, part_of(&n), from, open ? open : end, e);
        if (open)
            read_tag(&n, open, length);
        p = open ? open + length : end;
        p = from = p + dropped_length(&n, p, end);
    }
    return rc ? rc : add_text(c, part_of(&n), from, end, e);
}

/* Return the length of "<DOC>" or "<DOC ...>", or 0 for another tag. */
static size_t begin_length(const char *p, size_t length)
{
    size_t n = strlen("<doc");
    if (length <= n || strncasecmp(p, "<doc", n) != 0 || !memchr("> \t", p[n], 3))
        return 0;
    const char *end = memchr(p, '>', length < TAG_MOST ? length : TAG_MOST);
    return end ? (size_t)(end - p) + 1 : 0;
}

static bool has_begin(char *line, size_t length)
{
    char *end = line + length;
    for (char *p = line; (p = find_tag_text(p, (size_t)(end - p), "<doc")); p++)
        if (begin_length(p, (size_t)(end - p)))
            return true;
    return false;
}

/* Append the line up to the end tag to the document. *whole: the end tag was found. */
static int read_line(struct ek_collection *c, bool *whole, struct ek_error *e)
{
    char *end = find_tag_text(c->line, c->length, "</doc>");
    size_t length = end ? (size_t)(end - c->line) : c->length;
    if (has_begin(c->line, length))
        return ek_fail_at(e, EK_EFORMAT, ek_collection_name(c), ek_reader_line_number(c->reader), 0,
                          "a '<DOC>' within the document of line %ld: '</DOC>' is missing",
                          c->begin);
    ek_buf_add(&c->document, c->line, length);
    int rc = ek_buf_add(&c->document, "\n", 1);
    if (rc == EK_ELIMIT)
        return ek_fail_at(e, EK_ELIMIT, ek_collection_name(c), c->begin, 0,
                          "a document has more than %d MiB", EK_TEXT_BYTES_MAX >> 20);
    *whole = end != NULL;
    if (end) { /* the rest belongs to the next document */
        c->line += length + strlen("</doc>");
        c->length -= length + strlen("</doc>");
    } else {
        c->line = NULL;
    }
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

/* Return whether a line holds only "<?xml ...>", "<!DOCTYPE ...>" or a comment. */
static bool is_prolog(const char *p, size_t length)
{
    const char *end =
        length > 1 && *p == '<' && (p[1] == '?' || p[1] == '!') ? memchr(p, '>', length) : NULL;
    return end && (size_t)(end - p) + 1 + strspn(end + 1, " \t\r") == length;
}

/* Advance to the next <DOC>; c->line is NULL at the end. */
static int find_begin(struct ek_collection *c, struct ek_error *e)
{
    for (;;) {
        int rc = ek_collection_line(c, e);
        if (rc || !c->line)
            return rc;
        size_t blank = strspn(c->line, " \t\r");
        size_t begin = begin_length(c->line + blank, c->length - blank);
        c->begin = ek_reader_line_number(c->reader);
        if (begin) {
            c->line += blank + begin;
            c->length -= blank + begin;
            return EK_OK;
        }
        if (is_prolog(c->line + blank, c->length - blank)) {
            c->line = NULL;
            continue;
        }
        if (blank != c->length)
            return ek_collection_fault(c, e, "'<DOC>' is missing: text outside of documents");
        c->line = NULL;
    }
}

int ek_collection_trec(struct ek_collection *c, bool *more, struct ek_error *e)
{
    bool whole = false;
    int rc = find_begin(c, e);
    if (rc || !c->line)
        return rc;
    ek_buf_clear(&c->document);
    while (!rc && !whole) {
        rc = ek_collection_line(c, e);
        if (!rc && !c->line)
            return ek_collection_fault(c, e, "a document that does not end: '</DOC>' is missing");
        if (!rc)
            rc = read_line(c, &whole, e);
    }
    if (!rc)
        rc = read_parts(c, e);
    *more = !rc;
    return rc;
}
