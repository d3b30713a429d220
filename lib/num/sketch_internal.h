/* What the files of the sketch share; internal.
 *
 * Keys come in blocks of 256; a bit per block says that it was ever written, and only such blocks
 * are read, so that untouched pages stay untouched.
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

static inline int ek_sketch_touches(const struct ek_sketch *s, int block)
{
    return s->touched[block / 64] >> (block % 64) & 1;
}

static inline void ek_sketch_touch(struct ek_sketch *s, int block)
{
    s->touched[block / 64] |= UINT64_C(1) << (block % 64);
}

/* Whether a key is one that ek_sketch_key can give: of the NaNs only EK_SKETCH_NAN. */
int ek_sketch_is_key(uint64_t key);

/* The row buffer of a set: lanes of 16 features, and for every lane a bit per 2,048 hot indexes. A
 * hot index is the key turned by EK_HOT_ROUND, so that 2^-11 .. 2^21 share one page. */
enum { EK_KEY_LANES = 16, EK_HOT_ROUND = 768, EK_HOT_CHUNK_SHIFT = 11 };

/* rows of 16 floats, `stride` floats apart -> rows of 16 hot indexes; ors the chunks into `chunks`.
 */
typedef void ek_sketch_keys_fn(const float *x, size_t stride, int rows, uint16_t *keys,
                               uint32_t *chunks);
/* Adds the counters of a block, wide ones or hot ones. */
typedef void ek_sketch_add_wide_fn(uint64_t *to, const uint64_t *from);
typedef void ek_sketch_add_hot_fn(uint64_t *to, const uint16_t *from);

struct ek_sketch_kernels {
    ek_sketch_keys_fn *keys;
    ek_sketch_add_wide_fn *add_wide;
    ek_sketch_add_hot_fn *add_hot;
};
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

/* The hot index of one value, and the block of keys that a block of hot indexes has. */
uint16_t ek_sketch_hot_index(float x);

static inline int ek_sketch_hot_to_block(int hot_block)
{
    enum { TURN_BLOCKS = EK_HOT_ROUND / EK_SKETCH_BLOCK };
    return (hot_block + EK_SKETCH_BLOCKS - TURN_BLOCKS) % EK_SKETCH_BLOCKS;
}

#endif
