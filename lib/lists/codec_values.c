#include "lists/codec_inner.h"

#include <math.h>

/* Marks the entries of a row that a map has not filled yet: a NaN that no arithmetic makes. Should
 * a message carry just this one, it is missing all the same. */
static const uint32_t UNSEEN = 0x7fe5e11eu;

static int read_number(struct ek_decode *d, float *out)
{
    struct ek_head h;
    if (ek_wire_float32(&d->w, out))
        return EK_OK;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    if (ek_head_is_number(&h))
        *out = (float)ek_head_number(&h);
    else if (h.kind == EK_WIRE_NIL)
        *out = NAN;
    else
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h.kind),
                              d->words->number);
    return EK_OK;
}

/* Values of one kind come in runs, nil among them; what is none of these goes one by one. */
static int read_array(struct ek_decode *d, float *row, size_t count)
{
    const struct ek_codec *c = d->c;
    struct ek_wire *w = &d->w;
    size_t i = 0;
    for (;;) {
        size_t from = i;
        i += c->swap(&w->p, w->end, row + i, count - i);
        if (i == count)
            return EK_OK;
        i += c->swap64(&w->p, w->end, row + i, count - i);
        if (i == count)
            return EK_OK;
        if (i > from)
            continue;
        d->index = (int)i;
        int rc = read_number(d, row + i++);
        if (rc)
            return rc;
        d->index = -1;
    }
}

static void read_bin(struct ek_wire *w, float *row, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (count)
        memcpy(row, w->p, 4 * count);
#else
    for (size_t i = 0; i < count; i++)
        row[i] = ek_float_of_bits(__builtin_bswap32(ek_load_be32(w->p + 4 * i)));
#endif
    w->p += 4 * count;
}

/* The next key as a feature's number, -1 for a name nobody knows, which then stands in d->key.
 * Writers keep their order from item to item, mostly that of the manifest: `guess` is tried first.
 */
static int read_name(struct ek_decode *d, const struct ek_names *names, int guess, int *number)
{
    if (guess < names->count && ek_key_take(&names->keys[guess], &d->w)) {
        *number = guess;
        return EK_OK;
    }
    int rc = ek_decode_key(d, &d->key);
    if (rc)
        return rc;
    *number = ek_names_find(names, d->key);
    if (*number >= 0)
        d->key.text = NULL;
    return EK_OK;
}

static int read_entry(struct ek_decode *d, const struct ek_names *names, float *row, int *next)
{
    int number;
    int rc = read_name(d, names, *next, &number);
    if (rc)
        return rc;
    if (number < 0) {
        rc = ek_decode_skip(d);
        if (!rc)
            d->key.text = NULL;
        return rc;
    }
    *next = number + 1;
    bool twice = ek_bits_of_float(row[number]) != UNSEEN;
    if (!twice && ek_wire_float32(&d->w, row + number))
        return EK_OK;
    d->key = (struct ek_text){names->features[number]->name, names->lengths[number]};
    rc = twice ? ek_decode_fail(d, EK_EFORMAT, "given twice") : read_number(d, row + number);
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

/* The usual bin of a row of 64 values and more. */
static bool take_bin16(struct ek_wire *w, float *row, size_t count)
{
    size_t size = 4 * count, left = ek_wire_left(w);
    if (left < 3 || left - 3 < size || w->p[0] != EK_TAG_BIN16 ||
        ((size_t)w->p[1] << 8 | w->p[2]) != size)
        return false;
    w->p += 3;
    read_bin(w, row, count);
    return true;
}

int ek_decode_values(struct ek_decode *d, const struct ek_names *names, float *row, int count)
{
    struct ek_head h;
    if (take_bin16(&d->w, row, (size_t)count))
        return EK_OK;
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
        read_bin(&d->w, row, (size_t)count);
        return EK_OK;
    case EK_WIRE_MAP:
        return read_map(d, names, row, h.count);
    default:
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h.kind),
                              d->words->values);
    }
}
