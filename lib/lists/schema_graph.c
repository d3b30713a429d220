/* Building, description and release of a schema graph. */
#include "lists/schema_graph.h"

#include "base/alloc.h"
#include "lists/codec_wire.h"
#include "lists/schema_message.h"
#include "lists/schema_output.h"

#include <math.h>
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

/* Output of conversions, and positions in converted messages for patches. */
enum {
    BIN32_HEAD = 5,
    GROWTH_MAX = 8,          /* bytes of msgpack per byte of the message, */
    WIRE_BYTES_MAX = 8 << 20 /* and in addition: names of fields */
};

bool ek_avro_varint(const uint8_t **p, const uint8_t *end, int64_t *out)
{
    uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
        uint8_t byte = *(*p)++;
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (shift == 63 && byte > 1)
            return false;
        *out = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
        return true;
    }
    return false;
}

__attribute__((noinline)) int ek_output_grow(struct ek_schema_output *o, size_t more)
{
    struct ek_schema_message *m = o->m;
    size_t used = m->wire ? (size_t)(o->to - m->wire) : 0;
    size_t want = 2 * m->capacity > used + more ? 2 * m->capacity : used + more;
    if (used + more > o->limit) {
        o->what = "its values and names are too long";
        return EK_ELIMIT;
    }
    void *larger = ek_realloc(m->wire, want, 1);
    if (!larger)
        return EK_ENOMEM;
    m->wire = larger;
    m->capacity = want;
    o->to = m->wire + used;
    o->end = m->wire + want;
    return EK_OK;
}

int ek_output_begin(struct ek_schema_output *o, struct ek_schema_message **m,
                    const struct ek_message_schema *s, size_t length)
{
    if (!*m)
        *m = ek_calloc(1, sizeof **m);
    *o = (struct ek_schema_output){.m = *m};
    if (!*m)
        return EK_ENOMEM;
    (*m)->schema = s;
    (*m)->place_count = (*m)->length = (*m)->found = 0;
    o->to = o->end = (*m)->wire;
    if (o->end) /* no sum with NULL, which is undefined */
        o->end += (*m)->capacity;
    o->limit = WIRE_BYTES_MAX + GROWTH_MAX * length;
    return ek_output_reserve(o, length + EK_OUTPUT_ROOM);
}

int ek_output_end(struct ek_schema_output *o, int rc, size_t at, struct ek_schema_fault *fault)
{
    if (rc)
        *fault = (struct ek_schema_fault){o->what, at};
    else
        o->m->length = (size_t)(o->to - o->m->wire);
    return rc;
}

size_t ek_output_begin_row(struct ek_schema_output *o)
{
    size_t head = (size_t)(o->to - o->m->wire);
    o->to += EK_OUTPUT_BIN16_HEAD;
    return head;
}

void ek_output_end_row(struct ek_schema_output *o, size_t head)
{
    uint8_t *at = o->m->wire + head;
    size_t length = (size_t)(o->to - at) - EK_OUTPUT_BIN16_HEAD;
    o->to = at;
    if (length <= UINT16_MAX) {
        ek_output_tag(o, EK_TAG_BIN16, length, 2);
    } else {
        memmove(at + BIN32_HEAD, at + EK_OUTPUT_BIN16_HEAD, length);
        ek_output_tag(o, EK_TAG_BIN32, length, 4);
    }
    o->to += length;
}

void ek_schema_message_free(struct ek_schema_message *m)
{
    if (!m)
        return;
    ek_free(m->wire);
    ek_free(m->places);
    ek_free(m->last);
    ek_free(m);
}

bool ek_schema_is_proto(const struct ek_schema_message *m)
{
    return m->schema->is_proto;
}

const uint8_t *ek_schema_wire(const struct ek_schema_message *m, size_t *length)
{
    *length = m->length;
    return m->wire;
}

/* Find a place, first from the last one on: values are mostly looked up in their order. */
static const struct ek_schema_noted *find_place(struct ek_schema_message *m, size_t offset)
{
    enum { NEAR = 4 };
    size_t low = 0, high = m->place_count;
    for (size_t i = m->found; i < high && i < m->found + NEAR; i++)
        if (m->places[i].wire == offset) {
            m->found = i;
            return &m->places[i];
        }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->places[middle].wire < offset)
            low = middle + 1;
        else
            high = middle;
    }
    m->found = low;
    return low < m->place_count && m->places[low].wire == offset ? &m->places[low] : NULL;
}

bool ek_schema_place(struct ek_schema_message *m, size_t offset, struct ek_place *place)
{
    const struct ek_schema_noted *found = find_place(m, offset);
    if (!found || !found->length)
        return false;
    *place = (struct ek_place){found->at, found->length};
    return true;
}

size_t ek_schema_store(uint8_t *to, size_t width, double value)
{
    if (width == EK_SCHEMA_FLOAT_BYTES)
        ek_store_be32(to, __builtin_bswap32(ek_float_to_bits((float)value)));
    else
        ek_store_be64(to, __builtin_bswap64(ek_double_to_bits(value)));
    return width;
}

bool ek_schema_row_start(struct ek_schema_message *m, size_t offset, const void *bytes,
                         size_t length, const uint8_t *bin, size_t values,
                         struct ek_schema_row *row)
{
    const struct ek_schema_noted *found = find_place(m, offset);
    const struct ek_message_schema *s = m->schema;
    const uint8_t *start = bytes;
    if (!found || found->length || found->at > length)
        return false;
    const struct ek_schema_type *t = &s->type[found->type];
    uint32_t element = t->kind == EK_TYPE_BYTES  ? EK_TYPE_FLOAT
                       : t->kind == EK_TYPE_NULL ? EK_TYPE_NULL
                                                 : s->link[t->first].type;
    bool is_run = t->kind == EK_TYPE_BYTES || s->is_proto;
    bool has_width = element == EK_TYPE_FLOAT || element == EK_TYPE_DOUBLE;
    *row = (struct ek_schema_row){.schema = s,
                                  .start = start,
                                  .p = start + found->at,
                                  .end = start + length,
                                  .bin = is_run && !has_width ? bin : NULL,
                                  .element = element,
                                  .left = is_run ? values : 0,
                                  .is_run = is_run};
    return true;
}

/* Read the heads of blocks until one has values. */
static bool next_block(struct ek_schema_row *row)
{
    int64_t count, size;
    if (row->left || row->is_run)
        return row->left > 0;
    if (!ek_avro_varint(&row->p, row->end, &count) || !count || count == INT64_MIN)
        return false;
    row->left = (uint64_t)(count < 0 ? -count : count);
    return count > 0 || ek_avro_varint(&row->p, row->end, &size);
}

bool ek_schema_row_next(struct ek_schema_row *row, struct ek_schema_value *v)
{
    int64_t index;
    if (!next_block(row))
        return false;
    const struct ek_schema_type *t = &row->schema->type[row->element];
    row->left--;
    if (row->bin) {
        *v = (struct ek_schema_value){.number = (double)ek_float_from_bits(ek_load_le32(row->bin))};
        row->bin += EK_SCHEMA_FLOAT_BYTES;
        return true;
    }
    if (t->kind == EK_TYPE_UNION) {
        if (!ek_avro_varint(&row->p, row->end, &index) || index < 0 || index >= t->count)
            return false;
        t = ek_schema_linked(row->schema, t, (uint32_t)index);
    }
    size_t size = t->kind == EK_TYPE_FLOAT    ? EK_SCHEMA_FLOAT_BYTES
                  : t->kind == EK_TYPE_DOUBLE ? EK_SCHEMA_DOUBLE_BYTES
                                              : 0;
    *v = (struct ek_schema_value){.at = (size_t)(row->p - row->start),
                                  .length = size,
                                  .is_null = t->kind == EK_TYPE_NULL,
                                  .number = NAN};
    if (size > (size_t)(row->end - row->p))
        return false;
    if (size == EK_SCHEMA_FLOAT_BYTES)
        v->number = (double)ek_float_from_bits(ek_load_le32(row->p));
    else if (size)
        v->number = ek_double_from_bits(ek_load_le64(row->p));
    else if (!v->is_null && !ek_avro_varint(&row->p, row->end, &index))
        return false;
    else if (!v->is_null)
        v->number = (double)index;
    row->p += size;
    return true;
}
