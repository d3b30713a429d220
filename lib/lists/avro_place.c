/* Positions in converted Avro messages, for patches. */
#include "base/alloc.h"
#include "lists/avro_internal.h"
#include "lists/avro_read.h"
#include "lists/codec_wire.h"

#include <math.h>

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

void ek_avro_message_free(struct ek_avro_message *m)
{
    if (!m)
        return;
    ek_free(m->wire);
    ek_free(m->places);
    ek_free(m);
}

const uint8_t *ek_avro_wire(const struct ek_avro_message *m, size_t *length)
{
    *length = m->length;
    return m->wire;
}

static const struct ek_avro_noted *find_place(const struct ek_avro_message *m, size_t offset)
{
    size_t low = 0, high = m->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->places[middle].wire < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->place_count && m->places[low].wire == offset ? &m->places[low] : NULL;
}

bool ek_avro_place(const struct ek_avro_message *m, size_t offset, struct ek_place *place)
{
    const struct ek_avro_noted *found = find_place(m, offset);
    if (!found || !found->length)
        return false;
    *place = (struct ek_place){found->at, found->length};
    return true;
}

size_t ek_avro_store(uint8_t *to, size_t width, double value)
{
    if (width == EK_AVRO_FLOAT_BYTES)
        ek_store_be32(to, __builtin_bswap32(ek_float_to_bits((float)value)));
    else
        ek_store_be64(to, __builtin_bswap64(ek_double_to_bits(value)));
    return width;
}

bool ek_avro_row_start(const struct ek_avro_message *m, size_t offset, const void *bytes,
                       size_t length, size_t values, struct ek_avro_row *row)
{
    const struct ek_avro_noted *found = find_place(m, offset);
    const uint8_t *start = bytes;
    if (!found || found->length || found->at > length)
        return false;
    bool is_bytes = found->type == EK_AVRO_BYTES;
    const struct ek_avro_type *t = &m->schema->type[found->type];
    *row =
        (struct ek_avro_row){.schema = m->schema,
                             .start = start,
                             .p = start + found->at,
                             .end = start + length,
                             .element = is_bytes ? EK_AVRO_FLOAT : m->schema->link[t->first].type,
                             .left = is_bytes ? values : 0,
                             .is_bytes = is_bytes};
    return true;
}

/* Read the heads of blocks until one has values. */
static bool next_block(struct ek_avro_row *row)
{
    int64_t count, size;
    if (row->left || row->is_bytes)
        return row->left > 0;
    if (!ek_avro_varint(&row->p, row->end, &count) || !count || count == INT64_MIN)
        return false;
    row->left = (uint64_t)(count < 0 ? -count : count);
    return count > 0 || ek_avro_varint(&row->p, row->end, &size);
}

bool ek_avro_row_next(struct ek_avro_row *row, struct ek_avro_value *v)
{
    int64_t index;
    if (!next_block(row))
        return false;
    const struct ek_avro_type *t = &row->schema->type[row->element];
    row->left--;
    if (t->kind == EK_AVRO_UNION) {
        if (!ek_avro_varint(&row->p, row->end, &index) || index < 0 || index >= t->count)
            return false;
        t = ek_avro_linked(row->schema, t, (uint32_t)index);
    }
    size_t size = t->kind == EK_AVRO_FLOAT    ? EK_AVRO_FLOAT_BYTES
                  : t->kind == EK_AVRO_DOUBLE ? EK_AVRO_DOUBLE_BYTES
                                              : 0;
    *v = (struct ek_avro_value){.at = (size_t)(row->p - row->start),
                                .length = size,
                                .is_null = t->kind == EK_AVRO_NULL,
                                .number = NAN};
    if (size > (size_t)(row->end - row->p))
        return false;
    if (size == EK_AVRO_FLOAT_BYTES)
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
