/* Reader for JSON lines. */
#include "text/index/collection_internal.h"

#include "yaml/json_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    return ek_collection_add(c, part, yyjson_get_str(text), yyjson_get_len(text), e);
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
    return ek_collection_add(c, EK_TEXT_ID, number, (size_t)length, e);
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
    return ek_collection_fault(c, e, "a document has to be a JSON object");
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

int ek_collection_json(struct ek_collection *c, bool *more, struct ek_error *e)
{
    do {
        int rc = ek_collection_line(c, e);
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
