#include "daemon/tools/extract/extract_queries.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hash_set.h"
#include "yaml/json_parse.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 32 };

struct ek_extract_queries {
    struct ek_reader *r;
    struct ek_hash_set seen;
    json_t *json; /* the query at hand, of a file of JSON */
    char number[NUMBER_BYTES];
    bool first, is_json;
};

int ek_extract_queries_open(struct ek_extract_queries **out, const char *path, struct ek_error *e)
{
    struct ek_extract_queries *q = ek_calloc(1, sizeof *q);
    if (!q)
        return ek_fail(e, EK_ENOMEM, "no memory for queries");
    ek_hash_set_init(&q->seen);
    q->first = true;
    int rc = ek_reader_open(&q->r, path, e);
    if (rc)
        ek_extract_queries_close(q);
    else
        *out = q;
    return rc;
}

void ek_extract_queries_close(struct ek_extract_queries *q)
{
    if (!q)
        return;
    if (q->r)
        ek_reader_close(q->r);
    json_decref(q->json);
    ek_hash_set_release(&q->seen);
    ek_free(q);
}

static int fail_nul(struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "a query id has a NUL byte");
}

static int from_tsv(char *line, size_t length, struct ek_extract_query *out, struct ek_error *e)
{
    char *tab = memchr(line, '\t', length);
    if (!tab)
        return ek_fail(e, EK_EFORMAT, "a query is written ID<TAB>TEXT, there is no tab");
    *tab = 0;
    *out = (struct ek_extract_query){line, tab + 1, length - (size_t)(tab + 1 - line)};
    return strlen(line) == (size_t)(tab - line) ? EK_OK : fail_nul(e);
}

static int json_id(struct ek_extract_queries *q, const char **id, struct ek_error *e)
{
    json_t *x = json_object_get(q->json, "id");
    *id = q->number;
    if (json_is_string(x)) {
        *id = json_string_value(x);
        if (strlen(*id) != json_string_length(x))
            return fail_nul(e);
    } else if (json_is_integer(x))
        snprintf(q->number, sizeof q->number, "%lld", (long long)json_integer_value(x));
    else
        return ek_fail(e, EK_EFORMAT, "a query needs an 'id', a text or a whole number");
    return EK_OK;
}

static int from_json(struct ek_extract_queries *q, const char *line, size_t length,
                     struct ek_extract_query *out, struct ek_error *e)
{
    json_error_t why;
    json_decref(q->json);
    json_t *read;
    int rc = ek_json_parse(&read, line, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    q->json = read;
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "no memory for a query");
    if (!json_is_object(q->json))
        return ek_fail(e, EK_EFORMAT, "no JSON object: %s", q->json ? "another value" : why.text);
    json_t *text = json_object_get(q->json, "text");
    if (!json_is_string(text))
        return ek_fail(e, EK_EFORMAT, "a query needs a 'text'");
    out->text = json_string_value(text);
    out->text_length = json_string_length(text);
    return json_id(q, &out->id, e);
}

static int check_id(struct ek_extract_queries *q, const char *id, struct ek_error *e)
{
    bool added;
    if (!*id)
        return ek_fail(e, EK_EFORMAT, "a query has an empty id");
    if (id[strcspn(id, " \t\r\n\v\f#")])
        return ek_fail(e, EK_EFORMAT, "query id '%s' has a blank or a '#'", id);
    if (ek_hash_set_add(&q->seen, ek_hash(id, strlen(id), 0), &added))
        return ek_fail(e, EK_ENOMEM, "no memory for the ids of queries");
    return added ? EK_OK : ek_fail(e, EK_EFORMAT, "query '%s' is there twice", id);
}

int ek_extract_queries_next(struct ek_extract_queries *q, struct ek_extract_query *out, bool *more,
                            struct ek_error *e)
{
    char *line;
    size_t length;
    int rc;
    do
        rc = ek_reader_line(q->r, &line, &length, e);
    while (!rc && line && strspn(line, " \t") == length);
    *more = !rc && line;
    if (!*more)
        return rc;
    if (q->first)
        q->is_json = line[strspn(line, " \t")] == '{';
    q->first = false;
    rc = q->is_json ? from_json(q, line, length, out, e) : from_tsv(line, length, out, e);
    if (!rc)
        rc = check_id(q, out->id, e);
    if (rc)
        ek_extract_queries_place(q, e);
    return rc;
}

void ek_extract_queries_place(const struct ek_extract_queries *q, struct ek_error *e)
{
    if (!*e->file)
        ek_error_place(e, ek_reader_name(q->r), ek_reader_line_number(q->r), 0);
}

void ek_extract_queries_position(const struct ek_extract_queries *q, uint64_t *done,
                                 uint64_t *total)
{
    ek_reader_position(q->r, done, total);
}
