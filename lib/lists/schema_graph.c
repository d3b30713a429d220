/* Building, description and release of a schema graph. */
#include "lists/schema_graph.h"

#include "base/alloc.h"
#include "lists/codec_wire.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 255, SHOWN = 100 };

const char *const ek_schema_kinds[] = {"null",  "boolean", "int",     "long",     "float", "double",
                                       "bytes", "string",  "record",  "enum",     "array", "map",
                                       "union", "fixed",   "wrapper", "timestamp"};

int ek_schema_reserve(void **array, size_t count, size_t more, size_t *capacity, size_t size)
{
    if (count + more <= *capacity)
        return EK_OK;
    size_t want = 2 * *capacity > count + more ? 2 * *capacity : count + more;
    void *larger = ek_realloc(*array, want, size);
    if (!larger)
        return EK_ENOMEM;
    *array = larger;
    *capacity = want;
    return EK_OK;
}

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_schema_add_type(struct ek_message_schema *s, enum ek_schema_kind kind, uint32_t *out,
                       struct ek_error *e)
{
    if (ek_schema_reserve((void **)&s->type, s->types, 1, &s->type_capacity, sizeof *s->type))
        return out_of_memory(e);
    *out = (uint32_t)s->types;
    s->type[s->types++] = (struct ek_schema_type){.kind = (uint8_t)kind};
    return EK_OK;
}

int ek_schema_add_primitives(struct ek_message_schema *s, struct ek_error *e)
{
    uint32_t type;
    int rc = EK_OK;
    for (uint32_t i = 0; i < EK_TYPE_PRIMITIVES && !rc; i++)
        rc = ek_schema_add_type(s, (enum ek_schema_kind)i, &type, e);
    return rc;
}

int ek_schema_add_links(struct ek_message_schema *s, uint32_t type, size_t count,
                        struct ek_error *e)
{
    if (ek_schema_reserve((void **)&s->link, s->links, count, &s->link_capacity, sizeof *s->link))
        return out_of_memory(e);
    s->type[type].first = (uint32_t)s->links;
    s->type[type].count = (uint32_t)count;
    if (count) /* without links `link` may be NULL */
        memset(s->link + s->links, 0, count * sizeof *s->link);
    s->links += count;
    return EK_OK;
}

int ek_schema_add_word(struct ek_message_schema *s, struct ek_text name, struct ek_schema_link *out,
                       struct ek_error *e)
{
    bool is_short = name.length < 32;
    size_t tag = is_short ? 1 : 2;
    if (!name.length || name.length > NAME_MAX_LENGTH)
        return ek_fail(e, EK_ECONFIG, "the name '%.*s' is empty or longer than %d bytes", SHOWN,
                       name.text, NAME_MAX_LENGTH);
    if (ek_schema_reserve((void **)&s->words, s->word_bytes,
                          tag + name.length + EK_SCHEMA_KEY_SLACK, &s->word_capacity, 1))
        return out_of_memory(e);
    uint8_t *to = s->words + s->word_bytes;
    to[0] = is_short ? (uint8_t)(EK_TAG_SHORT_TEXT | name.length) : EK_TAG_TEXT8;
    to[tag - 1] = is_short ? to[0] : (uint8_t)name.length;
    memcpy(to + tag, name.text, name.length);
    out->key = (uint32_t)s->word_bytes;
    out->key_length = (uint16_t)(tag + name.length);
    out->name_length = (uint16_t)name.length;
    memset(to + tag + name.length, 0, EK_SCHEMA_KEY_SLACK);
    s->word_bytes += tag + name.length;
    return EK_OK;
}

void ek_message_schema_free(struct ek_message_schema *s)
{
    if (!s)
        return;
    ek_free(s->type);
    ek_free(s->link);
    ek_free(s->step);
    ek_free(s->words);
    ek_free(s);
}

size_t ek_message_schema_bytes(const struct ek_message_schema *s)
{
    return sizeof *s + s->type_capacity * sizeof *s->type + s->link_capacity * sizeof *s->link +
           s->step_capacity * sizeof *s->step + s->word_capacity;
}

const char *ek_schema_describe(const struct ek_message_schema *s, uint32_t type, char *text,
                               size_t size)
{
    const struct ek_schema_type *t = &s->type[type];
    if (t->logical == EK_LOGICAL_DECIMAL)
        return "decimal";
    if (t->kind == EK_TYPE_UNION) {
        size_t at = (size_t)snprintf(text, size, "union of");
        for (uint32_t i = 0; i < t->count && at < size; i++)
            at += (size_t)snprintf(text + at, size - at, "%s %s", i ? "," : "",
                                   ek_schema_kinds[ek_schema_linked(s, t, i)->kind]);
        return text;
    }
    if (s->is_proto)
        return t->kind == EK_TYPE_INT || t->kind == EK_TYPE_LONG ? "integer"
               : t->kind == EK_TYPE_RECORD                       ? "message"
               : t->kind == EK_TYPE_ARRAY                        ? "repeated field"
                                                                 : ek_schema_kinds[t->kind];
    return ek_schema_kinds[t->kind];
}

int ek_message_schema_check_score(const struct ek_message_schema *s, struct ek_error *e)
{
    char text[SHOWN];
    if (!s->score_type)
        return EK_OK;
    return ek_fail(e, EK_ECONFIG,
                   "the score is of type %s, which cannot be replaced in place; use float or "
                   "double",
                   ek_schema_describe(s, s->score_type, text, sizeof text));
}
