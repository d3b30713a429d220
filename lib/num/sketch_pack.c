#include "num/sketch_pack.h"

#include "num/sketch_internal.h"
#include "num/varint.h"

/* A run ends with its block, so its length minus one fits into a byte. */
enum { GAP_BYTES = 3, BLOCK_BYTES = EK_SKETCH_BLOCK * (EK_VARINT_BYTES + GAP_BYTES + 1) };

/* Pack one block. *next is the key behind the previous run. Return the bytes written. */
static size_t pack_block(const struct ek_sketch *s, int block, int *next, uint8_t *to)
{
    const uint64_t *count = s->count;
    size_t n = 0;
    int end = (block + 1) * EK_SKETCH_BLOCK;
    for (int key = block * EK_SKETCH_BLOCK; key < end; key++) {
        if (!count[key])
            continue;
        int first = key;
        n += ek_varint_write(to + n, (uint64_t)(key - *next));
        uint8_t *length = to + n++;
        for (; key < end && count[key]; key++)
            n += ek_varint_write(to + n, count[key]);
        *length = (uint8_t)(key - first - 1);
        *next = key;
    }
    return n;
}

int ek_sketch_pack(const struct ek_sketch *s, struct ek_buf *out)
{
    size_t start = out->length;
    int next = 0;
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++) {
        if (!ek_sketch_touches(s, b))
            continue;
        int rc = ek_buf_reserve(out, BLOCK_BYTES);
        if (rc) {
            ek_buf_truncate(out, start);
            return rc;
        }
        out->length += pack_block(s, b, &next, out->data + out->length);
    }
    return EK_OK;
}

void ek_sketch_unpack(struct ek_sketch *s, const uint8_t *bytes, size_t length)
{
    if (!length) /* the empty sketch may be NULL */
        return;
    const uint8_t *at = bytes, *end = bytes + length;
    uint64_t key = 0, gap, count, total = 0;
    while (at < end) {
        at = ek_varint_decode(at, &gap);
        key += gap;
        ek_sketch_touch(s, (int)(key / EK_SKETCH_BLOCK));
        for (uint64_t stop = key + 1 + *at++; key < stop; key++) {
            at = ek_varint_decode(at, &count);
            s->count[key] += count;
            total += count;
        }
    }
    s->total += total;
}

/* Check one run and set *key behind it. */
static bool is_sound_run(const uint8_t **at, const uint8_t *end, uint64_t *key, uint64_t *total)
{
    uint64_t gap, count;
    if (!ek_varint_read(at, end, &gap) || gap >= EK_SKETCH_KEYS || *at == end)
        return false;
    *key += gap;
    if (!gap && *key % EK_SKETCH_BLOCK) /* must be merged with the previous run */
        return false;
    uint64_t last = *key + *(*at)++;
    if (last >= EK_SKETCH_KEYS || last / EK_SKETCH_BLOCK != *key / EK_SKETCH_BLOCK)
        return false;
    for (; *key <= last; ++*key)
        if (!ek_sketch_is_key(*key) || !ek_varint_read(at, end, &count) || !count ||
            __builtin_add_overflow(*total, count, total))
            return false;
    return true;
}

bool ek_sketch_pack_is_sound(const uint8_t *bytes, size_t length, uint64_t *total)
{
    const uint8_t *at = bytes, *end = bytes + length;
    uint64_t key = 0;
    *total = 0;
    while (at < end)
        if (!is_sound_run(&at, end, &key, total))
            return false;
    return true;
}
