/* JSON lines. */
#include "text/index/collection_internal.h"

#include "yaml/json_parse.h"

#include <jansson.h>
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

static int add_text(struct ek_collection *c, int part, const json_t *text, struct ek_error *e)
{
    return ek_collection_add(c, part, json_string_value(text), json_string_length(text), e);
}

static int take_array(struct ek_collection *c, int part, const json_t *texts, struct ek_error *e)
{
    size_t i;
    json_t *text;
    json_array_foreach(texts, i, text)
    {
        if (!json_is_string(text))
            return wrong(c, KEYS[part], "a text or an array of texts", e);
        int rc = add_text(c, part, text, e);
        if (rc)
            return rc;
    }
    return EK_OK;
}

static int take_id(struct ek_collection *c, const json_t *value, struct ek_error *e)
{
    char number[NUMBER];
    if (json_is_string(value))
        return add_text(c, EK_TEXT_ID, value, e);
    if (!json_is_integer(value))
        return wrong(c, "id", "a text or a whole number", e);
    int length =
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return ek_collection_add(c, EK_TEXT_ID, number, (size_t)length, e);
}

static int take(struct ek_collection *c, int part, const json_t *value, struct ek_error *e)
{
    if (!value || json_is_null(value))
        return EK_OK;
    if (part == EK_TEXT_ID)
        return take_id(c, value, e);
    if (json_is_string(value))
        return add_text(c, part, value, e);
    if (part == EK_TEXT_URL || !json_is_array(value))
        return wrong(c, KEYS[part], part == EK_TEXT_URL ? "a text" : "a text or an array of texts",
                     e);
    return take_array(c, part, value, e);
}

static json_t *parse(const struct ek_collection *c, struct ek_error *e)
{
    json_error_t why;
    json_t *object;
    int rc =
        ek_json_parse(&object, c->line, c->length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (rc == EK_ENOMEM) {
        ek_fail(e, rc, "out of memory");
    } else if (rc) {
        ek_fail_at(e, rc, ek_collection_name(c), c->begin, why.column, "no JSON: %s", why.text);
    } else if (!json_is_object(object)) {
        ek_collection_fault(c, e, "a document has to be a JSON object");
        json_decref(object);
        object = NULL;
    }
    return object;
}

static void count_unknown(struct ek_collection *c, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        int part = 0;
        while (part < EK_TEXT_PARTS && strcmp(key, KEYS[part]) != 0)
            part++;
        if (part == EK_TEXT_PARTS && !c->unknown++)
            snprintf(c->first_unknown, sizeof c->first_unknown, "%s", key);
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
    json_t *object = parse(c, e);
    c->line = NULL;
    if (!object)
        return e ? (int)e->code : EK_EFORMAT;
    int rc = EK_OK;
    for (int i = 0; i < EK_TEXT_PARTS && !rc; i++)
        rc = take(c, i, json_object_get(object, KEYS[i]), e);
    count_unknown(c, object);
    json_decref(object);
    *more = !rc;
    return rc;
}
