#include "data/codec_inner.h"

#include <math.h>

/* Marks the entries of a row that a map has not filled yet: a NaN that no arithmetic makes. Should
 * a message carry just this one, it is missing all the same. */
static const uint32_t UNSEEN = 0x7fe5e11eu;

static int read_number(struct ek_decode *d, float *out)
{
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    if (ek_head_is_number(&h))
        *out = (float)ek_head_number(&h);
    else if (h.kind == EK_WIRE_NIL)
        *out = NAN;
    else
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected a number or nil",
                              ek_wire_kind_name(h.kind));
    return EK_OK;
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Floats come in runs; whatever else stands between them goes one by one. */
static int read_array(struct ek_decode *d, float *row, size_t count)
{
    size_t i = 0;
    while (i < count) {
        size_t got = ek_swap_float32(d->w.p, row + i, lesser(count - i, ek_wire_left(&d->w) / 5));
        i += got;
        d->w.p += 5 * got;
        got = ek_swap_float64(d->w.p, row + i, lesser(count - i, ek_wire_left(&d->w) / 9));
        i += got;
        d->w.p += 9 * got;
        if (i == count)
            break;
        d->index = (int)i;
        int rc = read_number(d, row + i);
        if (rc)
            return rc;
        d->index = -1;
        i++;
    }
    return EK_OK;
}

static void read_bin(struct ek_decode *d, float *row, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (count)
        memcpy(row, d->w.p, 4 * count);
#else
    for (size_t i = 0; i < count; i++)
        row[i] = ek_float_of_bits(__builtin_bswap32(ek_load_be32(d->w.p + 4 * i)));
#endif
    d->w.p += 4 * count;
}

/* Writers keep their order from item to item, mostly that of the manifest: *next is tried first.
 */
static int read_entry(struct ek_decode *d, const struct ek_names *names, float *row, int *next)
{
    struct ek_text key;
    int rc = ek_decode_key(d, &key);
    if (rc)
        return rc;
    int number = ek_names_find(names, key, *next);
    d->key = key;
    if (number < 0) {
        rc = ek_decode_skip(d);
    } else {
        if (ek_bits_of_float(row[number]) != UNSEEN)
            return ek_decode_fail(d, EK_EFORMAT, "given twice");
        rc = read_number(d, row + number);
        *next = number + 1;
    }
    if (!rc)
        d->key.text = NULL;
    return rc;
}

static int read_map(struct ek_decode *d, const struct ek_names *names, float *row, uint32_t pairs)
{
    int next = 0, rc = EK_OK;
    for (int i = 0; i < names->count; i++)
        memcpy(row + i, &UNSEEN, sizeof UNSEEN);
    for (uint32_t i = 0; !rc && i < pairs; i++)
        rc = read_entry(d, names, row, &next);
    for (int i = 0; i < names->count; i++)
        if (ek_bits_of_float(row[i]) == UNSEEN)
            row[i] = NAN;
    return rc;
}

int ek_decode_values(struct ek_decode *d, const struct ek_names *names, float *row, int count)
{
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    switch (h.kind) {
    case EK_WIRE_ARRAY:
        if (h.count != (uint32_t)count)
            return ek_decode_fail(d, EK_EFORMAT, "%u values, the manifest has %d", h.count, count);
        return read_array(d, row, (size_t)count);
    case EK_WIRE_BIN:
        if (h.count != 4 * (uint32_t)count)
            return ek_decode_fail(d, EK_EFORMAT, "%u bytes, the %d features of the manifest are %u",
                                  h.count, count, 4 * (uint32_t)count);
        read_bin(d, row, (size_t)count);
        return EK_OK;
    case EK_WIRE_MAP:
        return read_map(d, names, row, h.count);
    default:
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected an array, bin or a map",
                              ek_wire_kind_name(h.kind));
    }
}
