#include "daemon/tools/extract/extract_queries.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "yaml/json_parse.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 32 };

struct ek_extract_queries {
    struct ek_reader *r;
    struct ek_hash_set seen;
    yyjson_doc *json; /* current query of a JSON file */
    char number[NUMBER_BYTES];
    bool first, is_json;
};

int ek_extract_queries_open(struct ek_extract_queries **out, const char *path, struct ek_error *e)
{
    struct ek_extract_queries *q = ek_calloc(1, sizeof *q);
    if (!q)
        return ek_fail(e, EK_ENOMEM, "out of memory");
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
    yyjson_doc_free(q->json);
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
        return ek_fail(e, EK_EFORMAT, "a query must be ID<TAB>TEXT, but the line has no tab");
    *tab = 0;
    *out = (struct ek_extract_query){line, tab + 1, length - (size_t)(tab + 1 - line)};
    return strlen(line) == (size_t)(tab - line) ? EK_OK : fail_nul(e);
}

static int json_id(struct ek_extract_queries *q, const char **id, struct ek_error *e)
{
    yyjson_val *x = yyjson_obj_get(yyjson_doc_get_root(q->json), "id");
    *id = q->number;
    if (yyjson_is_str(x)) {
        *id = yyjson_get_str(x);
        if (strlen(*id) != yyjson_get_len(x))
            return fail_nul(e);
    } else if (yyjson_is_int(x))
        snprintf(q->number, sizeof q->number, "%lld", (long long)yyjson_get_sint(x));
    else
        return ek_fail(e, EK_EFORMAT, "a query needs an 'id', a string or a whole number");
    return EK_OK;
}

static int from_json(struct ek_extract_queries *q, const char *line, size_t length,
                     struct ek_extract_query *out, struct ek_error *e)
{
    struct ek_json_error why;
    yyjson_doc_free(q->json);
    int rc = ek_json_parse(&q->json, line, length, true, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    yyjson_val *query = yyjson_doc_get_root(q->json), *text = yyjson_obj_get(query, "text");
    if (!yyjson_is_obj(query))
        return ek_fail(e, EK_EFORMAT, "not a JSON object: %s", query ? "another value" : why.text);
    if (!yyjson_is_str(text))
        return ek_fail(e, EK_EFORMAT, "a query needs a 'text'");
    out->text = yyjson_get_str(text);
    out->text_length = yyjson_get_len(text);
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return added ? EK_OK : ek_fail(e, EK_EFORMAT, "duplicate query '%s'", id);
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
        ek_extract_queries_location(q, e);
    return rc;
}

void ek_extract_queries_location(const struct ek_extract_queries *q, struct ek_error *e)
{
    if (!*e->file)
        ek_error_place(e, ek_reader_name(q->r), ek_reader_line_number(q->r), 0);
}

void ek_extract_queries_position(const struct ek_extract_queries *q, uint64_t *done,
                                 uint64_t *total)
{
    ek_reader_position(q->r, done, total);
}
