/* JSON Schema validator for YAML trees with the keywords used in this project; any other keyword
 * fails the test. Quoted scalars are strings; plain ones are booleans (true, false), numbers or
 * strings. */
#ifndef EK_TESTS_UNIT_JSON_SCHEMA_H
#define EK_TESTS_UNIT_JSON_SCHEMA_H

#include "base/parse.h"
#include "yaml/yaml.h"
#include "tests/check.h"

#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <string.h>

static bool schema_takes(const json_t *schema, const struct ek_node *n);

static bool schema_number(const struct ek_node *n, double *value)
{
    return n->kind == EK_NODE_SCALAR && !n->quoted && !ek_parse_finite(n->text, EK_WHOLE, value);
}

static bool schema_truth(const struct ek_node *n)
{
    return n->kind == EK_NODE_SCALAR && !n->quoted &&
           (!strcmp(n->text, "true") || !strcmp(n->text, "false"));
}

static bool schema_is_null(const struct ek_node *n)
{
    static const char *const words[] = {"", "null", "Null", "NULL", "~"};
    for (size_t i = 0; !n->quoted && i < sizeof words / sizeof *words; i++)
        if (!strcmp(n->text, words[i]))
            return true;
    return false;
}

static bool schema_is_string(const struct ek_node *n)
{
    double value;
    return n->kind == EK_NODE_SCALAR && !schema_is_null(n) && !schema_truth(n) &&
           !schema_number(n, &value);
}

static bool schema_type(const json_t *type, const struct ek_node *n)
{
    double value;
    size_t i;
    const json_t *one;
    if (json_is_array(type)) {
        json_array_foreach(type, i, one) if (schema_type(one, n)) return true;
        return false;
    }
    const char *word = json_string_value(type);
    if (!strcmp(word, "object"))
        return n->kind == EK_NODE_MAPPING;
    if (!strcmp(word, "array"))
        return n->kind == EK_NODE_SEQUENCE;
    if (!strcmp(word, "string"))
        return schema_is_string(n);
    if (!strcmp(word, "boolean"))
        return schema_truth(n);
    ck_assert(!strcmp(word, "number") || !strcmp(word, "integer"));
    return schema_number(n, &value) && (*word == 'n' || value == floor(value));
}

static bool schema_enum(const json_t *words, const struct ek_node *n)
{
    size_t i;
    double value;
    const json_t *word;
    json_array_foreach(words, i, word)
    {
        if (json_is_string(word) && schema_is_string(n) &&
            !strcmp(json_string_value(word), n->text))
            return true;
        if (json_is_number(word) && schema_number(n, &value) && value == json_number_value(word))
            return true;
    }
    return false;
}

static bool schema_pattern(const char *pattern, const struct ek_node *n)
{
    regex_t compiled;
    ck_assert_int_eq(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB), 0);
    bool fits = !schema_is_string(n) || !regexec(&compiled, n->text, 0, NULL, 0);
    regfree(&compiled);
    return fits;
}

static bool schema_members(const json_t *schema, const struct ek_node *n)
{
    const json_t *properties = json_object_get(schema, "properties"),
                 *others = json_object_get(schema, "additionalProperties");
    for (size_t i = 0; n->kind == EK_NODE_MAPPING && i < n->count; i++) {
        const json_t *own = json_object_get(properties, n->children[2 * i].text);
        const json_t *of = own ? own : others;
        if (json_is_false(of) || (json_is_object(of) && !schema_takes(of, &n->children[2 * i + 1])))
            return false;
    }
    return true;
}

static bool schema_required(const json_t *names, const struct ek_node *n)
{
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name) if (n->kind == EK_NODE_MAPPING &&
                                           !ek_node_get(n, json_string_value(name))) return false;
    return true;
}

static bool schema_any_of(const json_t *choices, const struct ek_node *n)
{
    size_t i;
    const json_t *choice;
    json_array_foreach(choices, i, choice) if (schema_takes(choice, n)) return true;
    return false;
}

static bool schema_items(const json_t *items, const struct ek_node *n)
{
    for (size_t i = 0; n->kind == EK_NODE_SEQUENCE && i < n->count; i++)
        if (!schema_takes(items, &n->children[i]))
            return false;
    return true;
}

/* Check a limit of numbers, lengths or counts. Each applies to one type and accepts other types. */
static bool schema_limit(const char *word, double limit, const struct ek_node *n)
{
    double value = 0;
    if (!strcmp(word, "minimum") || !strcmp(word, "maximum")) {
        if (!schema_number(n, &value))
            return true;
    } else if (!strcmp(word, "minLength") || !strcmp(word, "maxLength")) {
        if (!schema_is_string(n))
            return true;
        value = (double)strlen(n->text);
    } else {
        bool items = !strcmp(word, "minItems") || !strcmp(word, "maxItems");
        ck_assert_msg(items || !strcmp(word, "minProperties") || !strcmp(word, "maxProperties"),
                      "the schema has a keyword '%s', which is not known here", word);
        if (n->kind != (items ? EK_NODE_SEQUENCE : EK_NODE_MAPPING))
            return true;
        value = (double)n->count;
    }
    return word[1] == 'i' ? value >= limit : value <= limit;
}

static bool schema_takes(const json_t *schema, const struct ek_node *n)
{
    const char *word;
    json_t *of;
    bool takes = true;
    json_object_foreach((json_t *)(uintptr_t)schema, word, of)
    {
        if (!strcmp(word, "type"))
            takes = schema_type(of, n);
        else if (!strcmp(word, "enum"))
            takes = schema_enum(of, n);
        else if (!strcmp(word, "pattern"))
            takes = schema_pattern(json_string_value(of), n);
        else if (!strcmp(word, "anyOf"))
            takes = schema_any_of(of, n);
        else if (!strcmp(word, "items"))
            takes = schema_items(of, n);
        else if (!strcmp(word, "required"))
            takes = schema_required(of, n);
        else if (!strcmp(word, "properties") || !strcmp(word, "additionalProperties"))
            takes = schema_members(schema, n);
        else if (json_is_number(of))
            takes = schema_limit(word, json_number_value(of), n);
        else
            ck_assert_msg(!strcmp(word, "description") || !strcmp(word, "title") ||
                              !strcmp(word, "$schema"),
                          "the schema has a keyword '%s', which is not known here", word);
        if (!takes)
            return false;
    }
    return true;
}

#endif
