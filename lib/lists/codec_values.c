/* Numbers of a message: feature values in their forms, which fill a row. */
#include "lists/codec_internal.h"

#include <math.h>

/* Marks unset entries of a row: a NaN that no arithmetic produces. In a message it is a missing
 * value, too. */
static const uint32_t UNSEEN = 0x7fe5e11eu;

/* Return the number of a header and move past it; false: it has none. */
bool ek_decode_number(struct ek_decode *d, const struct ek_head *h, double *out)
{
    struct ek_text text = {(const char *)d->w.p, h->count};
    if (ek_head_is_number(h)) {
        *out = ek_head_number(h);
        return true;
    }
    if (h->kind != EK_WIRE_TEXT || !d->c->numeric_strings || !ek_text_number(text, out))
        return false;
    d->w.p += h->count;
    return true;
}

/* Read a boolean, or text if mapped so. */
static int read_other_number(struct ek_decode *d, const struct ek_head *h, float *out)
{
    double value = (double)h->bits;
    if (h->kind != EK_WIRE_BOOL && !ek_decode_number(d, h, &value))
        return ek_decode_wrong_kind(d, h, d->words->number);
    *out = (float)value;
    return EK_OK;
}

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
        return read_other_number(d, &h, out);
    return EK_OK;
}

/* Read runs of one type, with nil; other values one by one. */
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
        row[i] = ek_float_from_bits(__builtin_bswap32(ek_load_be32(w->p + 4 * i)));
#endif
    w->p += 4 * count;
}

/* Read a map key, which must be a string. */
int ek_decode_key(struct ek_decode *d, struct ek_text *key)
{
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_TEXT)
        return ek_decode_fail(d, EK_EFORMAT, "a key is %s, expected text",
                              ek_decode_kind(d, h.kind));
    *key = ek_decode_text(d, &h);
    return EK_OK;
}

/* In the loop of a map: inlined there. */
static inline __attribute__((always_inline)) int
read_name(struct ek_decode *d, const struct ek_names *names, int guess, int *number)
{
    if (guess < names->count && ek_key_match(&names->keys[guess], &d->w)) {
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

int ek_decode_name(struct ek_decode *d, const struct ek_names *names, int guess, int *number)
{
    return read_name(d, names, guess, number);
}

/* Skip a value. */
int ek_decode_skip(struct ek_decode *d)
{
    enum ek_wire_result result = ek_wire_skip(&d->w, d->c->limits.depth);
    return result ? ek_decode_wire_fail(d, result) : EK_OK;
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
    bool twice = ek_float_to_bits(row[number]) != UNSEEN;
    if (!twice && ek_wire_float32(&d->w, row + number))
        return EK_OK;
    d->key = (struct ek_text){names->features[number]->name, names->lengths[number]};
    rc = twice ? ek_decode_fail(d, EK_EFORMAT, "given twice") : read_number(d, row + number);
    if (!rc)
        d->key.text = NULL;
    return rc;
}

void ek_row_begin(float *row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(row + i, &UNSEEN, sizeof UNSEEN);
}

void ek_row_end(float *row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ek_float_to_bits(row[i]) == UNSEEN)
            row[i] = NAN;
}

static int read_values_map(struct ek_decode *d, const struct ek_names *names, float *row,
                           uint32_t pairs)
{
    int next = 0, rc = EK_OK;
    ek_row_begin(row, (size_t)names->count);
    for (uint32_t i = 0; !rc && i < pairs; i++)
        rc = read_entry(d, names, row, &next);
    ek_row_end(row, (size_t)names->count);
    return rc;
}

/* Read a number into an entry that must be unset. */
int ek_decode_once(struct ek_decode *d, float *out)
{
    return ek_float_to_bits(*out) != UNSEEN ? ek_decode_fail(d, EK_EFORMAT, "given twice")
                                            : read_number(d, out);
}

static int read_pair(struct ek_decode *d, const struct ek_names *names, float *row)
{
    struct ek_pair pair;
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    if (h.kind != EK_WIRE_MAP)
        return ek_decode_wrong_kind(d, &h, d->words->map);
    enum ek_wire_result result = ek_pair_read(&d->w, h.count, d->c->limits.depth, &pair);
    if (result)
        return ek_decode_wire_fail(d, result);
    if (!pair.name.text)
        return ek_decode_fail(d, EK_EFORMAT, "it has no text 'name'");
    int number = ek_names_find(names, pair.name);
    if (number < 0 || !pair.value)
        return EK_OK;
    const uint8_t *after = d->w.p;
    d->index = -1;
    d->key = pair.name;
    d->w.p = pair.value;
    rc = ek_decode_once(d, row + number);
    d->w.p = after;
    d->key.text = rc ? d->key.text : NULL;
    return rc;
}

/* Read an array of {name, value}. */
static int read_pairs(struct ek_decode *d, const struct ek_names *names, float *row, uint32_t count)
{
    int rc = EK_OK;
    ek_row_begin(row, (size_t)names->count);
    for (uint32_t i = 0; !rc && i < count; i++) {
        d->index = (int)i;
        rc = read_pair(d, names, row);
    }
    ek_row_end(row, (size_t)names->count);
    d->index = rc ? d->index : -1;
    return rc;
}

/* Read an array of `length` numbers or of {name, value}. */
static int read_list(struct ek_decode *d, const struct ek_names *names, float *row, uint32_t length)
{
    uint32_t count = (uint32_t)names->count;
    if (length && ek_wire_at_map(&d->w))
        return read_pairs(d, names, row, length);
    if (length != count)
        return ek_decode_fail(d, EK_EFORMAT, "%u values, the manifest has %u", length, count);
    return read_array(d, row, count);
}

/* Skip the header of `count` elements or bytes, of 16 bits. Return false for others, with `p`
 * unchanged. A fast path for rows of 16 and more values. */
static inline bool skip_head16(struct ek_wire *w, uint8_t tag, size_t count)
{
    size_t left = ek_wire_left(w);
    if (left < 3 || left - 3 < count || w->p[0] != tag || ((size_t)w->p[1] << 8 | w->p[2]) != count)
        return false;
    w->p += 3;
    return true;
}

int ek_decode_values(struct ek_decode *d, const struct ek_names *names, float *row)
{
    size_t count = (size_t)names->count;
    struct ek_head h;
    if (skip_head16(&d->w, EK_TAG_BIN16, 4 * count)) {
        read_bin(&d->w, row, count);
        return EK_OK;
    }
    if (skip_head16(&d->w, EK_TAG_ARRAY16, count))
        return read_list(d, names, row, (uint32_t)count);
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    switch (h.kind) {
    case EK_WIRE_ARRAY:
        return read_list(d, names, row, h.count);
    case EK_WIRE_BIN:
        if (d->q->from_schema && h.count % 4 == 0 && h.count != 4 * count)
            return ek_decode_fail(d, EK_EFORMAT, "%u values, the manifest has %d", h.count / 4,
                                  names->count);
        if (h.count != 4 * count)
            return ek_decode_fail(d, EK_EFORMAT,
                                  "%u bytes, the %d features of the manifest are %zu", h.count,
                                  names->count, 4 * count);
        read_bin(&d->w, row, count);
        return EK_OK;
    case EK_WIRE_MAP:
        return read_values_map(d, names, row, h.count);
    default:
        return ek_decode_wrong_kind(d, &h, d->words->values);
    }
}
