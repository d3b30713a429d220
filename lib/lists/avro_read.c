/* Conversion of Avro messages: values in the order of the schema. */
#include "lists/schema_message.h"
#include "lists/schema_output.h"

#include <math.h>
#include <string.h>

struct reader {
    const struct ek_message_schema *s;
    struct ek_schema_output o;
    const uint8_t *start, *p, *end;
    uint64_t budget; /* remaining values */
    int depth;       /* remaining levels */
};

enum { TOGETHER = 8 };

static int cut_short(struct reader *r)
{
    r->o.what = NULL;
    return EK_EFORMAT;
}

static int invalid(struct reader *r, const char *what)
{
    r->o.what = what;
    return EK_EFORMAT;
}

static size_t left(const struct reader *r)
{
    return (size_t)(r->end - r->p);
}

static inline int read_long(struct reader *r, int64_t *out)
{
    if (r->p < r->end && *r->p < 0x80) {
        uint8_t byte = *r->p++;
        *out = (byte >> 1) ^ -(byte & 1);
        return EK_OK;
    }
    if (ek_avro_varint(&r->p, r->end, out))
        return EK_OK;
    return r->p == r->end ? cut_short(r) : invalid(r, "an integer of more than 64 bits");
}

/* Read a length of bytes that follow. */
static int read_length(struct reader *r, size_t *out)
{
    int64_t length;
    int rc = read_long(r, &length);
    if (rc)
        return rc;
    if (length < 0)
        return invalid(r, "a negative length");
    if ((uint64_t)length > left(r))
        return cut_short(r);
    *out = (size_t)length;
    return EK_OK;
}

/* Read the index of a union's branch or an enum's symbol. */
static int read_index(struct reader *r, const struct ek_schema_type *t, uint32_t *out)
{
    int64_t index;
    int rc = read_long(r, &index);
    if (rc)
        return rc;
    if (index < 0 || index >= t->count)
        return invalid(r, t->kind == EK_TYPE_UNION ? "a union has no such branch"
                                                   : "an enum has no such symbol");
    *out = (uint32_t)index;
    return EK_OK;
}

/* A block of an array or a map. */
struct block {
    uint64_t count;     /* 0: the end */
    const uint8_t *end; /* NULL: the block has no size */
};

static int read_block(struct reader *r, uint64_t least, struct block *b)
{
    int64_t count;
    size_t size;
    int rc = read_long(r, &count);
    *b = (struct block){0, NULL};
    if (rc || !count)
        return rc;
    if (count < 0) {
        rc = count == INT64_MIN ? invalid(r, "a block of too many values") : read_length(r, &size);
        if (rc)
            return rc;
        b->end = r->p + size;
    }
    b->count = (uint64_t)(count < 0 ? -count : count);
    if (least ? b->count > left(r) / least : b->count > EK_OUTPUT_VALUES_MAX)
        return least ? cut_short(r) : invalid(r, "a block of too many values without bytes");
    return EK_OK;
}

static int end_block(struct reader *r, const struct block *b)
{
    return !b->end || b->end == r->p ? EK_OK : invalid(r, "a block has another size than it says");
}

static uint64_t least_of(const struct reader *r, const struct ek_schema_type *t)
{
    uint64_t least = ek_schema_linked(r->s, t, 0)->least;
    return t->kind == EK_TYPE_MAP ? least + 1 : least;
}

/* Count a value and a level; the caller restores the level. */
static int descend(struct reader *r)
{
    if (!r->depth) {
        r->o.what = "nested too deep";
        return EK_ELIMIT;
    }
    r->depth--;
    return EK_OK;
}

static int count_value(struct reader *r)
{
    if (r->budget--)
        return EK_OK;
    r->budget = 0;
    r->o.what = "too many values";
    return EK_ELIMIT;
}

static int skip(struct reader *r, uint32_t type);

static int skip_bytes(struct reader *r, uint64_t count)
{
    if (count > left(r))
        return cut_short(r);
    r->p += count;
    return EK_OK;
}

/* Set *size to the width of a type of fixed width. */
static bool has_width(const struct ek_schema_type *t, uint64_t *size)
{
    bool has = t->kind == EK_TYPE_NULL || t->kind == EK_TYPE_BOOLEAN || t->kind == EK_TYPE_FLOAT ||
               t->kind == EK_TYPE_DOUBLE || t->kind == EK_TYPE_FIXED;
    *size = t->kind == EK_TYPE_FIXED ? t->size : t->least;
    return has;
}

static int skip_elements(struct reader *r, const struct ek_schema_type *t, uint64_t count)
{
    uint32_t element = r->s->link[t->first].type;
    uint64_t size, all;
    int rc = EK_OK;
    if (t->kind == EK_TYPE_ARRAY && has_width(&r->s->type[element], &size))
        return __builtin_mul_overflow(size, count, &all) ? cut_short(r) : skip_bytes(r, all);
    for (uint64_t i = 0; !rc && i < count; i++) {
        if (t->kind == EK_TYPE_MAP)
            rc = skip(r, EK_TYPE_STRING);
        if (!rc)
            rc = skip(r, element);
    }
    return rc;
}

/* Blocks with a size are skipped as they are. */
static int skip_blocks(struct reader *r, const struct ek_schema_type *t)
{
    struct block b = {1, NULL};
    int rc = EK_OK;
    while (!rc && b.count) {
        rc = read_block(r, least_of(r, t), &b);
        if (!rc && b.end)
            r->p = b.end;
        else if (!rc && b.count)
            rc = skip_elements(r, t, b.count);
    }
    return rc;
}

static int skip_inner(struct reader *r, const struct ek_schema_type *t)
{
    uint32_t branch;
    int rc;
    if (t->kind == EK_TYPE_UNION) {
        rc = read_index(r, t, &branch);
        return rc ? rc : skip(r, r->s->link[t->first + branch].type);
    }
    rc = descend(r);
    if (rc)
        return rc;
    if (t->kind == EK_TYPE_RECORD) {
        for (uint32_t i = 0; !rc && i < t->count; i++)
            rc = skip(r, r->s->link[t->first + i].type);
    } else {
        rc = skip_blocks(r, t);
    }
    r->depth++;
    return rc;
}

/* Skip a value, which is checked. */
static int skip(struct reader *r, uint32_t type)
{
    const struct ek_schema_type *t = &r->s->type[type];
    int64_t number;
    uint32_t index;
    size_t length;
    int rc = count_value(r);
    if (rc)
        return rc;
    switch (t->kind) {
    case EK_TYPE_NULL:
        return EK_OK;
    case EK_TYPE_INT:
    case EK_TYPE_LONG:
        return read_long(r, &number);
    case EK_TYPE_BOOLEAN:
    case EK_TYPE_FLOAT:
    case EK_TYPE_DOUBLE:
        return skip_bytes(r, t->least);
    case EK_TYPE_FIXED:
        return skip_bytes(r, t->size);
    case EK_TYPE_BYTES:
    case EK_TYPE_STRING:
        rc = read_length(r, &length);
        return rc ? rc : skip_bytes(r, length);
    case EK_TYPE_ENUM:
        return read_index(r, t, &index);
    default:
        return skip_inner(r, t);
    }
}

static void put_map(struct reader *r, uint32_t pairs)
{
    if (pairs < 16)
        *r->o.to++ = (uint8_t)(EK_TAG_SHORT_MAP | pairs);
    else
        ek_output_tag(&r->o, EK_TAG_MAP32, pairs, 4);
}

static int put_bytes(struct reader *r, bool is_text, size_t length)
{
    int rc = ek_output_bytes(&r->o, is_text, r->p, length);
    r->p += rc ? 0 : length;
    return rc;
}

/* Copy a text of at most 31 bytes at once, if so many bytes follow. */
static inline bool put_short_text(struct reader *r)
{
    enum { AT_ONCE = 32 };
    size_t length = left(r) > AT_ONCE ? *r->p : 1;
    if (length & 1 || length >= 2 * AT_ONCE ||
        ek_output_reserve(&r->o, EK_OUTPUT_ROOM + 1 + AT_ONCE))
        return false;
    *r->o.to++ = (uint8_t)(EK_TAG_SHORT_TEXT | length / 2);
    memcpy(r->o.to, r->p + 1, AT_ONCE);
    r->o.to += length / 2;
    r->p += 1 + length / 2;
    return true;
}

static int put_text(struct reader *r)
{
    size_t length;
    if (put_short_text(r))
        return EK_OK;
    int rc = read_length(r, &length);
    return rc ? rc : put_bytes(r, true, length);
}

static int put_symbol(struct reader *r, const struct ek_schema_type *t)
{
    uint32_t index;
    int rc = read_index(r, t, &index);
    return rc ? rc : ek_output_word(&r->o, &r->s->link[t->first + index]);
}

/* Read a float or double, whose place is noted. */
static int put_real(struct reader *r, uint32_t type)
{
    bool is_double = r->s->type[type].kind == EK_TYPE_DOUBLE;
    size_t length = is_double ? EK_SCHEMA_DOUBLE_BYTES : EK_SCHEMA_FLOAT_BYTES;
    if (left(r) < length)
        return cut_short(r);
    int rc = ek_output_note(&r->o, (size_t)(r->p - r->start), length, type);
    if (rc)
        return rc;
    ek_output_real(&r->o, r->p, length);
    r->p += length;
    return EK_OK;
}

/* Return a time in milliseconds, rounded down. */
static int64_t milliseconds(int64_t value, enum ek_schema_logical logical)
{
    static const int64_t per_ms[] = {1, 1, 1000, 1000000, 1, 1};
    enum { DAY_MS = 86400000 };
    int64_t whole = value / per_ms[logical];
    if (logical == EK_LOGICAL_DATE)
        return value * DAY_MS;
    return whole - (value % per_ms[logical] < 0);
}

static int put_number(struct reader *r, const struct ek_schema_type *t, enum ek_schema_role role)
{
    int64_t value;
    int rc = read_long(r, &value);
    if (rc)
        return rc;
    if (t->kind == EK_TYPE_INT && (value < INT32_MIN || value > INT32_MAX))
        return invalid(r, "an int of more than 32 bits");
    ek_output_integer(&r->o, role == EK_ROLE_TIME
                                 ? milliseconds(value, (enum ek_schema_logical)t->logical)
                                 : value);
    return EK_OK;
}

static int put_boolean(struct reader *r)
{
    if (r->p == r->end)
        return cut_short(r);
    if (*r->p > 1)
        return invalid(r, "a boolean that is neither 0 nor 1");
    *r->o.to++ = *r->p++ ? EK_TAG_TRUE : EK_TAG_FALSE;
    return EK_OK;
}

static bool is_number(const struct ek_schema_type *t)
{
    return t->kind == EK_TYPE_INT || t->kind == EK_TYPE_LONG || t->kind == EK_TYPE_FLOAT ||
           t->kind == EK_TYPE_DOUBLE;
}

/* Return whether an array has only numbers and nulls. */
static bool is_row(const struct ek_message_schema *s, const struct ek_schema_type *t)
{
    const struct ek_schema_type *element = ek_schema_linked(s, t, 0);
    if (element->kind != EK_TYPE_UNION)
        return is_number(element);
    for (uint32_t i = 0; i < element->count; i++) {
        const struct ek_schema_type *branch = ek_schema_linked(s, element, i);
        if (branch->kind != EK_TYPE_NULL && !is_number(branch))
            return false;
    }
    return true;
}

static int row_floats(struct reader *r, uint64_t count)
{
    ek_output_floats(&r->o, r->p, count);
    r->p += EK_SCHEMA_FLOAT_BYTES * count;
    return EK_OK;
}

static int row_doubles(struct reader *r, uint64_t count)
{
    ek_output_doubles(&r->o, r->p, count);
    r->p += EK_SCHEMA_DOUBLE_BYTES * count;
    return EK_OK;
}

/* Read a value of the row as the decoder would: integers by way of double. */
static int row_value(struct reader *r, const struct ek_schema_type *t)
{
    int64_t number;
    uint64_t size;
    if (t->kind == EK_TYPE_NULL) {
        ek_output_float(&r->o, NAN);
        return EK_OK;
    }
    if (has_width(t, &size))
        return left(r) < size             ? cut_short(r)
               : t->kind == EK_TYPE_FLOAT ? row_floats(r, 1)
                                          : row_doubles(r, 1);
    int rc = read_long(r, &number);
    if (!rc)
        ek_output_float(&r->o, (float)(double)number);
    return rc;
}

/* Copy groups of values of a union that are all floats. Return the number of values. */
static uint64_t row_nullable(struct reader *r, uint8_t tag, uint64_t count)
{
    enum { STRIDE = 1 + EK_SCHEMA_FLOAT_BYTES };
    const uint8_t *p = r->p;
    uint8_t *to = r->o.to;
    uint64_t got = 0;
    while (count - got >= TOGETHER &&
           (size_t)(r->end - p) >= STRIDE * TOGETHER + EK_SCHEMA_DOUBLE_BYTES) {
        uint64_t bits[TOGETHER], other = 0;
        for (int i = 0; i < TOGETHER; i++) {
            bits[i] = ek_load_le64(p + STRIDE * i);
            other |= bits[i] ^ tag;
        }
        if (other & 0xff)
            break;
        for (int i = 0; i < TOGETHER; i++)
            ek_store_le32(to + EK_SCHEMA_FLOAT_BYTES * i, (uint32_t)(bits[i] >> 8));
        to += EK_SCHEMA_FLOAT_BYTES * TOGETHER;
        p += STRIDE * TOGETHER;
        got += TOGETHER;
    }
    r->p = p;
    r->o.to = to;
    return got;
}

/* Return the byte before a value of this kind in a union, or -1 if it has none in one byte. */
static int tag_of(const struct ek_message_schema *s, const struct ek_schema_type *t,
                  enum ek_schema_kind kind)
{
    for (uint32_t i = 0; i < t->count && i < 0x40; i++)
        if (ek_schema_linked(s, t, i)->kind == kind)
            return (int)(2 * i);
    return -1;
}

/* Read single values of a union whose branches have one byte, floats and nulls. Return false for
 * another value, with nothing read. */
static inline bool row_short(struct reader *r, int tag, int null)
{
    if (left(r) <= EK_SCHEMA_FLOAT_BYTES || (*r->p != tag && *r->p != null))
        return false;
    uint32_t bits = *r->p == tag ? ek_load_le32(r->p + 1) : ek_float_to_bits(NAN);
    r->p += *r->p == tag ? 1 + EK_SCHEMA_FLOAT_BYTES : 1;
    ek_store_le32(r->o.to, bits);
    r->o.to += EK_SCHEMA_FLOAT_BYTES;
    return true;
}

static int row_union(struct reader *r, const struct ek_schema_type *t, uint64_t count)
{
    int tag = tag_of(r->s, t, EK_TYPE_FLOAT), null = tag_of(r->s, t, EK_TYPE_NULL);
    uint32_t branch;
    int rc = EK_OK;
    for (uint64_t i = 0; !rc && i < count;) {
        uint64_t got = tag < 0 ? 0 : row_nullable(r, (uint8_t)tag, count - i);
        i += got;
        for (int n = 0; n < TOGETHER && i < count && row_short(r, tag, null); n++, got++)
            i++;
        if (got || i == count)
            continue;
        rc = read_index(r, t, &branch);
        if (!rc)
            rc = row_value(r, ek_schema_linked(r->s, t, branch));
        i++;
    }
    return rc;
}

static int row_values(struct reader *r, uint32_t element, uint64_t count)
{
    const struct ek_schema_type *t = &r->s->type[element];
    int rc = ek_output_reserve(&r->o, EK_SCHEMA_FLOAT_BYTES * count + EK_OUTPUT_ROOM);
    if (rc)
        return rc;
    if (t->kind == EK_TYPE_FLOAT)
        return row_floats(r, count);
    if (t->kind == EK_TYPE_DOUBLE)
        return row_doubles(r, count);
    if (t->kind == EK_TYPE_UNION)
        return row_union(r, t, count);
    for (uint64_t i = 0; !rc && i < count; i++)
        rc = row_value(r, t);
    return rc;
}

static int put_row(struct reader *r, uint32_t type)
{
    const struct ek_schema_type *t = &r->s->type[type];
    struct block b = {1, NULL};
    int rc = ek_output_note(&r->o, (size_t)(r->p - r->start), 0, type);
    size_t head = ek_output_begin_row(&r->o);
    while (!rc && b.count) {
        rc = read_block(r, least_of(r, t), &b);
        if (!rc)
            rc = row_values(r, r->s->link[t->first].type, b.count);
        if (!rc)
            rc = end_block(r, &b);
    }
    if (!rc)
        ek_output_end_row(&r->o, head);
    return rc;
}

static int convert(struct reader *r, uint32_t type, enum ek_schema_role role);
static int follow(struct reader *r, const struct ek_schema_step *step);

/* Convert an array or a map; `step`: of the elements, or NULL to convert them wholly. */
static int put_elements(struct reader *r, const struct ek_schema_type *t,
                        const struct ek_schema_step *step)
{
    bool is_map = t->kind == EK_TYPE_MAP;
    size_t head = (size_t)(r->o.to - r->o.m->wire);
    uint64_t total = 0;
    struct block b = {1, NULL};
    int rc = EK_OK;
    ek_output_tag(&r->o, is_map ? EK_TAG_MAP32 : EK_TAG_ARRAY32, 0, 4);
    while (!rc && b.count) {
        rc = read_block(r, least_of(r, t), &b);
        for (uint64_t i = 0; !rc && i < b.count; i++) {
            if (is_map)
                rc = put_text(r);
            if (!rc)
                rc = step ? follow(r, step) : convert(r, r->s->link[t->first].type, EK_ROLE_ANY);
        }
        total += b.count;
        if (!rc)
            rc = end_block(r, &b);
    }
    if (!rc)
        ek_store_be32(r->o.m->wire + head + 1, (uint32_t)total);
    return rc;
}

static int put_record(struct reader *r, const struct ek_schema_type *t, enum ek_schema_role role)
{
    int rc = EK_OK;
    put_map(r, t->count);
    for (uint32_t i = 0; !rc && i < t->count; i++) {
        const struct ek_schema_link *l = &r->s->link[t->first + i];
        rc = ek_output_word(&r->o, l);
        if (!rc)
            rc = convert(r, l->type, role == EK_ROLE_FEATURES ? EK_ROLE_ANY : role);
    }
    return rc;
}

static int convert_inner(struct reader *r, uint32_t type, enum ek_schema_role role)
{
    const struct ek_schema_type *t = &r->s->type[type];
    uint32_t branch;
    int rc;
    if (t->kind == EK_TYPE_UNION) {
        rc = read_index(r, t, &branch);
        return rc ? rc : convert(r, r->s->link[t->first + branch].type, role);
    }
    rc = descend(r);
    if (rc)
        return rc;
    if (t->kind == EK_TYPE_RECORD)
        rc = put_record(r, t, role);
    else if (t->kind == EK_TYPE_ARRAY && role == EK_ROLE_FEATURES && is_row(r->s, t))
        rc = put_row(r, type);
    else
        rc = put_elements(r, t, NULL);
    r->depth++;
    return rc;
}

/* Read bytes or a fixed. Those of features are float32 in little endian, whose place is noted. */
static int put_binary(struct reader *r, const struct ek_schema_type *t, enum ek_schema_role role)
{
    size_t length = t->size;
    int rc = t->kind == EK_TYPE_FIXED ? EK_OK : read_length(r, &length);
    if (!rc && length > left(r))
        rc = cut_short(r);
    if (!rc && role == EK_ROLE_FEATURES && t->logical != EK_LOGICAL_DECIMAL)
        rc = ek_output_note(&r->o, (size_t)(r->p - r->start), 0, EK_TYPE_BYTES);
    return rc ? rc : put_bytes(r, false, length);
}

/* Convert a value wholly. */
static int convert(struct reader *r, uint32_t type, enum ek_schema_role role)
{
    const struct ek_schema_type *t = &r->s->type[type];
    int rc = count_value(r);
    if (!rc)
        rc = ek_output_reserve(&r->o, EK_OUTPUT_ROOM);
    if (rc)
        return rc;
    switch (t->kind) {
    case EK_TYPE_NULL:
        *r->o.to++ = EK_TAG_NIL;
        return EK_OK;
    case EK_TYPE_BOOLEAN:
        return put_boolean(r);
    case EK_TYPE_INT:
    case EK_TYPE_LONG:
        return put_number(r, t, role);
    case EK_TYPE_FLOAT:
    case EK_TYPE_DOUBLE:
        return put_real(r, type);
    case EK_TYPE_BYTES:
    case EK_TYPE_FIXED:
        return put_binary(r, t, role);
    case EK_TYPE_STRING:
        return put_text(r);
    case EK_TYPE_ENUM:
        return put_symbol(r, t);
    default:
        return convert_inner(r, type, role);
    }
}

static int enter_record(struct reader *r, const struct ek_schema_step *step)
{
    const struct ek_schema_type *t = &r->s->type[step->type];
    int rc = EK_OK;
    put_map(r, step->wanted);
    for (uint32_t i = 0; !rc && i < t->count; i++) {
        const struct ek_schema_step *of = &r->s->step[step->first + i];
        if (of->mode == EK_STEP_SKIP) {
            rc = skip(r, of->type);
            continue;
        }
        rc = ek_output_word(&r->o, &r->s->link[t->first + i]);
        if (!rc)
            rc = follow(r, of);
    }
    return rc;
}

static int enter(struct reader *r, const struct ek_schema_step *step)
{
    const struct ek_schema_type *t = &r->s->type[step->type];
    uint32_t branch;
    int rc = ek_output_reserve(&r->o, EK_OUTPUT_ROOM);
    if (!rc && t->kind == EK_TYPE_UNION) {
        rc = read_index(r, t, &branch);
        return rc ? rc : follow(r, &r->s->step[step->first + branch]);
    }
    if (!rc)
        rc = descend(r);
    if (rc)
        return rc;
    rc = t->kind == EK_TYPE_ARRAY ? put_elements(r, t, &r->s->step[step->first])
                                  : enter_record(r, step);
    r->depth++;
    return rc;
}

/* Convert a value by its step. A value that is skipped becomes nil, since its key or its place in
 * an array is already written. */
static int follow(struct reader *r, const struct ek_schema_step *step)
{
    int rc;
    if (step->mode == EK_STEP_CONVERT)
        return convert(r, step->type, (enum ek_schema_role)step->role);
    if (step->mode == EK_STEP_ENTER)
        return enter(r, step);
    rc = skip(r, step->type);
    if (!rc)
        rc = ek_output_reserve(&r->o, 1);
    if (!rc)
        *r->o.to++ = EK_TAG_NIL;
    return rc;
}

static int read_message(struct reader *r)
{
    int rc = follow(r, r->s->step);
    if (!rc && r->p != r->end)
        rc = invalid(r, "bytes follow the end of the message");
    return rc;
}

int ek_avro_read(struct ek_schema_message **m, const struct ek_message_schema *s, const void *bytes,
                 size_t length, size_t from, int depth, struct ek_schema_fault *fault)
{
    const uint8_t *start = bytes;
    struct reader r = {.s = s,
                       .start = start,
                       .p = start + from,
                       .end = start + length,
                       .budget = EK_OUTPUT_VALUES_MAX + length,
                       .depth = depth};
    int rc = ek_output_begin(&r.o, m, s, length);
    if (!rc)
        rc = read_message(&r);
    return ek_output_end(&r.o, rc, (size_t)(r.p - start), fault);
}
