#include "text/index/collection.h"

#include "base/alloc.h"
#include "text/index/collection_internal.h"

#include <string.h>

int ek_collection_fault(const struct ek_collection *c, struct ek_error *e, const char *what)
{
    return ek_fail_at(e, EK_EFORMAT, ek_collection_name(c), c->begin, 0, "%s", what);
}

int ek_collection_line(struct ek_collection *c, struct ek_error *e)
{
    if (c->line)
        return EK_OK;
    return ek_reader_line(c->reader, &c->line, &c->length, e);
}

int ek_collection_add(struct ek_collection *c, int part, const char *text, size_t length,
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

/* Skip blank lines and detect the format. On an unknown format the line stays unread. */
static int recognize(struct ek_collection *c, struct ek_error *e)
{
    int rc = EK_OK;
    while (!rc) {
        rc = ek_collection_line(c, e);
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
        return ek_collection_fault(c, e,
                                   c->format == EK_COLLECTION_JSON
                                       ? "a document without 'id'"
                                       : "a document without '<DOCNO>'");
    if (id->length > EK_ID_BYTES_MAX)
        return ek_fail_at(e, EK_ELIMIT, ek_collection_name(c), c->begin, 0,
                          "an id of %zu bytes, at most %d", id->length, EK_ID_BYTES_MAX);
    if (!is_plain_id((const char *)id->data, id->length))
        return ek_collection_fault(c, e,
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
    int rc = c->format == EK_COLLECTION_TREC ? ek_collection_trec(c, more, e)
                                             : ek_collection_json(c, more, e);
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
