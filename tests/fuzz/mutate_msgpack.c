/* MessagePack mutations by whole values. */
#include "base/rng.h"
#include "lists/codec_wire.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

enum { NODES_MAX = 2000, DEPTH_MAX = 24, PIECE_MAX = 4096, TEXT_MAX = 64, NO_PARENT = -1 };

struct node {
    size_t at, head, length; /* head: of tag and count; length: total */
    struct ek_head is;
    int parent;
    bool is_key; /* of a pair */
};

struct tree {
    struct node node[NODES_MAX];
    int count;
    const uint8_t *bytes;
    struct ek_wire w;
};

/* Read a value and its children. Return false if it is truncated or the tree is full. */
static bool read_value(struct tree *t, int parent, bool is_key, int depth)
{
    if (t->count == NODES_MAX || depth > DEPTH_MAX)
        return false;
    int me = t->count++;
    struct node *n = &t->node[me];
    *n = (struct node){.at = (size_t)(t->w.p - t->bytes), .parent = parent, .is_key = is_key};
    if (ek_wire_head(&t->w, &n->is))
        return false;
    n->head = (size_t)(t->w.p - t->bytes) - n->at;
    if (n->is.kind == EK_WIRE_TEXT || n->is.kind == EK_WIRE_BIN || n->is.kind == EK_WIRE_EXT)
        t->w.p += n->is.count;
    uint32_t pairs = n->is.kind == EK_WIRE_MAP ? n->is.count : 0;
    uint32_t inside = n->is.kind == EK_WIRE_ARRAY ? n->is.count : 2 * pairs;
    for (uint32_t i = 0; i < inside; i++)
        if (!read_value(t, me, pairs && i % 2 == 0, depth + 1))
            return false;
    n->length = (size_t)(t->w.p - t->bytes) - n->at;
    return true;
}

static size_t put_head(uint8_t *out, uint8_t tag32, uint32_t count)
{
    out[0] = tag32;
    ek_store_be32(out + 1, count);
    return 5;
}

static size_t put_text(uint8_t *out, const uint8_t *text, size_t length)
{
    size_t head = 1;
    if (length < 32)
        out[0] = (uint8_t)(EK_TAG_SHORT_TEXT | length);
    else
        head = put_head(out, EK_TAG_TEXT32, (uint32_t)length);
    memcpy(out + head, text, length);
    return head + length;
}

static size_t put_double(uint8_t *out, double d, bool wide)
{
    out[0] = wide ? EK_TAG_FLOAT64 : EK_TAG_FLOAT32;
    if (wide)
        ek_store_be64(out + 1, ek_double_to_bits(d));
    else
        ek_store_be32(out + 1, ek_float_to_bits((float)d));
    return wide ? 9 : 5;
}

static size_t put_integer(uint8_t *out, uint64_t bits, bool is_signed)
{
    out[0] = is_signed ? EK_TAG_INT64 : EK_TAG_UINT64;
    ek_store_be64(out + 1, bits);
    return 9;
}

/* Write an integer at an encoding boundary. */
static size_t put_edge(uint8_t *out, struct ek_rng *r)
{
    static const double edges[] = {
        0,      -0., 1,    -1,  1.5,  3.4028235e38,      3.5e38,  1e308,    1e39,   1e-45, 1e-46,
        5e-324, 745, -746, 1e9, 1e18, 9007199254740993., 1. / 0., -1. / 0., 0. / 0.};
    static const uint64_t whole[] = {0,
                                     1,
                                     127,
                                     128,
                                     255,
                                     65536,
                                     INT32_MAX,
                                     INT64_MAX,
                                     UINT64_MAX,
                                     (uint64_t)1 << 63,
                                     1700000000000};
    if (ek_rng_uniform_int(r, 2))
        return put_double(out, edges[ek_rng_uniform_int(r, sizeof edges / sizeof *edges)],
                          ek_rng_uniform_int(r, 2) != 0);
    return put_integer(out, whole[ek_rng_uniform_int(r, sizeof whole / sizeof *whole)],
                       ek_rng_uniform_int(r, 2) != 0);
}

static const char *any_key(const struct ek_fuzz_words *w, struct ek_rng *r)
{
    return w->keys ? w->key[ek_rng_uniform_int(r, w->keys)] : "k";
}

static size_t put_scalar(uint8_t *out, const struct ek_fuzz_words *w, struct ek_rng *r)
{
    static const uint8_t plain[] = {EK_TAG_NIL, EK_TAG_FALSE, EK_TAG_TRUE, 0,
                                    1,          0x7f,         0xff,        0x80 /* an empty map */,
                                    0x90 /* an empty array */};
    uint64_t way = ek_rng_uniform_int(r, 4);
    if (way < 2)
        return put_edge(out, r);
    if (way == 2) {
        const char *key = any_key(w, r);
        return put_text(out, (const uint8_t *)key, strlen(key));
    }
    out[0] = plain[ek_rng_uniform_int(r, sizeof plain)];
    return 1;
}

/* An edit: replace `cut` bytes at `at` by `fill`; add `more` to the count of the parent (NO_PARENT:
 * none). */
struct edit {
    size_t at, cut, filled;
    int parent, more;
    uint8_t fill[PIECE_MAX + TEXT_MAX];
};

static bool copy_of(const struct tree *t, struct edit *e, const struct node *n)
{
    if (n->length > PIECE_MAX)
        return false;
    memcpy(e->fill + e->filled, t->bytes + n->at, n->length);
    e->filled += n->length;
    return true;
}

static const struct node *any(const struct tree *t, struct ek_rng *r)
{
    return &t->node[ek_rng_uniform_int(r, (uint64_t)t->count)];
}

static bool replace(const struct tree *t, struct edit *e, const struct node *n, struct ek_rng *r,
                    const struct ek_fuzz_words *w)
{
    e->at = n->at;
    e->cut = n->length;
    if (ek_rng_uniform_int(r, 2))
        return copy_of(t, e, any(t, r));
    e->filled = put_scalar(e->fill, w, r);
    return true;
}

/* Remove an element of an array, or a pair of a map. */
static bool take_out(const struct tree *t, struct edit *e, const struct node *n)
{
    if (n->parent == NO_PARENT)
        return false;
    bool in_map = t->node[n->parent].is.kind == EK_WIRE_MAP;
    if (in_map && !n->is_key)
        return false;
    e->at = n->at;
    e->cut = n->length;
    if (in_map) /* the value follows its key, which usually has no children */
        for (const struct node *v = n + 1; v < t->node + t->count; v++)
            if (v->at == n->at + n->length) {
                e->cut += v->length;
                break;
            }
    e->parent = n->parent;
    e->more = -1;
    return true;
}

/* Insert a copy of a value before `n`, with a key in a map. */
static bool put_in(const struct tree *t, struct edit *e, const struct node *n, struct ek_rng *r,
                   const struct ek_fuzz_words *w)
{
    if (n->parent == NO_PARENT)
        return false;
    bool in_map = t->node[n->parent].is.kind == EK_WIRE_MAP;
    if (in_map && !n->is_key)
        return false;
    if (in_map) {
        const char *key = any_key(w, r);
        e->filled = put_text(e->fill, (const uint8_t *)key,
                             strlen(key) < TEXT_MAX - 8 ? strlen(key) : TEXT_MAX - 8);
    }
    e->at = n->at;
    e->parent = n->parent;
    e->more = 1;
    if (ek_rng_uniform_int(r, 3))
        return copy_of(t, e, any(t, r));
    e->filled += put_scalar(e->fill + e->filled, w, r);
    return true;
}

static bool recode(struct edit *e, const struct node *n, struct ek_rng *r)
{
    if (!ek_head_is_number(&n->is))
        return false;
    double value = ek_head_number(&n->is);
    e->at = n->at;
    e->cut = n->length;
    uint64_t way = ek_rng_uniform_int(r, 4);
    if (way == 3 && value > -1e18 && value < 1e18)
        e->filled = put_integer(e->fill, (uint64_t)(int64_t)value, true);
    else
        e->filled = put_double(e->fill, way == 2 ? -value : value, way != 0);
    return true;
}

static bool change_text(const struct tree *t, struct edit *e, const struct node *n,
                        struct ek_rng *r, const struct ek_fuzz_words *w)
{
    uint8_t text[TEXT_MAX];
    if (n->is.kind != EK_WIRE_TEXT || n->is.count > TEXT_MAX)
        return false;
    size_t length = n->is.count;
    memcpy(text, t->bytes + n->at + n->head, length);
    if (ek_rng_uniform_int(r, 2)) {
        const char *key = any_key(w, r);
        length = strlen(key) < TEXT_MAX ? strlen(key) : TEXT_MAX;
        memcpy(text, key, length);
    } else
        length = LLVMFuzzerMutate(text, length, TEXT_MAX);
    e->at = n->at;
    e->cut = n->length;
    e->filled = put_text(e->fill, text, length);
    return true;
}

/* Convert an array of numbers to `bin` of float32. */
static bool to_bin(const struct tree *t, struct edit *e, const struct node *n)
{
    if (n->is.kind != EK_WIRE_ARRAY || n->is.count > PIECE_MAX / 4 - 2)
        return false;
    e->at = n->at;
    e->cut = n->length;
    e->filled = put_head(e->fill, 0xc6, 4 * n->is.count);
    for (uint32_t i = 1; i <= n->is.count; i++) {
        if (n + i >= t->node + t->count || !ek_head_is_number(&n[i].is))
            return false;
        float f = (float)ek_head_number(&n[i].is);
        memcpy(e->fill + e->filled, &f, sizeof f);
        e->filled += sizeof f;
    }
    return true;
}

static bool choose(const struct tree *t, struct edit *e, struct ek_rng *r,
                   const struct ek_fuzz_words *w)
{
    const struct node *n = any(t, r);
    switch (ek_rng_uniform_int(r, 8)) {
    case 0:
    case 1:
        return replace(t, e, n, r, w);
    case 2:
        return take_out(t, e, n);
    case 3:
    case 4:
        return put_in(t, e, n, r, w);
    case 5:
        return recode(e, n, r);
    case 6:
        return change_text(t, e, n, r, w);
    default:
        return to_bin(t, e, n);
    }
}

static void splice(uint8_t *data, size_t *size, size_t at, size_t cut, const uint8_t *fill,
                   size_t filled)
{
    memmove(data + at + filled, data + at + cut, *size - at - cut);
    memcpy(data + at, fill, filled);
    *size += filled - cut;
}

static size_t apply(const struct tree *t, const struct edit *e, uint8_t *data, size_t size,
                    size_t most)
{
    uint8_t head[5];
    if (size - e->cut + e->filled + sizeof head > most)
        return size;
    splice(data, &size, e->at, e->cut, e->fill, e->filled);
    if (e->parent != NO_PARENT && e->more) { /* its position is before the edit */
        const struct node *p = &t->node[e->parent];
        bool map = p->is.kind == EK_WIRE_MAP;
        uint32_t count = p->is.count + (uint32_t)e->more;
        size_t length = 1;
        if (count < 16)
            head[0] = (uint8_t)((map ? 0x80 : 0x90) | count);
        else
            length = put_head(head, map ? EK_TAG_MAP32 : EK_TAG_ARRAY32, count);
        splice(data, &size, p->at, p->head, head, length);
    }
    return size;
}

size_t ek_fuzz_mutate_msgpack(uint8_t *data, size_t size, size_t most, unsigned seed,
                              const struct ek_fuzz_words *w)
{
    static struct tree t;
    static struct edit e;
    struct ek_rng r;
    ek_rng_seed(&r, seed);
    if (!ek_rng_uniform_int(&r, 5))
        return LLVMFuzzerMutate(data, size, most);
    for (uint64_t steps = 1 + ek_rng_uniform_int(&r, 3); steps; steps--) {
        t.count = 0;
        t.bytes = data;
        t.w = (struct ek_wire){data, data, data + size};
        if (!read_value(&t, NO_PARENT, false, 0))
            return LLVMFuzzerMutate(data, size, most);
        bool chosen = false;
        for (int tries = 0; tries < 8 && !chosen; tries++) {
            e.at = e.cut = e.filled = 0;
            e.parent = NO_PARENT;
            e.more = 0;
            chosen = choose(&t, &e, &r, w);
        }
        if (chosen)
            size = apply(&t, &e, data, size, most);
    }
    return size;
}
