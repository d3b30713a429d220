#include "lists/message_schema.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "lists/schema_graph.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64, FULL_NAME_MAX = 600, SHOWN = 100 };

/* A named type, by the hash of its full name. */
struct named {
    uint64_t hash;
    uint32_t type;
};

struct parser {
    struct ek_message_schema *s;
    struct named *named;
    size_t count, capacity;
    const char *space; /* enclosing namespace */
    size_t space_length;
    int depth;
    struct ek_error *e;
};

static struct ek_text text_of(yyjson_val *v)
{
    return yyjson_is_str(v) ? (struct ek_text){yyjson_get_str(v), yyjson_get_len(v)}
                            : (struct ek_text){NULL, 0};
}

static struct ek_text member(yyjson_val *object, const char *key)
{
    return text_of(yyjson_obj_get(object, key));
}

static bool is_word(struct ek_text text, const char *word)
{
    return text.text && !ek_text_compare(text, word);
}

static int out_of_memory(struct parser *p)
{
    return ek_fail(p->e, EK_ENOMEM, "out of memory");
}

/* Hash a full name; `space` is the namespace of a name without a dot. */
static uint64_t hash_name(struct ek_text space, struct ek_text name)
{
    char full[FULL_NAME_MAX];
    size_t length = 0;
    if (!memchr(name.text, '.', name.length) && space.length &&
        space.length + 1 + name.length <= sizeof full) {
        memcpy(full, space.text, space.length);
        full[space.length] = '.';
        length = space.length + 1;
    }
    if (length + name.length > sizeof full)
        return ek_hash(name.text, name.length, 1);
    memcpy(full + length, name.text, name.length);
    return ek_hash(full, length + name.length, 0);
}

static bool find_named(const struct parser *p, uint64_t hash, uint32_t *out)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->named[i].hash == hash) {
            *out = p->named[i].type;
            return true;
        }
    return false;
}

/* Find a primitive or a named type: in the enclosing namespace, else in none. */
static int find_type(struct parser *p, struct ek_text name, uint32_t *out)
{
    for (uint32_t i = 0; i < EK_TYPE_PRIMITIVES; i++)
        if (is_word(name, ek_schema_kinds[i])) {
            *out = i;
            return EK_OK;
        }
    struct ek_text space = {p->space, p->space_length};
    if (find_named(p, hash_name(space, name), out) ||
        find_named(p, hash_name((struct ek_text){NULL, 0}, name), out))
        return EK_OK;
    return ek_fail(p->e, EK_ECONFIG, "unknown type '%.*s'",
                   (int)(name.length < SHOWN ? name.length : SHOWN), name.text);
}

/* Name a type, and make its namespace that of the types within. */
static int define(struct parser *p, yyjson_val *v, uint32_t type)
{
    struct ek_text name = member(v, "name"), space = member(v, "namespace");
    uint32_t other;
    if (!name.text)
        return ek_fail(p->e, EK_ECONFIG, "a %s has no 'name'",
                       ek_schema_kinds[p->s->type[type].kind]);
    const char *dot = NULL;
    for (size_t i = 0; i < name.length; i++)
        dot = name.text[i] == '.' ? name.text + i : dot;
    if (dot)
        space = (struct ek_text){name.text, (size_t)(dot - name.text)};
    else if (!space.text)
        space = (struct ek_text){p->space, p->space_length};
    uint64_t hash = hash_name(space, name);
    if (find_named(p, hash, &other))
        return ek_fail(p->e, EK_ECONFIG, "duplicate type '%.*s'",
                       (int)(name.length < SHOWN ? name.length : SHOWN), name.text);
    if (p->count == EK_SCHEMA_NAMED_MAX)
        return ek_fail(p->e, EK_ELIMIT, "more than %d named types", EK_SCHEMA_NAMED_MAX);
    struct named *more = ek_grow(p->named, p->count, &p->capacity, sizeof *more);
    if (!more)
        return out_of_memory(p);
    p->named = more;
    p->named[p->count++] = (struct named){hash, type};
    p->space = space.text;
    p->space_length = space.length;
    return ek_schema_add_word(p->s, name, &p->s->type[type].word, p->e);
}

static int read_type(struct parser *p, yyjson_val *v, uint32_t *out);

static int read_fields(struct parser *p, yyjson_val *v, uint32_t type)
{
    yyjson_val *fields = yyjson_obj_get(v, "fields"), *field;
    size_t i, count;
    if (!yyjson_is_arr(fields))
        return ek_fail(p->e, EK_ECONFIG, "a record has no 'fields'");
    int rc = ek_schema_add_links(p->s, type, yyjson_arr_size(fields), p->e);
    uint32_t first = p->s->type[type].first;
    yyjson_arr_foreach(fields, i, count, field)
    {
        struct ek_schema_link link = {0};
        struct ek_text name = member(field, "name");
        yyjson_val *of = yyjson_obj_get(field, "type");
        if (!rc && (!name.text || !of))
            rc = ek_fail(p->e, EK_ECONFIG, "a field has no 'name' or no 'type'");
        if (!rc)
            rc = ek_schema_add_word(p->s, name, &link, p->e);
        if (!rc)
            rc = read_type(p, of, &link.type);
        if (rc)
            return rc;
        p->s->link[first + i] = link;
    }
    return rc;
}

static int read_symbols(struct parser *p, yyjson_val *v, uint32_t type)
{
    yyjson_val *symbols = yyjson_obj_get(v, "symbols"), *symbol;
    size_t i, count;
    if (!yyjson_is_arr(symbols) || !yyjson_arr_size(symbols))
        return ek_fail(p->e, EK_ECONFIG, "an enum has no 'symbols'");
    int rc = ek_schema_add_links(p->s, type, yyjson_arr_size(symbols), p->e);
    uint32_t first = p->s->type[type].first;
    yyjson_arr_foreach(symbols, i, count, symbol)
    {
        struct ek_schema_link link = {0};
        if (!rc && !yyjson_is_str(symbol))
            rc = ek_fail(p->e, EK_ECONFIG, "a symbol of an enum is no string");
        if (!rc)
            rc = ek_schema_add_word(p->s, text_of(symbol), &link, p->e);
        if (rc)
            return rc;
        p->s->link[first + i] = link;
    }
    return rc;
}

static int read_size(struct parser *p, yyjson_val *v, uint32_t type)
{
    yyjson_val *size = yyjson_obj_get(v, "size");
    if (!yyjson_is_uint(size))
        return ek_fail(p->e, EK_ECONFIG, "a fixed has no 'size'");
    p->s->type[type].size = yyjson_get_uint(size);
    return EK_OK;
}

static enum ek_schema_logical logical_of(yyjson_val *v, enum ek_schema_kind kind)
{
    struct ek_text name = member(v, "logicalType");
    if (is_word(name, "decimal") && (kind == EK_TYPE_BYTES || kind == EK_TYPE_FIXED))
        return EK_LOGICAL_DECIMAL;
    if (is_word(name, "date") && kind == EK_TYPE_INT)
        return EK_LOGICAL_DATE;
    if (kind != EK_TYPE_LONG)
        return EK_LOGICAL_PLAIN;
    return is_word(name, "timestamp-millis") || is_word(name, "local-timestamp-millis")
               ? EK_LOGICAL_MILLIS
           : is_word(name, "timestamp-micros") || is_word(name, "local-timestamp-micros")
               ? EK_LOGICAL_MICROS
           : is_word(name, "timestamp-nanos") || is_word(name, "local-timestamp-nanos")
               ? EK_LOGICAL_NANOS
               : EK_LOGICAL_PLAIN;
}

/* Read a record, enum or fixed, whose namespace ends with it. */
static int read_named(struct parser *p, yyjson_val *v, enum ek_schema_kind kind, uint32_t *out)
{
    const struct ek_text outer = {p->space, p->space_length};
    int rc = ek_schema_add_type(p->s, kind, out, p->e);
    if (!rc)
        rc = define(p, v, *out);
    if (!rc)
        rc = kind == EK_TYPE_RECORD ? read_fields(p, v, *out)
             : kind == EK_TYPE_ENUM ? read_symbols(p, v, *out)
                                    : read_size(p, v, *out);
    if (!rc && kind == EK_TYPE_FIXED)
        p->s->type[*out].logical = (uint8_t)logical_of(v, kind);
    p->space = outer.text;
    p->space_length = outer.length;
    return rc;
}

/* Read an array or a map. */
static int read_elements(struct parser *p, yyjson_val *v, enum ek_schema_kind kind, uint32_t *out)
{
    const char *key = kind == EK_TYPE_ARRAY ? "items" : "values";
    yyjson_val *of = yyjson_obj_get(v, key);
    uint32_t element = 0;
    if (!of)
        return ek_fail(p->e, EK_ECONFIG, "a type '%s' has no '%s'", ek_schema_kinds[kind], key);
    int rc = ek_schema_add_type(p->s, kind, out, p->e);
    if (!rc)
        rc = ek_schema_add_links(p->s, *out, 1, p->e);
    if (!rc)
        rc = read_type(p, of, &element);
    if (!rc)
        p->s->link[p->s->type[*out].first].type = element;
    return rc;
}

static int read_union(struct parser *p, yyjson_val *v, uint32_t *out)
{
    yyjson_val *branch;
    size_t i, count;
    int rc = ek_schema_add_type(p->s, EK_TYPE_UNION, out, p->e);
    if (!rc)
        rc = ek_schema_add_links(p->s, *out, yyjson_arr_size(v), p->e);
    yyjson_arr_foreach(v, i, count, branch)
    {
        uint32_t type = 0;
        if (!rc)
            rc = read_type(p, branch, &type);
        if (!rc && p->s->type[type].kind == EK_TYPE_UNION)
            rc = ek_fail(p->e, EK_ECONFIG, "a union is directly within a union");
        if (rc)
            return rc;
        p->s->link[p->s->type[*out].first + i].type = type;
    }
    return rc;
}

/* Read a type of the form {"type": ...}. */
static int read_object(struct parser *p, yyjson_val *v, uint32_t *out)
{
    yyjson_val *of = yyjson_obj_get(v, "type");
    struct ek_text word = text_of(of);
    if (!of)
        return ek_fail(p->e, EK_ECONFIG, "a type has no 'type'");
    if (is_word(word, "record") || is_word(word, "error"))
        return read_named(p, v, EK_TYPE_RECORD, out);
    if (is_word(word, "enum"))
        return read_named(p, v, EK_TYPE_ENUM, out);
    if (is_word(word, "fixed"))
        return read_named(p, v, EK_TYPE_FIXED, out);
    if (is_word(word, "array") || is_word(word, "map"))
        return read_elements(p, v, is_word(word, "map") ? EK_TYPE_MAP : EK_TYPE_ARRAY, out);
    int rc = read_type(p, of, out);
    enum ek_schema_kind kind = rc ? EK_TYPE_NULL : (enum ek_schema_kind)p->s->type[*out].kind;
    enum ek_schema_logical logical = rc ? EK_LOGICAL_PLAIN : logical_of(v, kind);
    if (rc || !logical || *out >= EK_TYPE_PRIMITIVES)
        return rc;
    rc = ek_schema_add_type(p->s, kind, out, p->e);
    if (!rc)
        p->s->type[*out].logical = (uint8_t)logical;
    return rc;
}

static int read_type(struct parser *p, yyjson_val *v, uint32_t *out)
{
    int rc;
    if (p->depth == DEPTH_MAX)
        return ek_fail(p->e, EK_ELIMIT, "types nest deeper than %d levels", DEPTH_MAX);
    p->depth++;
    if (yyjson_is_str(v))
        rc = find_type(p, text_of(v), out);
    else if (yyjson_is_arr(v))
        rc = read_union(p, v, out);
    else if (yyjson_is_obj(v))
        rc = read_object(p, v, out);
    else
        rc = ek_fail(p->e, EK_ECONFIG, "a type is neither a string, an object nor an array");
    p->depth--;
    return rc;
}

/* A schema of one word is no JSON document for the parser, which needs an object or an array. */
static int read_schema(struct parser *p, struct ek_text text, uint32_t *root)
{
    struct ek_json_error why;
    yyjson_doc *doc = NULL;
    if (text.length > EK_SCHEMA_BYTES_MAX)
        return ek_fail(p->e, EK_ELIMIT, "the schema has %zu bytes, the limit is %d", text.length,
                       EK_SCHEMA_BYTES_MAX);
    int rc = ek_json_parse(&doc, text.text, text.length, true, &why);
    if (rc == EK_ENOMEM)
        return out_of_memory(p);
    if (rc)
        return ek_fail(p->e, EK_ECONFIG, "the schema is no JSON: line %d, column %d: %s", why.line,
                       why.column, why.text);
    p->space = NULL;
    p->space_length = 0;
    rc = read_type(p, yyjson_doc_get_root(doc), root);
    yyjson_doc_free(doc);
    return rc;
}

enum { UNKNOWN, WITHIN, KNOWN };

/* Compute the shortest value of a type, and of the fields of records. A record without a union or
 * an array on the way to itself would have no end. */
static int find_least(struct parser *p, uint8_t *state, uint32_t type)
{
    struct ek_message_schema *s = p->s;
    struct ek_schema_type *t = &s->type[type];
    static const uint8_t least[] = {0, 1, 1, 1, 4, 8, 1, 1, 0, 1, 1, 1, 1, 0};
    if (state[type] == KNOWN)
        return EK_OK;
    if (state[type] == WITHIN)
        return ek_fail(p->e, EK_ECONFIG, "the record '%.*s' contains itself without an end",
                       (int)t->word.name_length, ek_schema_name(s, &t->word).text);
    if (++p->depth > EK_SCHEMA_NAMED_MAX)
        return ek_fail(p->e, EK_ELIMIT, "records nest too deep");
    state[type] = WITHIN;
    t->least = t->kind == EK_TYPE_FIXED ? t->size : least[t->kind];
    t->least = t->least < EK_SCHEMA_LEAST_TOP ? t->least : EK_SCHEMA_LEAST_TOP;
    for (uint32_t i = 0; t->kind == EK_TYPE_RECORD && i < t->count; i++) {
        int rc = find_least(p, state, s->link[t->first + i].type);
        if (rc)
            return rc;
        t->least += ek_schema_linked(s, t, i)->least;
        t->least = t->least < EK_SCHEMA_LEAST_TOP ? t->least : EK_SCHEMA_LEAST_TOP;
    }
    state[type] = KNOWN;
    p->depth--;
    return EK_OK;
}

static int find_all_least(struct parser *p)
{
    uint8_t *state = ek_calloc(p->s->types, 1);
    int rc = state ? EK_OK : out_of_memory(p);
    p->depth = 0;
    for (uint32_t i = 0; !rc && i < p->s->types; i++)
        rc = find_least(p, state, i);
    ek_free(state);
    return rc;
}

static int compile(struct parser *p, const struct ek_text *schemas, size_t count,
                   const struct ek_mapping *mapping)
{
    uint32_t root = 0;
    int rc = ek_schema_add_primitives(p->s, p->e);
    for (size_t i = 0; i < count && !rc; i++)
        rc = read_schema(p, schemas[i], &root);
    if (!rc)
        rc = find_all_least(p);
    return rc ? rc : ek_schema_plan(p->s, root, mapping, p->e);
}

int ek_avro_new(struct ek_message_schema **out, const struct ek_text *schemas, size_t count,
                const struct ek_mapping *mapping, struct ek_error *e)
{
    struct ek_message_schema *s = ek_calloc(1, sizeof *s);
    struct parser p = {.s = s, .e = e};
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = compile(&p, schemas, count, mapping);
    ek_free(p.named);
    if (rc)
        ek_message_schema_free(s);
    else
        *out = s;
    return rc;
}
