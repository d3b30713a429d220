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

/* Adds 256 counts. */
void ek_sketch_add_block(struct ek_sketch *s, int block, const uint64_t *count);

/* Whether a key is one that ek_sketch_key can give: of the NaNs only EK_SKETCH_NAN. */
int ek_sketch_is_key(uint64_t key);

/* The row buffer of a set: lanes of 16 features, and for every lane a bit per 2,048 hot indexes. A
 * hot index is the key turned by EK_HOT_TURN, so that 2^-11 .. 2^21 share one page. */
enum { EK_KEY_LANES = 16, EK_HOT_TURN = 768, EK_HOT_CHUNK_SHIFT = 11 };

/* rows of 16 floats, `stride` floats apart -> rows of 16 hot indexes; ors the chunks into `chunks`.
 */
typedef void ek_sketch_keys_fn(const float *x, size_t stride, int rows, uint16_t *keys,
                               uint32_t *chunks);
ek_sketch_keys_fn ek_sketch_keys_scalar; /* the reference */
ek_sketch_keys_fn ek_sketch_keys_portable;
#if defined(__x86_64__)
ek_sketch_keys_fn ek_sketch_keys_avx2, ek_sketch_keys_avx512;
#elif defined(__aarch64__)
ek_sketch_keys_fn ek_sketch_keys_neon;
#endif
ek_sketch_keys_fn *ek_sketch_keys_of(enum ek_isa isa);

/* The hot index of one value. */
uint16_t ek_sketch_hot_index(float x);

#endif
