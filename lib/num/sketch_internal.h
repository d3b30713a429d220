/* Internals shared by the sketch files.
 *
 * Keys are grouped into blocks of 256, with a bit per block that was written. Only such blocks are
 * read, so other pages stay untouched.
 */
#ifndef EK_NUM_SKETCH_INTERNAL_H
#define EK_NUM_SKETCH_INTERNAL_H

#include "num/isa.h"
#include "num/sketch.h"

enum {
    EK_SKETCH_BLOCK = 256,
    EK_SKETCH_BLOCKS = EK_SKETCH_KEYS / EK_SKETCH_BLOCK,
    EK_SKETCH_SHIFT = 17, /* bits of the float pattern below the key */
};

struct ek_sketch {
    uint64_t *count; /* [EK_SKETCH_KEYS] */
    uint64_t touched[EK_SKETCH_BLOCKS / 64];
    uint64_t total;
};

/* Return 1 if a key of the block was written, else 0. */
static inline int ek_sketch_touches(const struct ek_sketch *s, int block)
{
    return s->touched[block / 64] >> (block % 64) & 1;
}

/* Mark a block as written. */
static inline void ek_sketch_touch(struct ek_sketch *s, int block)
{
    s->touched[block / 64] |= UINT64_C(1) << (block % 64);
}

/* Return 1 if ek_sketch_key can return `key`, which excludes all NaNs but EK_SKETCH_NAN. */
int ek_sketch_is_key(uint64_t key);

/* Row buffer of a set: lanes of 16 features, with one bit per 2,048 hot indexes for each lane. A
 * hot index is the key rotated by EK_HOT_ROUND, so that 2^-11 .. 2^21 share one page. */
enum { EK_KEY_LANES = 16, EK_HOT_ROUND = 768, EK_HOT_CHUNK_SHIFT = 11 };

/* Convert rows of 16 floats, `stride` floats apart, to rows of 16 hot indexes. OR their chunks into
 * `chunks`. */
typedef void ek_sketch_keys_fn(const float *x, size_t stride, int rows, uint16_t *keys,
                               uint32_t *chunks);
/* Add the counters of one block, wide or hot. */
typedef void ek_sketch_add_wide_fn(uint64_t *to, const uint64_t *from);
typedef void ek_sketch_add_hot_fn(uint64_t *to, const uint16_t *from);

struct ek_sketch_kernels {
    ek_sketch_keys_fn *keys;
    ek_sketch_add_wide_fn *add_wide;
    ek_sketch_add_hot_fn *add_hot;
};
/* Return the kernels of an instruction set, or the portable ones if this build has none. */
struct ek_sketch_kernels ek_sketch_kernels_get(enum ek_isa isa);

#define EK_SKETCH_KERNELS(isa)                                                                     \
    ek_sketch_keys_fn ek_sketch_keys_##isa;                                                        \
    ek_sketch_add_wide_fn ek_sketch_add_wide_##isa;                                                \
    ek_sketch_add_hot_fn ek_sketch_add_hot_##isa
ek_sketch_keys_fn ek_sketch_keys_scalar; /* the reference */
EK_SKETCH_KERNELS(portable);
#if defined(__x86_64__)
EK_SKETCH_KERNELS(avx2);
EK_SKETCH_KERNELS(avx512);
#elif defined(__aarch64__)
EK_SKETCH_KERNELS(neon);
#endif

/* Return the hot index of a value. */
uint16_t ek_sketch_hot_index(float x);

/* Return the block of keys whose counts are in a block of hot indexes. */
static inline int ek_sketch_hot_to_block(int hot_block)
{
    enum { TURN_BLOCKS = EK_HOT_ROUND / EK_SKETCH_BLOCK };
    return (hot_block + EK_SKETCH_BLOCKS - TURN_BLOCKS) % EK_SKETCH_BLOCKS;
}

#endif
