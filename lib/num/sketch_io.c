/* Serialized sketch (docs/dev/formats/sketch.md): magic, number of entries, entries, CRC-32; and
 * packed sketch. */
#include "num/sketch_io.h"

#include "base/hash.h"
#include "num/sketch_internal.h"
#include "num/varint.h"

#include <string.h>

enum { MAGIC_BYTES = 4, CRC_BYTES = 4 };
static const uint8_t magic[MAGIC_BYTES] = {'E', 'K', 'S', '1'};

struct cursor {
    const uint8_t *at, *end;
};

static int read_varint(struct cursor *c, uint64_t *out)
{
    return ek_varint_read(&c->at, c->end, out) ? EK_OK : EK_EFORMAT;
}

static void write_u32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t entries_of(const struct ek_sketch *s)
{
    uint64_t n = 0;
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        for (int i = 0; ek_sketch_touches(s, b) && i < EK_SKETCH_BLOCK; i++)
            n += s->count[b * EK_SKETCH_BLOCK + i] != 0;
    return n;
}

/* *next: smallest key that may follow */
static void write_block(const struct ek_sketch *s, int block, int *next, struct ek_buf *out)
{
    uint8_t bytes[EK_SKETCH_BLOCK * 2 * EK_VARINT_BYTES];
    size_t n = 0;
    for (int key = block * EK_SKETCH_BLOCK; key < (block + 1) * EK_SKETCH_BLOCK; key++) {
        if (!s->count[key])
            continue;
        n += ek_varint_write(bytes + n, (uint64_t)(key - *next));
        n += ek_varint_write(bytes + n, s->count[key]);
        *next = key + 1;
    }
    ek_buf_add(out, bytes, n);
}

static void write_entries(const struct ek_sketch *s, struct ek_buf *out)
{
    int next = 0;
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        if (ek_sketch_touches(s, b))
            write_block(s, b, &next, out);
}

int ek_sketch_write(const struct ek_sketch *s, struct ek_buf *out)
{
    size_t start = out->length;
    uint8_t crc[CRC_BYTES], head[MAGIC_BYTES + EK_VARINT_BYTES];
    memcpy(head, magic, MAGIC_BYTES);
    ek_buf_add(out, head, MAGIC_BYTES + ek_varint_write(head + MAGIC_BYTES, entries_of(s)));
    write_entries(s, out);
    if (!out->rc)
        write_u32(crc, ek_crc32(out->data + start, out->length - start));
    int rc = ek_buf_add(out, crc, CRC_BYTES);
    if (rc)
        ek_buf_truncate(out, start);
    return rc;
}

/* Read one entry and advance *next, the smallest valid key. Return 0, or EK_EFORMAT. */
static int read_entry(struct cursor *c, uint64_t *next, uint64_t *key, uint64_t *count)
{
    uint64_t gap;
    if (read_varint(c, &gap) || read_varint(c, count) || !*count || gap >= EK_SKETCH_KEYS)
        return EK_EFORMAT;
    *key = *next + gap;
    *next = *key + 1;
    return ek_sketch_is_key(*key) ? EK_OK : EK_EFORMAT;
}

/* Check all bytes without storing counts. On success `c` is behind the checksum. */
static int validate(struct cursor *c, uint64_t entries, const uint8_t *start, struct ek_error *e)
{
    uint64_t next = 0, key, count, total = 0;
    for (uint64_t i = 0; i < entries; i++)
        if (read_entry(c, &next, &key, &count) || __builtin_add_overflow(total, count, &total))
            return ek_fail(e, EK_EFORMAT, "sketch is damaged at entry %llu", (unsigned long long)i);
    uint8_t crc[CRC_BYTES];
    write_u32(crc, ek_crc32(start, (size_t)(c->at - start)));
    if (c->end - c->at < CRC_BYTES || memcmp(c->at, crc, CRC_BYTES) != 0)
        return ek_fail(e, EK_EFORMAT, "sketch is damaged: the checksum does not fit");
    c->at += CRC_BYTES;
    return EK_OK;
}

static void read_entries(struct ek_sketch *s, struct cursor *c, uint64_t entries)
{
    uint64_t next = 0, key, count;
    for (uint64_t i = 0; i < entries && !read_entry(c, &next, &key, &count); i++) {
        ek_sketch_touch(s, (int)key / EK_SKETCH_BLOCK);
        s->count[key] += count;
        s->total += count;
    }
}

int ek_sketch_read(struct ek_sketch *s, const void *bytes, size_t length, size_t *used,
                   struct ek_error *e)
{
    const uint8_t *start = bytes;
    struct cursor c = {start, start + length};
    uint64_t entries;
    if (length < MAGIC_BYTES || memcmp(start, magic, MAGIC_BYTES) != 0)
        return ek_fail(e, EK_EFORMAT, "no sketch: it does not begin with 'EKS1'");
    c.at += MAGIC_BYTES;
    if (read_varint(&c, &entries) || entries > EK_SKETCH_KEYS)
        return ek_fail(e, EK_EFORMAT, "sketch is damaged: the number of entries");
    struct cursor again = c;
    int rc = validate(&c, entries, start, e);
    if (rc)
        return rc;
    ek_sketch_clear(s);
    read_entries(s, &again, entries);
    if (used)
        *used = (size_t)(c.at - start);
    return EK_OK;
}

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
