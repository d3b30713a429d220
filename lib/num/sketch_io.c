/* Bytes of a sketch, docs/format/sketch.md: magic, number of entries, entries, CRC-32. */
#include "base/hash.h"
#include "num/sketch_internal.h"

#include <string.h>

enum { MAGIC_BYTES = 4, CRC_BYTES = 4, VARINT_BYTES = 10 };
static const uint8_t magic[MAGIC_BYTES] = {'E', 'K', 'S', '1'};

static int put_varint(struct ek_buf *b, uint64_t v)
{
    uint8_t bytes[VARINT_BYTES];
    size_t n = 0;
    for (; v > 0x7f; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    return ek_buf_add(b, bytes, n);
}

struct cursor {
    const uint8_t *at, *end;
};

/* The shortest spelling only, so that equal sketches have equal bytes. 0 on success. */
static int take_varint(struct cursor *c, uint64_t *out)
{
    uint64_t v = 0;
    for (int shift = 0; c->at < c->end && shift < 64; shift += 7) {
        uint64_t byte = *c->at++;
        if (shift == 63 && byte > 1)
            return EK_EFORMAT;
        v |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        *out = v;
        return byte == 0 && shift > 0 ? EK_EFORMAT : EK_OK;
    }
    return EK_EFORMAT;
}

static void put_u32(uint8_t *to, uint32_t v)
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

static int put_entries(const struct ek_sketch *s, struct ek_buf *out)
{
    int next = 0, rc = EK_OK; /* next: the smallest key that may follow */
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++) {
        if (!ek_sketch_touches(s, b))
            continue;
        for (int key = b * EK_SKETCH_BLOCK; key < (b + 1) * EK_SKETCH_BLOCK && !rc; key++) {
            if (!s->count[key])
                continue;
            rc = put_varint(out, (uint64_t)(key - next));
            if (!rc)
                rc = put_varint(out, s->count[key]);
            next = key + 1;
        }
    }
    return rc;
}

int ek_sketch_write(const struct ek_sketch *s, struct ek_buf *out)
{
    size_t start = out->length;
    uint8_t crc[CRC_BYTES];
    int rc = ek_buf_add(out, magic, MAGIC_BYTES);
    if (!rc)
        rc = put_varint(out, entries_of(s));
    if (!rc)
        rc = put_entries(s, out);
    if (!rc) {
        put_u32(crc, ek_crc32(out->data + start, out->length - start));
        rc = ek_buf_add(out, crc, CRC_BYTES);
    }
    if (rc)
        out->length = start;
    return rc;
}

/* One entry; *next is the smallest key it may have. */
static int take_entry(struct cursor *c, uint64_t *next, uint64_t *key, uint64_t *count)
{
    uint64_t gap;
    if (take_varint(c, &gap) || take_varint(c, count) || !*count || gap >= EK_SKETCH_KEYS)
        return EK_EFORMAT;
    *key = *next + gap;
    *next = *key + 1;
    return ek_sketch_is_key(*key) ? EK_OK : EK_EFORMAT;
}

/* Goes over all the bytes without storing. On success `c` is behind the checksum. */
static int validate(struct cursor *c, uint64_t entries, const uint8_t *start, struct ek_error *e)
{
    uint64_t next = 0, key, count, total = 0;
    for (uint64_t i = 0; i < entries; i++)
        if (take_entry(c, &next, &key, &count) || __builtin_add_overflow(total, count, &total))
            return ek_fail(e, EK_EFORMAT, "sketch is damaged at entry %llu", (unsigned long long)i);
    uint8_t crc[CRC_BYTES];
    put_u32(crc, ek_crc32(start, (size_t)(c->at - start)));
    if (c->end - c->at < CRC_BYTES || memcmp(c->at, crc, CRC_BYTES) != 0)
        return ek_fail(e, EK_EFORMAT, "sketch is damaged: the checksum does not fit");
    c->at += CRC_BYTES;
    return EK_OK;
}

/* The place of the first of `entries` entries, once all the bytes are known to be a sketch. */
static int open_bytes(struct cursor *c, uint64_t *entries, const uint8_t *start, size_t length,
                      size_t *used, struct ek_error *e)
{
    *c = (struct cursor){start, start + length};
    if (length < MAGIC_BYTES || memcmp(start, magic, MAGIC_BYTES) != 0)
        return ek_fail(e, EK_EFORMAT, "no sketch: it does not begin with 'EKS1'");
    c->at += MAGIC_BYTES;
    if (take_varint(c, entries) || *entries > EK_SKETCH_KEYS)
        return ek_fail(e, EK_EFORMAT, "sketch is damaged: the number of entries");
    struct cursor all = *c;
    int rc = validate(&all, *entries, start, e);
    if (!rc && used)
        *used = (size_t)(all.at - start);
    return rc;
}

static void take_entries(struct ek_sketch *s, struct cursor *c, uint64_t entries)
{
    uint64_t next = 0, key, count;
    for (uint64_t i = 0; i < entries && !take_entry(c, &next, &key, &count); i++) {
        ek_sketch_touch(s, (int)key / EK_SKETCH_BLOCK);
        s->count[key] += count;
        s->total += count;
    }
}

int ek_sketch_read(struct ek_sketch *s, const void *bytes, size_t length, size_t *used,
                   struct ek_error *e)
{
    struct cursor c;
    uint64_t entries;
    int rc = open_bytes(&c, &entries, bytes, length, used, e);
    if (rc)
        return rc;
    ek_sketch_clear(s);
    take_entries(s, &c, entries);
    return EK_OK;
}

int ek_sketch_read_more(struct ek_sketch *s, const void *bytes, size_t length, size_t *used,
                        struct ek_error *e)
{
    struct cursor c;
    uint64_t entries;
    int rc = open_bytes(&c, &entries, bytes, length, used, e);
    if (!rc)
        take_entries(s, &c, entries);
    return rc;
}
