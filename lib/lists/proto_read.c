/* Conversion of Protobuf messages: fields in any order, with parts anywhere in the message. */
#include "lists/proto_wire.h"
#include "lists/schema_message.h"
#include "lists/schema_output.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    WORK_PER_BYTE = 8, /* fields read, also repeatedly, per byte of the message */
    LINKS_PER_WORK = 4,
    CONTAINER_HEAD = 5,
    MILLISECOND_NS = 1000000,
    READ = -1 /* a field whose value, or whose all elements, are in the output */
};

/* Field types of descriptor.proto. */
enum code {
    CODE_DOUBLE = 1,
    CODE_FLOAT,
    CODE_INT64,
    CODE_UINT64,
    CODE_INT32,
    CODE_FIXED64,
    CODE_FIXED32,
    CODE_BOOL,
    CODE_STRING,
    CODE_GROUP,
    CODE_MESSAGE,
    CODE_BYTES,
    CODE_UINT32,
    CODE_ENUM,
    CODE_SFIXED32,
    CODE_SFIXED64,
    CODE_SINT32,
    CODE_SINT64
};

static const uint8_t WIRES[] = {
    [CODE_DOUBLE] = EK_PROTO_FIXED64,   [CODE_FLOAT] = EK_PROTO_FIXED32,
    [CODE_INT64] = EK_PROTO_VARINT,     [CODE_UINT64] = EK_PROTO_VARINT,
    [CODE_INT32] = EK_PROTO_VARINT,     [CODE_FIXED64] = EK_PROTO_FIXED64,
    [CODE_FIXED32] = EK_PROTO_FIXED32,  [CODE_BOOL] = EK_PROTO_VARINT,
    [CODE_STRING] = EK_PROTO_BYTES,     [CODE_GROUP] = EK_PROTO_GROUP,
    [CODE_MESSAGE] = EK_PROTO_BYTES,    [CODE_BYTES] = EK_PROTO_BYTES,
    [CODE_UINT32] = EK_PROTO_VARINT,    [CODE_ENUM] = EK_PROTO_VARINT,
    [CODE_SFIXED32] = EK_PROTO_FIXED32, [CODE_SFIXED64] = EK_PROTO_FIXED64,
    [CODE_SINT32] = EK_PROTO_VARINT,    [CODE_SINT64] = EK_PROTO_VARINT,
};

struct reader {
    const struct ek_message_schema *s;
    struct ek_schema_output o;
    const uint8_t *start, *p, *end; /* end: of the current message within the message */
    uint64_t budget;                /* remaining work */
    int depth;                      /* remaining levels */
    size_t top;                     /* of the stack `last` of the message */
};

/* A message within the message, or all of it. */
struct record {
    const struct ek_schema_type *t;
    const struct ek_schema_step *step; /* NULL: all fields are converted */
    enum ek_schema_role role;          /* of the fields, if step is NULL */
    size_t base;                       /* in `last` of the message: a number per field */
    uint32_t pairs;                    /* written so far */
    uint32_t absent;                   /* fields that were not converted */
    bool has_last;                     /* `last` has the ends of the repeated fields */
};

static int invalid(struct reader *r, const char *what)
{
    r->o.what = *what ? what : NULL;
    return EK_EFORMAT;
}

static int spend(struct reader *r, uint64_t work)
{
    if (work <= r->budget) {
        r->budget -= work;
        return EK_OK;
    }
    r->o.what = "too many values";
    return EK_ELIMIT;
}

/* Read a float, or a field with a length of at most two bytes, whose tag has one byte. Return false
 * for others. */
static inline bool next_short(struct reader *r, struct ek_proto_field *f)
{
    const uint8_t *p = r->p;
    size_t length = EK_SCHEMA_FLOAT_BYTES;
    if (r->end - p < 3 || p[0] < 8 || p[0] >= 0x80 || !r->budget)
        return false;
    unsigned tag = *p++, wire = tag & 7;
    if (wire == EK_PROTO_BYTES) {
        length = *p++;
        if (length >= 0x80)
            length = (length & 0x7f) | (size_t)*p++ << 7;
    }
    if ((wire != EK_PROTO_BYTES && wire != EK_PROTO_FIXED32) || length >= 0x4000 ||
        length > (size_t)(r->end - p))
        return false;
    *f = (struct ek_proto_field){
        .number = tag >> 3, .wire = (uint8_t)wire, .bytes = p, .length = length};
    r->p = p + length;
    r->budget--;
    return true;
}

/* Read the next field of the current message. */
static inline int next(struct reader *r, struct ek_proto_field *f)
{
    const uint8_t *before = r->p;
    if (next_short(r, f))
        return EK_OK;
    const char *what = ek_proto_next(&r->p, r->end, r->depth, f);
    if (what)
        return invalid(r, what);
    return spend(r, f->number ? 1 : (uint64_t)(r->p - before));
}

/* Find the field with a number by bisection. */
static bool search_link(const struct reader *r, const struct ek_schema_type *t, uint32_t number,
                        uint32_t *out)
{
    const struct ek_schema_link *all = r->s->link; /* NULL in a schema without fields */
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all[t->first + middle].number < (int32_t)number)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    return low < t->count && all[t->first + low].number == (int32_t)number;
}

/* Find the field with a number; most messages number them from 1 on. */
static inline bool find_link(const struct reader *r, const struct ek_schema_type *t,
                             uint32_t number, uint32_t *out)
{
    *out = number - 1;
    return (*out < t->count && r->s->link[t->first + *out].number == (int32_t)number) ||
           search_link(r, t, number, out);
}

static bool is_packed(const struct ek_schema_link *l, const struct ek_proto_field *f)
{
    return f->wire == EK_PROTO_BYTES && WIRES[l->code] != EK_PROTO_BYTES;
}

/* Return whether a field has the wire type of its descriptor; others count as unknown. */
static bool fits(const struct ek_schema_link *l, const struct ek_proto_field *f)
{
    return f->wire == WIRES[l->code] || (l->is_repeated && is_packed(l, f));
}

static bool is_real(enum code code)
{
    return code == CODE_FLOAT || code == CODE_DOUBLE;
}

/* Return an integer, boolean or enum; unsigned 64 bits as they are. */
static int64_t integer_of(enum code code, const struct ek_proto_field *f)
{
    switch (code) {
    case CODE_FIXED32:
        return ek_load_le32(f->bytes);
    case CODE_SFIXED32:
        return (int32_t)ek_load_le32(f->bytes);
    case CODE_FIXED64:
    case CODE_SFIXED64:
        return (int64_t)ek_load_le64(f->bytes);
    case CODE_UINT32:
        return (uint32_t)f->bits;
    case CODE_INT32:
    case CODE_ENUM:
        return (int32_t)f->bits;
    case CODE_SINT32:
        return ek_proto_zigzag((uint32_t)f->bits);
    case CODE_SINT64:
        return ek_proto_zigzag(f->bits);
    default:
        return (int64_t)f->bits;
    }
}

static bool is_unsigned(enum code code)
{
    return code == CODE_UINT64 || code == CODE_FIXED64;
}

static double number_of(enum code code, const struct ek_proto_field *f)
{
    int64_t value = integer_of(code, f);
    return is_unsigned(code) ? (double)(uint64_t)value : (double)value;
}

/* Write the symbol of an enum, or the number of an unknown one. */
static int put_symbol(struct reader *r, const struct ek_schema_type *t, int64_t number)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (r->s->link[t->first + i].number == number)
            return ek_output_word(&r->o, &r->s->link[t->first + i]);
    ek_output_integer(&r->o, number);
    return EK_OK;
}

static int put_scalar(struct reader *r, const struct ek_schema_link *l,
                      const struct ek_proto_field *f)
{
    enum code code = (enum code)l->code;
    int64_t value;
    if (is_real(code)) {
        int rc = ek_output_note(&r->o, (size_t)(f->bytes - r->start), f->length, l->type);
        if (!rc)
            ek_output_real(&r->o, f->bytes, f->length);
        return rc;
    }
    value = integer_of(code, f);
    if (code == CODE_ENUM && r->s->type[l->type].kind == EK_TYPE_ENUM)
        return put_symbol(r, &r->s->type[l->type], value);
    if (code == CODE_BOOL)
        *r->o.to++ = f->bits ? EK_TAG_TRUE : EK_TAG_FALSE;
    else if (value < 0 && is_unsigned(code))
        ek_output_tag(&r->o, EK_TAG_UINT64, (uint64_t)value, 8);
    else
        ek_output_integer(&r->o, value);
    return EK_OK;
}

/* Write the value of a number, boolean or enum that is not in the message. It has no place. */
static int put_zero(struct reader *r, const struct ek_schema_link *l)
{
    const struct ek_schema_type *t = &r->s->type[l->type];
    int rc = ek_output_reserve(&r->o, EK_OUTPUT_ROOM);
    if (rc)
        return rc;
    if (t->kind == EK_TYPE_ENUM)
        return put_symbol(r, t, 0);
    if (t->kind == EK_TYPE_BOOLEAN)
        *r->o.to++ = EK_TAG_FALSE;
    else if (t->kind == EK_TYPE_STRING || t->kind == EK_TYPE_BYTES)
        return ek_output_bytes(&r->o, t->kind == EK_TYPE_STRING, NULL, 0);
    else
        ek_output_integer(&r->o, 0);
    return EK_OK;
}

static int put_record(struct reader *r, const struct ek_schema_type *t,
                      const struct ek_schema_step *step, enum ek_schema_role role,
                      const uint8_t *bytes, size_t length);
static int convert(struct reader *r, const struct ek_schema_link *l, enum ek_schema_role role,
                   const struct ek_proto_field *f);

/* Read the fields 1 and 2 of a small message, the last of each. Number 0: not there, or of another
 * wire type. */
static int read_two(struct reader *r, const struct ek_proto_field *message, uint8_t first_wire,
                    uint8_t second_wire, struct ek_proto_field out[2])
{
    const uint8_t wire[2] = {first_wire, second_wire};
    const uint8_t *p = r->p, *end = r->end;
    int rc = EK_OK;
    out[0].number = out[1].number = 0;
    r->p = message->bytes;
    r->end = message->bytes + message->length;
    while (!rc && r->p < r->end) {
        struct ek_proto_field f;
        rc = next(r, &f);
        if (!rc && f.number && f.number <= 2 && f.wire == wire[f.number - 1])
            out[f.number - 1] = f;
    }
    if (rc)
        return rc;
    r->p = p;
    r->end = end;
    return EK_OK;
}

/* Convert a google.protobuf.DoubleValue or a similar one to its value. */
static int put_wrapped(struct reader *r, const struct ek_schema_type *t, enum ek_schema_role role,
                       const struct ek_proto_field *f)
{
    const struct ek_schema_link *l = &r->s->link[t->first];
    struct ek_proto_field two[2];
    int rc = read_two(r, f, WIRES[l->code], 0, two);
    if (rc)
        return rc;
    return two[0].number ? convert(r, l, role, &two[0]) : put_zero(r, l);
}

/* Convert a google.protobuf.Timestamp to milliseconds. */
static int put_timestamp(struct reader *r, const struct ek_proto_field *f)
{
    enum { SECOND_MS = 1000 };
    struct ek_proto_field two[2];
    int64_t ms, seconds, ns;
    int rc = read_two(r, f, EK_PROTO_VARINT, EK_PROTO_VARINT, two);
    if (rc)
        return rc;
    seconds = two[0].number ? (int64_t)two[0].bits : 0;
    ns = two[1].number ? (int32_t)two[1].bits : 0;
    if (__builtin_mul_overflow(seconds, SECOND_MS, &ms) ||
        __builtin_add_overflow(ms, ns / MILLISECOND_NS, &ms))
        return invalid(r, "a timestamp out of range");
    ek_output_integer(&r->o, ms);
    return EK_OK;
}

/* Convert text or bytes. Those of features are float32 in little endian, whose place is noted. */
static int put_bytes(struct reader *r, const struct ek_schema_link *l, enum ek_schema_role role,
                     const struct ek_proto_field *f)
{
    bool is_text = l->code == CODE_STRING;
    int rc = EK_OK;
    if (!is_text && role == EK_ROLE_FEATURES)
        rc = ek_output_note(&r->o, (size_t)(f->bytes - r->start), 0, EK_TYPE_BYTES);
    return rc ? rc : ek_output_bytes(&r->o, is_text, f->bytes, f->length);
}

/* Convert a single value wholly. */
static int convert(struct reader *r, const struct ek_schema_link *l, enum ek_schema_role role,
                   const struct ek_proto_field *f)
{
    const struct ek_schema_type *t = &r->s->type[l->type];
    int rc = ek_output_reserve(&r->o, EK_OUTPUT_ROOM);
    if (rc)
        return rc;
    switch (t->kind) {
    case EK_TYPE_RECORD:
        return put_record(r, t, NULL, role == EK_ROLE_FEATURES ? EK_ROLE_ANY : role, f->bytes,
                          f->length);
    case EK_TYPE_WRAPPER:
        return put_wrapped(r, t, role, f);
    case EK_TYPE_TIMESTAMP:
        return put_timestamp(r, f);
    case EK_TYPE_STRING:
    case EK_TYPE_BYTES:
        return put_bytes(r, l, role, f);
    default:
        return put_scalar(r, l, f);
    }
}

/* Convert a single value by its step; NULL: wholly. */
static int put_value(struct reader *r, const struct ek_schema_link *l,
                     const struct ek_schema_step *step, enum ek_schema_role role,
                     const struct ek_proto_field *f)
{
    int rc;
    if (!step || step->mode == EK_STEP_CONVERT)
        return convert(r, l, step ? (enum ek_schema_role)step->role : role, f);
    if (step->mode == EK_STEP_ENTER)
        return put_record(r, &r->s->type[l->type], step, EK_ROLE_ANY, f->bytes, f->length);
    rc = ek_output_reserve(&r->o, 1);
    if (!rc)
        *r->o.to++ = EK_TAG_NIL;
    return rc;
}

/* Read the next number of a packed field from *p on, as a field. */
static int next_packed(struct reader *r, enum code code, const uint8_t **p, const uint8_t *end,
                       struct ek_proto_field *out)
{
    size_t size = WIRES[code] == EK_PROTO_FIXED32   ? EK_SCHEMA_FLOAT_BYTES
                  : WIRES[code] == EK_PROTO_FIXED64 ? EK_SCHEMA_DOUBLE_BYTES
                                                    : 0;
    *out = (struct ek_proto_field){.number = 1, .wire = WIRES[code], .bytes = *p, .length = size};
    if (size ? (size_t)(end - *p) < size : !ek_proto_varint(p, end, &out->bits))
        return invalid(r, "a packed field is cut short");
    *p += size;
    return EK_OK;
}

/* Write the elements of one field of a repeated one, and add their number to *total. */
static int put_elements(struct reader *r, const struct ek_schema_link *element,
                        const struct ek_schema_step *step, const struct ek_proto_field *f,
                        uint64_t *total)
{
    struct ek_proto_field one;
    const uint8_t *p = f->bytes;
    int rc = EK_OK;
    if (!is_packed(element, f)) {
        ++*total;
        return put_value(r, element, step, EK_ROLE_ANY, f);
    }
    while (!rc && p < f->bytes + f->length) {
        rc = next_packed(r, (enum code)element->code, &p, f->bytes + f->length, &one);
        if (!rc)
            rc = put_value(r, element, step, EK_ROLE_ANY, &one);
        ++*total;
    }
    return rc;
}

/* Write the key of a map, which is text in msgpack. */
static int put_map_key(struct reader *r, const struct ek_schema_link *l,
                       const struct ek_proto_field *f)
{
    enum { DIGITS = 24 };
    char text[DIGITS];
    int64_t value = f->number ? integer_of((enum code)l->code, f) : 0;
    if (l->code == CODE_STRING)
        return ek_output_bytes(&r->o, true, f->number ? f->bytes : NULL, f->number ? f->length : 0);
    if (l->code == CODE_BOOL)
        snprintf(text, sizeof text, "%s", value ? "true" : "false");
    else if (is_unsigned((enum code)l->code))
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value);
    else
        snprintf(text, sizeof text, "%" PRId64, value);
    return ek_output_bytes(&r->o, true, (const uint8_t *)text, strlen(text));
}

/* Write an entry of a map: a message with the key as field 1 and the value as field 2. */
static int put_entry(struct reader *r, const struct ek_schema_type *map,
                     const struct ek_proto_field *f)
{
    const struct ek_schema_link *value = &r->s->link[map->first], *key = value + 1;
    const struct ek_proto_field none = {.bytes = f->bytes};
    struct ek_proto_field two[2];
    int rc = read_two(r, f, WIRES[key->code], WIRES[value->code], two);
    if (!rc)
        rc = put_map_key(r, key, &two[0]);
    if (rc)
        return rc;
    if (two[1].number || value->code == CODE_MESSAGE)
        return convert(r, value, EK_ROLE_ANY, two[1].number ? &two[1] : &none);
    return put_zero(r, value);
}

/* Write the numbers of one field of a repeated one to a row of features. */
static int row_values(struct reader *r, enum code code, const struct ek_schema_link *l,
                      const struct ek_proto_field *f)
{
    const uint8_t *p = f->bytes;
    struct ek_proto_field one = *f;
    bool packed = is_packed(l, f);
    size_t count = packed ? f->length : 1;
    int rc = ek_output_reserve(&r->o, EK_SCHEMA_FLOAT_BYTES * count + EK_OUTPUT_ROOM);
    if (rc)
        return rc;
    if (is_real(code)) {
        size_t size = code == CODE_FLOAT ? EK_SCHEMA_FLOAT_BYTES : EK_SCHEMA_DOUBLE_BYTES;
        if (f->length % size)
            return invalid(r, "a packed field is cut short");
        if (code == CODE_FLOAT)
            ek_output_floats(&r->o, f->bytes, f->length / size);
        else
            ek_output_doubles(&r->o, f->bytes, f->length / size);
        return EK_OK;
    }
    if (!packed)
        ek_output_float(&r->o, (float)number_of(code, &one));
    while (packed && !rc && p < f->bytes + f->length) {
        rc = next_packed(r, code, &p, f->bytes + f->length, &one);
        if (!rc)
            ek_output_float(&r->o, (float)number_of(code, &one));
    }
    return rc;
}

static bool is_row(const struct reader *r, const struct ek_schema_type *t)
{
    enum ek_schema_kind kind = (enum ek_schema_kind)ek_schema_linked(r->s, t, 0)->kind;
    return t->kind == EK_TYPE_ARRAY && (kind == EK_TYPE_INT || kind == EK_TYPE_LONG ||
                                        kind == EK_TYPE_FLOAT || kind == EK_TYPE_DOUBLE);
}

/* Write a repeated field as a row of features, from its first field `f` to `stop`. Values of one
 * packed field can be replaced. */
static int put_row(struct reader *r, const struct ek_schema_link *l, struct ek_proto_field *f,
                   const uint8_t *stop, bool *is_alone)
{
    uint32_t number = f->number;
    bool is_run = r->p >= stop && is_packed(l, f);
    int rc = ek_output_note(&r->o, (size_t)(f->bytes ? f->bytes - r->start : 0), 0,
                            is_run ? l->type : EK_TYPE_NULL);
    size_t head = ek_output_begin_row(&r->o);
    for (; !rc; rc = next(r, f)) {
        if (f->number == number && fits(l, f))
            rc = row_values(r, (enum code)l->code, l, f);
        else
            *is_alone = false;
        if (rc || r->p >= stop)
            break;
    }
    if (!rc)
        ek_output_end_row(&r->o, head);
    return rc;
}

/* Write a repeated field or a map as an array or map, from its first field `f` to `stop`. */
static int put_container(struct reader *r, const struct ek_schema_link *l,
                         const struct ek_schema_step *step, struct ek_proto_field *f,
                         const uint8_t *stop, bool *is_alone)
{
    const struct ek_schema_type *t = &r->s->type[l->type];
    const struct ek_schema_step *of =
        step && step->mode == EK_STEP_ENTER ? &r->s->step[step->first] : NULL;
    bool is_map = t->kind == EK_TYPE_MAP;
    size_t head = (size_t)(r->o.to - r->o.m->wire);
    uint32_t number = f->number;
    uint64_t total = 0;
    int rc = EK_OK;
    ek_output_tag(&r->o, is_map ? EK_TAG_MAP32 : EK_TAG_ARRAY32, 0, 4);
    for (; !rc; rc = next(r, f)) {
        bool is_part = f->number == number && fits(l, f);
        if (is_part && is_map)
            rc = put_entry(r, t, f);
        else if (is_part)
            rc = put_elements(r, &r->s->link[t->first], of, f, &total);
        total += is_part && is_map;
        *is_alone = *is_alone && is_part;
        if (rc || r->p >= stop)
            break;
    }
    if (!rc)
        ek_store_be32(r->o.m->wire + head + 1, (uint32_t)total);
    return rc;
}

/* Write a repeated field with all its parts. The caller goes on after the first one, if other
 * fields are between them. */
static int put_repeated(struct reader *r, const struct ek_schema_link *l,
                        const struct ek_schema_step *step, enum ek_schema_role role,
                        struct ek_proto_field *f, uint32_t last)
{
    const uint8_t *after = r->p;
    bool is_alone = true;
    int rc = ek_output_reserve(&r->o, EK_OUTPUT_ROOM);
    if (rc)
        return rc;
    if (role == EK_ROLE_FEATURES && is_row(r, &r->s->type[l->type]))
        rc = put_row(r, l, f, r->start + last, &is_alone);
    else
        rc = put_container(r, l, step, f, r->start + last, &is_alone);
    if (!rc && !is_alone)
        r->p = after;
    return rc;
}

static const struct ek_schema_step *step_of(const struct reader *r, const struct record *c,
                                            uint32_t i)
{
    return c->step ? &r->s->step[c->step->first + i] : NULL;
}

/* Note the end of the last part of each repeated field, from the first of them on. */
static int find_last(struct reader *r, struct record *c)
{
    const uint8_t *before = r->p;
    uint32_t *last = r->o.m->last + c->base;
    const struct ek_schema_link *links = r->s->link + c->t->first;
    uint32_t number = 0, i = 0;
    int rc = EK_OK;
    while (!rc && r->p < r->end) {
        struct ek_proto_field f;
        rc = next(r, &f);
        if (rc || !f.number)
            continue;
        if (f.number != number)
            number = find_link(r, c->t, f.number, &i) && links[i].is_repeated ? f.number : 0;
        if (number && fits(&links[i], &f))
            last[i] = (uint32_t)(r->p - r->start);
    }
    if (!rc)
        r->p = before;
    c->has_last = true;
    return rc;
}

static int put_field(struct reader *r, struct record *c, struct ek_proto_field *f)
{
    uint32_t i;
    if (!f->number || !find_link(r, c->t, f->number, &i))
        return EK_OK;
    const struct ek_schema_link *l = &r->s->link[c->t->first + i];
    const struct ek_schema_step *step = step_of(r, c, i);
    enum ek_schema_role role = step ? (enum ek_schema_role)step->role : c->role;
    uint32_t *last = &r->o.m->last[c->base + i];
    int rc = EK_OK;
    if ((step && step->mode == EK_STEP_SKIP) || !fits(l, f) ||
        (l->is_repeated && *last == (uint32_t)READ))
        return EK_OK;
    if (l->is_repeated && !c->has_last) {
        *last = (uint32_t)(r->p - r->start);
        rc = find_last(r, c);
    }
    uint32_t end = *last;
    c->absent -= end != (uint32_t)READ;
    *last = (uint32_t)READ;
    c->pairs++;
    if (!rc)
        rc = ek_output_word(&r->o, l);
    if (rc)
        return rc;
    return l->is_repeated ? put_repeated(r, l, step, role, f, end) : put_value(r, l, step, role, f);
}

/* Return whether an absent field has a value: 0, or an empty list of items of a message that is
 * not empty itself. A message of another type is no empty list. */
static bool has_default(const struct reader *r, const struct record *c, uint32_t i)
{
    const struct ek_schema_link *l = &r->s->link[c->t->first + i];
    const struct ek_schema_step *step = step_of(r, c, i);
    enum ek_schema_kind kind = (enum ek_schema_kind)r->s->type[l->type].kind;
    enum ek_schema_role role = step ? (enum ek_schema_role)step->role : c->role;
    if (step && step->mode == EK_STEP_ENTER)
        return kind == EK_TYPE_ARRAY && c->pairs;
    return l->is_implicit && kind != EK_TYPE_STRING && kind != EK_TYPE_BYTES &&
           (!step || step->mode == EK_STEP_CONVERT) && role != EK_ROLE_TIME &&
           role != EK_ROLE_OPTIONAL;
}

static int put_defaults(struct reader *r, struct record *c)
{
    int rc = EK_OK;
    for (uint32_t i = 0; !rc && i < c->t->count; i++) {
        if (r->o.m->last[c->base + i] == (uint32_t)READ || !has_default(r, c, i))
            continue;
        const struct ek_schema_link *l = &r->s->link[c->t->first + i];
        c->pairs++;
        rc = ek_output_word(&r->o, l);
        if (!rc && r->s->type[l->type].kind != EK_TYPE_ARRAY)
            rc = put_zero(r, l);
        else if (!rc)
            rc = ek_output_reserve(&r->o, EK_OUTPUT_ROOM);
        if (!rc && r->s->type[l->type].kind == EK_TYPE_ARRAY)
            ek_output_tag(&r->o, EK_TAG_ARRAY32, 0, 4);
    }
    return rc;
}

/* Reserve a number per field of a record, as zeros. */
static int push(struct reader *r, const struct ek_schema_type *t, size_t *base)
{
    struct ek_schema_message *m = r->o.m;
    int rc = spend(r, 1 + t->count / LINKS_PER_WORK);
    *base = r->top;
    if (!rc && ek_schema_reserve((void **)&m->last, r->top, t->count + 1, &m->last_capacity,
                                 sizeof *m->last))
        rc = EK_ENOMEM;
    if (rc)
        return rc;
    memset(m->last + r->top, 0, t->count * sizeof *m->last);
    r->top += t->count;
    return EK_OK;
}

static int put_fields(struct reader *r, struct record *c)
{
    size_t head = (size_t)(r->o.to - r->o.m->wire);
    int rc = EK_OK;
    ek_output_tag(&r->o, EK_TAG_MAP32, 0, 4);
    while (!rc && r->p < r->end) {
        struct ek_proto_field f;
        rc = next(r, &f);
        if (!rc)
            rc = put_field(r, c, &f);
    }
    if (!rc && c->absent)
        rc = put_defaults(r, c);
    if (!rc)
        ek_store_be32(r->o.m->wire + head + 1, c->pairs);
    return rc;
}

/* Convert a message by its step; NULL: wholly. After an error the position is that of the error. */
static int put_record(struct reader *r, const struct ek_schema_type *t,
                      const struct ek_schema_step *step, enum ek_schema_role role,
                      const uint8_t *bytes, size_t length)
{
    const uint8_t *p = r->p, *end = r->end;
    struct record c = {.t = t, .step = step, .role = role, .absent = t->count};
    int rc = EK_OK;
    if (!r->depth) {
        r->o.what = "nested too deep";
        return EK_ELIMIT;
    }
    r->depth--;
    rc = push(r, t, &c.base);
    if (!rc)
        rc = ek_output_reserve(&r->o, EK_OUTPUT_ROOM);
    if (rc)
        return rc;
    r->p = bytes;
    r->end = bytes + length;
    rc = put_fields(r, &c);
    if (rc)
        return rc;
    r->p = p;
    r->end = end;
    r->top = c.base;
    r->depth++;
    return EK_OK;
}

static const char *skip_group(const uint8_t **p, const uint8_t *end, int depth, uint32_t number)
{
    struct ek_proto_field f;
    if (!depth)
        return "groups are nested too deep";
    for (;;) {
        const uint8_t *before = *p;
        const char *what = ek_proto_next(p, end, depth - 1, &f);
        if (!what)
            continue;
        uint64_t tag;
        *p = before;
        if (before == end || !ek_proto_varint(p, end, &tag))
            return "";
        return (tag & 7) == EK_PROTO_GROUP_END && tag >> 3 == number ? NULL : what;
    }
}

/* Set the bytes of a field of fixed width, or of as many as it begins with. */
static const char *take_bytes(const uint8_t **p, const uint8_t *end, uint64_t length,
                              struct ek_proto_field *f)
{
    if (length > (uint64_t)(end - *p))
        return "";
    f->bytes = *p;
    f->length = (size_t)length;
    *p += length;
    return NULL;
}

const char *ek_proto_next(const uint8_t **p, const uint8_t *end, int depth,
                          struct ek_proto_field *f)
{
    static const char too_long[] = "an integer of more than 64 bits";
    uint64_t tag;
    if (*p < end && **p < 0x80)
        tag = *(*p)++;
    else if (!ek_proto_varint(p, end, &tag))
        return *p == end ? "" : too_long;
    if (tag >> 3 == 0 || tag >> 3 > EK_PROTO_NUMBER_MAX)
        return "a field with an invalid number";
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    f->bytes = NULL;
    switch (f->wire) {
    case EK_PROTO_VARINT:
        return ek_proto_varint(p, end, &f->bits) ? NULL : *p == end ? "" : too_long;
    case EK_PROTO_FIXED64:
        return take_bytes(p, end, EK_SCHEMA_DOUBLE_BYTES, f);
    case EK_PROTO_FIXED32:
        return take_bytes(p, end, EK_SCHEMA_FLOAT_BYTES, f);
    case EK_PROTO_BYTES:
        if (!ek_proto_varint(p, end, &f->bits))
            return *p == end ? "" : too_long;
        return take_bytes(p, end, f->bits, f);
    case EK_PROTO_GROUP: {
        const char *what = skip_group(p, end, depth, f->number);
        f->number = 0;
        return what;
    }
    case EK_PROTO_GROUP_END:
        return "the end of a group that did not begin";
    default:
        return "an invalid wire type";
    }
}

int ek_proto_read(struct ek_schema_message **m, const struct ek_message_schema *s,
                  const void *bytes, size_t length, size_t from, int depth,
                  struct ek_schema_fault *fault)
{
    const uint8_t *start = bytes;
    const struct ek_schema_step *step = s->step;
    struct reader r = {.s = s,
                       .start = start,
                       .p = start + from,
                       .end = start + length,
                       .budget = EK_OUTPUT_VALUES_MAX + (uint64_t)WORK_PER_BYTE * length,
                       .depth = depth};
    int rc = ek_output_begin(&r.o, m, s, length);
    if (!rc)
        rc = put_record(&r, &s->type[step->type], step->mode == EK_STEP_ENTER ? step : NULL,
                        EK_ROLE_ANY, start + from, length - from);
    return ek_output_end(&r.o, rc, (size_t)(r.p - start), fault);
}
