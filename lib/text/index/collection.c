#include "text/index/collection.h"

#include "base/alloc.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/buf.h"
#include "base/file.h"

enum { EK_TEXT_ID = EK_FIELDS, EK_TEXT_URL, EK_TEXT_PARTS };

struct ek_collection {
    struct ek_reader *reader;
    enum ek_collection_format format;
    char *line; /* read but not yet consumed; NULL: none */
    size_t length;
    bool ended;
    struct ek_buf part[EK_TEXT_PARTS]; /* fields, id and URL of the document */
    struct ek_buf document;            /* TREC: raw text */
    long begin;                        /* first line of the document */
    uint64_t unknown;                  /* ignored keys */
    char first_unknown[EK_KEY_BYTES];  /* truncated if necessary */
};

/* Reader for TREC text. */
enum { DEPTH = 32, TAG_MOST = 4096, CLOSE_MOST = 16 };
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

/* Fail with the message `what` at the first line of the document. Return EK_EFORMAT. */
static int collection_fault(const struct ek_collection *c, struct ek_error *e, const char *what)
{
    return ek_fail_at(e, EK_EFORMAT, ek_collection_name(c), c->begin, 0, "%s", what);
}

/* Set c->line to the pending or the next line, or NULL at the end. Return 0, EK_EFORMAT with a
 * position, EK_ELIMIT, EK_EIO or EK_ENOMEM. */
static int collection_line(struct ek_collection *c, struct ek_error *e)
{
    if (c->line)
        return EK_OK;
    return ek_reader_line(c->reader, &c->line, &c->length, e);
}

/* Append a copy of a string to a part, after a line feed if the part is not empty. Return 0,
 * EK_ELIMIT beyond the limit of the part, or EK_ENOMEM. */
static int collection_add(struct ek_collection *c, int part, const char *text, size_t length,
                          struct ek_error *e)
{
    struct ek_buf *b = c->part + part;
    if (b->length)
        ek_buf_add(b, "\n", 1);
    int rc = ek_buf_add(b, text, length);
    if (rc == EK_ELIMIT)
        return ek_fail_at(e, EK_ELIMIT, ek_collection_name(c), c->begin, 0,
                          "a document has more than %d MiB", EK_TEXT_BYTES_MAX >> 20);
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

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
    char close[CLOSE_MOST];
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

static int add_tagged_text(struct ek_collection *c, int part, const char *from, const char *to,
                           struct ek_error *e)
{
    while (from < to && is_space(*from))
        from++;
    while (from < to && is_space(to[-1]))
        to--;
    if (from == to || part == DROPPED)
        return EK_OK;
    if (part == EK_TEXT_ID && c->part[EK_TEXT_ID].length)
        return collection_fault(c, e, "a document with a second '<DOCNO>'");
    int rc = collection_add(c, part, from, (size_t)(to - from), e);
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
        rc = add_tagged_text(c, part_of(&n), from, open ? open : end, e);
        if (open)
            read_tag(&n, open, length);
        p = open ? open + length : end;
        p = from = p + dropped_length(&n, p, end);
    }
    return rc ? rc : add_tagged_text(c, part_of(&n), from, end, e);
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
        int rc = collection_line(c, e);
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
            return collection_fault(c, e, "'<DOC>' is missing: text outside of documents");
        c->line = NULL;
    }
}

/* Read the parts of the next document of TREC text into c->part; *more is false after the last.
 * Return 0, EK_EFORMAT with a position, EK_ELIMIT, EK_EIO or EK_ENOMEM. */
static int collection_trec(struct ek_collection *c, bool *more, struct ek_error *e)
{
    bool whole = false;
    int rc = find_begin(c, e);
    if (rc || !c->line)
        return rc;
    ek_buf_clear(&c->document);
    while (!rc && !whole) {
        rc = collection_line(c, e);
        if (!rc && !c->line)
            return collection_fault(c, e, "a document that does not end: '</DOC>' is missing");
        if (!rc)
            rc = read_line(c, &whole, e);
    }
    if (!rc)
        rc = read_parts(c, e);
    *more = !rc;
    return rc;
}

enum { NAME_MOST = 10, CODE_MOST = 0x10ffff };

/* Encode a code point as UTF-8. Return the bytes, fewer than those of any reference: "&#1;" has
 * four. */
static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Parse "#38" or "#x26". Return 0 if invalid. */
static uint32_t number_of(const char *name, size_t length)
{
    size_t i = 1;
    int base = 10;
    uint32_t code = 0;
    if (length > 2 && (name[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    }
    for (; i < length; i++) {
        int digit = digit_of(name[i]);
        if (digit >= base)
            return 0;
        code = code * (uint32_t)base + (uint32_t)digit;
        if (code > CODE_MOST)
            return 0;
    }
    return code >= 0xd800 && code < 0xe000 ? 0 : code;
}

static uint32_t code_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        uint32_t code;
    } NAMES[] = {{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
                 {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xa0}};
    if (length && name[0] == '#')
        return number_of(name, length);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strlen(NAMES[i].name) == length && !memcmp(NAMES[i].name, name, length))
            return NAMES[i].code;
    return 0;
}

size_t ek_entities(char *text, size_t length)
{
    size_t from = 0, to = 0;
    while (from < length) {
        size_t left = length - from - 1, most = left < NAME_MOST ? left : NAME_MOST;
        const char *end = text[from] == '&' ? memchr(text + from + 1, ';', most) : NULL;
        size_t size = end ? (size_t)(end - text) - from - 1 : 0;
        uint32_t code = end ? code_of(text + from + 1, size) : 0;
        if (code) {
            to += encode(code, text + to);
            from += size + 2;
        } else {
            text[to++] = text[from++];
        }
    }
    return to;
}

/* Reader for JSON lines. */
enum { NUMBER = 32 };

static const char *const KEYS[EK_TEXT_PARTS] = {"title",  "body", "heading", "inlink",
                                                "anchor", "id",   "url"};

static int wrong(const struct ek_collection *c, const char *key, const char *needs,
                 struct ek_error *e)
{
    return ek_fail_at(e, EK_EFORMAT, ek_collection_name(c), c->begin, 0, "'%s' has to be %s", key,
                      needs);
}

static int add_text(struct ek_collection *c, int part, yyjson_val *text, struct ek_error *e)
{
    return collection_add(c, part, yyjson_get_str(text), yyjson_get_len(text), e);
}

static int read_array(struct ek_collection *c, int part, yyjson_val *texts, struct ek_error *e)
{
    size_t i, max;
    yyjson_val *text;
    yyjson_arr_foreach(texts, i, max, text)
    {
        if (!yyjson_is_str(text))
            return wrong(c, KEYS[part], "a text or an array of texts", e);
        int rc = add_text(c, part, text, e);
        if (rc)
            return rc;
    }
    return EK_OK;
}

static int read_id(struct ek_collection *c, yyjson_val *value, struct ek_error *e)
{
    char number[NUMBER];
    if (yyjson_is_str(value))
        return add_text(c, EK_TEXT_ID, value, e);
    if (!yyjson_is_int(value))
        return wrong(c, "id", "a text or a whole number", e);
    int length = snprintf(number, sizeof number, "%" PRId64, yyjson_get_sint(value));
    return collection_add(c, EK_TEXT_ID, number, (size_t)length, e);
}

static int read_part(struct ek_collection *c, int part, yyjson_val *value, struct ek_error *e)
{
    if (!value || yyjson_is_null(value))
        return EK_OK;
    if (part == EK_TEXT_ID)
        return read_id(c, value, e);
    if (yyjson_is_str(value))
        return add_text(c, part, value, e);
    if (part == EK_TEXT_URL || !yyjson_is_arr(value))
        return wrong(c, KEYS[part], part == EK_TEXT_URL ? "a text" : "a text or an array of texts",
                     e);
    return read_array(c, part, value, e);
}

static int parse(const struct ek_collection *c, yyjson_doc **out, struct ek_error *e)
{
    struct ek_json_error why;
    int rc = ek_json_parse(out, c->line, c->length, true, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    if (rc)
        return ek_fail_at(e, rc, ek_collection_name(c), c->begin, why.column, "no JSON: %s",
                          why.text);
    if (yyjson_is_obj(yyjson_doc_get_root(*out)))
        return EK_OK;
    yyjson_doc_free(*out);
    return collection_fault(c, e, "a document has to be a JSON object");
}

static void count_unknown(struct ek_collection *c, yyjson_val *object)
{
    size_t i, max;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, max, key, value)
    {
        int part = 0;
        while (part < EK_TEXT_PARTS && !yyjson_equals_str(key, KEYS[part]))
            part++;
        if (part == EK_TEXT_PARTS && !c->unknown++)
            snprintf(c->first_unknown, sizeof c->first_unknown, "%s", yyjson_get_str(key));
    }
}

/* Read the parts of the next document of JSON lines into c->part; *more is false after the last.
 * Return 0, EK_EFORMAT with a position, EK_ELIMIT, EK_EIO or EK_ENOMEM. */
static int collection_json(struct ek_collection *c, bool *more, struct ek_error *e)
{
    do {
        int rc = collection_line(c, e);
        if (rc || !c->line)
            return rc;
        c->begin = ek_reader_line_number(c->reader);
        if (strspn(c->line, " \t") != c->length)
            break;
        c->line = NULL;
    } while (true);
    yyjson_doc *doc;
    int rc = parse(c, &doc, e);
    c->line = NULL;
    if (rc)
        return rc;
    yyjson_val *object = yyjson_doc_get_root(doc);
    for (int i = 0; i < EK_TEXT_PARTS && !rc; i++)
        rc = read_part(c, i, yyjson_obj_get(object, KEYS[i]), e);
    count_unknown(c, object);
    yyjson_doc_free(doc);
    *more = !rc;
    return rc;
}

/* Skip blank lines and detect the format. On an unknown format the line stays unread. */
static int recognize(struct ek_collection *c, struct ek_error *e)
{
    int rc = EK_OK;
    while (!rc) {
        rc = collection_line(c, e);
        if (rc || !c->line)
            return rc;
        if (strspn(c->line, " \t") != c->length)
            break;
        c->line = NULL;
    }
    if (c->format != EK_COLLECTION_AUTO)
        return EK_OK;
    char first = c->line[strspn(c->line, " \t")];
    if (first != '{' && first != '<')
        return ek_fail_at(e, EK_EFORMAT, ek_collection_name(c), ek_reader_line_number(c->reader), 0,
                          "neither JSON lines, which begin with '{', nor TREC text, which begins "
                          "with '<DOC>'");
    c->format = first == '{' ? EK_COLLECTION_JSON : EK_COLLECTION_TREC;
    return EK_OK;
}

int ek_collection_open(struct ek_collection **out, const char *path,
                       enum ek_collection_format format, struct ek_error *e)
{
    struct ek_collection *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->format = format;
    for (int i = 0; i < EK_TEXT_PARTS; i++)
        ek_buf_init(c->part + i, EK_TEXT_BYTES_MAX);
    ek_buf_init(&c->document, EK_TEXT_BYTES_MAX);
    int rc = ek_reader_open(&c->reader, path, e);
    if (!rc)
        rc = recognize(c, e);
    if (rc) {
        ek_collection_close(c);
        return rc;
    }
    *out = c;
    return EK_OK;
}

void ek_collection_close(struct ek_collection *c)
{
    if (!c)
        return;
    ek_reader_close(c->reader);
    for (int i = 0; i < EK_TEXT_PARTS; i++)
        ek_buf_release(c->part + i);
    ek_buf_release(&c->document);
    ek_free(c);
}

static struct ek_text text_of(const struct ek_buf *b)
{
    return (struct ek_text){(const char *)b->data, b->length};
}

/* Return whether an id survives in a LETOR comment, a relevance file and a C string. */
static bool is_plain_id(const char *id, size_t length)
{
    static const char name[] = "docid"; /* optional prefix of an id in a LETOR comment */
    static const char blanks[] = " \t\v\f";
    for (size_t i = 0; i < length; i++)
        if (!id[i] || id[i] == '\n' || id[i] == '\r')
            return false;
    size_t at = sizeof name - 1;
    if (length > at && !memcmp(id, name, at)) {
        while (at < length && strchr(blanks, id[at]))
            at++;
        if (at < length && id[at] == '=')
            return false;
    }
    return !strchr(blanks, id[0]) && !strchr(blanks, id[length - 1]);
}

static int check_id(const struct ek_collection *c, struct ek_error *e)
{
    const struct ek_buf *id = c->part + EK_TEXT_ID;
    if (!id->length)
        return collection_fault(c, e,
                                c->format == EK_COLLECTION_JSON ? "a document without 'id'"
                                                                : "a document without '<DOCNO>'");
    if (id->length > EK_ID_BYTES_MAX)
        return ek_fail_at(e, EK_ELIMIT, ek_collection_name(c), c->begin, 0,
                          "an id of %zu bytes, at most %d", id->length, EK_ID_BYTES_MAX);
    if (!is_plain_id((const char *)id->data, id->length))
        return collection_fault(c, e,
                                "an id that cannot be written with features: it begins or ends "
                                "with a blank, has a line "
                                "end or a NUL byte, or begins with 'docid ='");
    return EK_OK;
}

int ek_collection_next(struct ek_collection *c, struct ek_record_text *r, bool *more,
                       struct ek_error *e)
{
    for (int i = 0; i < EK_TEXT_PARTS; i++)
        ek_buf_clear(c->part + i);
    *more = false;
    int rc =
        c->format == EK_COLLECTION_TREC ? collection_trec(c, more, e) : collection_json(c, more, e);
    if (!rc && *more)
        rc = check_id(c, e);
    if (rc || !*more) {
        *more = false;
        return rc;
    }
    for (int f = 0; f < EK_FIELDS; f++)
        r->field[f] = text_of(c->part + f);
    r->id = text_of(c->part + EK_TEXT_ID);
    r->url = text_of(c->part + EK_TEXT_URL);
    r->line = c->begin;
    return EK_OK;
}

const char *ek_collection_name(const struct ek_collection *c)
{
    return ek_reader_name(c->reader);
}

uint64_t ek_collection_unknown(const struct ek_collection *c, const char **first)
{
    *first = c->first_unknown;
    return c->unknown;
}

void ek_collection_position(const struct ek_collection *c, uint64_t *done, uint64_t *total)
{
    ek_reader_position(c->reader, done, total);
}
