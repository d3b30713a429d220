/* Compile the parser here with static functions, so that it exports no names. */
#define yyjson_api                  static __attribute__((unused))
#define YYJSON_DISABLE_WRITER       1
#define YYJSON_DISABLE_UTILS        1
#define YYJSON_DISABLE_NON_STANDARD 1
#define YYJSON_DISABLE_INCR_READER  1
#include "vendor/yyjson/yyjson.c"

#include "yaml/json_parse.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 2048 };

struct check {
    const char *text, *pool; /* a copy of the text: strings start at the same offset */
    size_t length, place;    /* offset of the last string */
    bool allow_nul;
    struct ek_json_error *why;
};

static void *allocate(void *context, size_t size)
{
    (void)context;
    return ek_realloc(NULL, size, 1);
}

static void *resize(void *context, void *p, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return ek_realloc(p, size, 1);
}

static void free_memory(void *context, void *p)
{
    (void)context;
    ek_free(p);
}

static int fault(const struct check *c, size_t place, const char *text)
{
    size_t line = 1, column = 1, character;
    yyjson_locate_pos(c->text, c->length, place, &line, &column, &character);
    *c->why = (struct ek_json_error){.line = (int)line, .column = (int)column};
    snprintf(c->why->text, sizeof c->why->text, "%s", text);
    return EK_EFORMAT;
}

static int by_key(const void *a, const void *b)
{
    yyjson_val *const *x = a, *const *y = b;
    size_t n = yyjson_get_len(*x), m = yyjson_get_len(*y);
    int order = n != m ? (n > m) - (n < m) : memcmp(yyjson_get_str(*x), yyjson_get_str(*y), n);
    return order ? order : (*x > *y) - (*x < *y);
}

static int check_keys(struct check *c, yyjson_val *object)
{
    size_t count = 0, i, max;
    yyjson_val *key, *value;
    yyjson_val **keys = ek_calloc(yyjson_obj_size(object), sizeof(yyjson_val *));
    if (!keys)
        return EK_ENOMEM;
    yyjson_obj_foreach(object, i, max, key, value) keys[count++] = key;
    qsort(keys, count, sizeof *keys, by_key);
    int rc = EK_OK;
    for (i = 1; i < count && !rc; i++)
        if (yyjson_equals_strn(keys[i], yyjson_get_str(keys[i - 1]), yyjson_get_len(keys[i - 1])))
            rc = fault(c, (size_t)(yyjson_get_str(keys[i]) - c->pool), "duplicate object key");
    ek_free(keys);
    return rc;
}

static int check_string(struct check *c, yyjson_val *value, bool allow_nul)
{
    const char *text = yyjson_get_str(value);
    c->place = (size_t)(text - c->pool);
    return allow_nul || !memchr(text, 0, yyjson_get_len(value))
               ? EK_OK
               : fault(c, c->place, "\\u0000 is not allowed");
}

static int check_value(struct check *c, yyjson_val *value, int depth);

static int check_members(struct check *c, yyjson_val *value, int depth)
{
    size_t i, max;
    yyjson_val *key, *member;
    int rc = depth > DEPTH_MAX ? fault(c, c->place, "maximum nesting depth reached") : EK_OK;
    if (rc)
        return rc;
    yyjson_arr_foreach(value, i, max, member)
    {
        if ((rc = check_value(c, member, depth)))
            return rc;
    }
    yyjson_obj_foreach(value, i, max, key, member)
    {
        if ((rc = check_string(c, key, false)) || (rc = check_value(c, member, depth)))
            return rc;
    }
    return yyjson_obj_size(value) > 1 ? check_keys(c, value) : EK_OK;
}

static int check_value(struct check *c, yyjson_val *value, int depth)
{
    if (yyjson_is_str(value))
        return check_string(c, value, c->allow_nul);
    if (yyjson_is_raw(value))
        return fault(c, (size_t)(yyjson_get_raw(value) - c->pool), "number is too large");
    if (yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX)
        return fault(c, c->place, "number is too large");
    return yyjson_is_ctn(value) ? check_members(c, value, depth + 1) : EK_OK;
}

int ek_json_parse(yyjson_doc **out, const char *text, size_t length, bool allow_nul,
                  struct ek_json_error *why)
{
    const yyjson_alc memory = {allocate, resize, free_memory, NULL};
    yyjson_read_err e;
    struct check c = {.text = text, .length = length, .allow_nul = allow_nul, .why = why};
    *out = NULL;
    /* Without YYJSON_READ_INSITU the parser does not modify the text. */
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)text, length, YYJSON_READ_BIGNUM_AS_RAW, &memory, &e);
    if (!doc)
        return e.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? EK_ENOMEM : fault(&c, e.pos, e.msg);
    c.pool = doc->str_pool;
    yyjson_val *root = yyjson_doc_get_root(doc);
    int rc = yyjson_is_ctn(root) ? check_value(&c, root, 0)
                                 : fault(&c, 0, "neither an array nor an object");
    if (rc)
        yyjson_doc_free(doc);
    else
        *out = doc;
    return rc;
}
