/* Comparison of the SIMD kernels of lib/num with the portable ones, without a test library, so that
 * an emulator can run it (tests/arm.sh). Exits with status 1 on any difference. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/dense_isa.h"
#include "num/list_stats_isa.h"
#include "num/list_moments_isa.h"
#include "num/ln_isa.h"
#include "num/sketch_internal.h"
#include "tests/bet_world.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 137, ROWS = 50, ROUNDS = 40, OUTPUTS = 130, SUMS_ARRAYS = 9 };
enum { RECORD_BYTES = offsetof(struct ek_list_stats, usable) + sizeof(uint16_t) };

static int passed, failed;

static void expect(int ok, const char *what, enum ek_isa isa)
{
    printf("%-7s %s, %s\n", ok ? "ok" : "FAILED", what, ek_isa_name(isa));
    passed += ok;
    failed += !ok;
}

static void *memory(size_t count, size_t size)
{
    void *p = ek_calloc(count, size);
    if (!p)
        abort();
    return p;
}

/* Half of the values are random bit patterns, often infinite or NaN. */
static void fill(struct ek_rng *r, float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)ek_rng_u64(r) | (ek_rng_uniform_int(r, 8) ? 0 : 0x7f800000);
        memcpy(x + i, &bits, sizeof bits);
        if (ek_rng_uniform_int(r, 2))
            x[i] = (float)exp(3 + 1.5 * ek_rng_normal(r));
    }
}

/* Compare sums and the values derived from them. */
static int same_sums(struct ek_rng *r, enum ek_isa isa, int features)
{
    struct ek_list_moments *a, *b;
    float *x = memory((size_t)features * ROWS, sizeof *x), pivot[FEATURES + 16];
    static struct ek_list_stats of_a[FEATURES], of_b[FEATURES];
    int same = 1;
    if (ek_list_moments_new(&a, features) || ek_list_moments_new(&b, features))
        abort();
    for (int i = 0; i < ROUNDS; i++) {
        fill(r, x, (size_t)features * ROWS);
        for (int f = 0; f < features; f++)
            pivot[f] = (float)(3 * ek_rng_normal(r));
        ek_list_moments_scalar(a, x, ROWS, pivot);
        ek_list_moments_fn_get(isa)(b, x, ROWS, pivot);
        same &= !memcmp(a->memory, b->memory, (size_t)a->padded * SUMS_ARRAYS * sizeof(float));
        ek_list_stats_scalar(a, ROWS, pivot, of_a);
        ek_list_stats_fn_get(isa)(b, ROWS, pivot, of_b);
        for (int f = 0; f < features; f++)
            same &= !memcmp(&of_a[f], &of_b[f], RECORD_BYTES);
    }
    ek_list_moments_free(a);
    ek_list_moments_free(b);
    ek_free(x);
    return same;
}

static int same_keys(struct ek_rng *r, enum ek_isa isa)
{
    static float x[ROWS * FEATURES];
    static uint16_t a[ROWS * EK_KEY_LANES], b[ROWS * EK_KEY_LANES];
    int same = 1;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t chunks_a[EK_KEY_LANES] = {0}, chunks_b[EK_KEY_LANES] = {0};
        fill(r, x, ROWS * FEATURES);
        ek_sketch_keys_scalar(x + 1, FEATURES, ROWS, a, chunks_a);
        ek_sketch_kernels_get(isa).keys(x + 1, FEATURES, ROWS, b, chunks_b);
        same &= !memcmp(a, b, sizeof a) && !memcmp(chunks_a, chunks_b, sizeof chunks_a);
    }
    return same;
}

static int near_layers(struct ek_rng *r, enum ek_isa isa)
{
    static float weight[OUTPUTS * FEATURES], x[ROWS * FEATURES], a[ROWS * OUTPUTS],
        b[ROWS * OUTPUTS];
    struct ek_dense *d;
    int near = 1;
    for (size_t i = 0; i < sizeof weight / sizeof *weight; i++)
        weight[i] = (float)ek_rng_normal(r);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)ek_rng_normal(r);
    if (ek_dense_new(&d, FEATURES, OUTPUTS, weight, NULL))
        abort();
    const struct ek_dense_rows to_a = {x, a, FEATURES, OUTPUTS, ROWS, 1, NULL, 0};
    const struct ek_dense_rows to_b = {x, b, FEATURES, OUTPUTS, ROWS, 1, NULL, 0};
    ek_dense_portable(d, &to_a);
    ek_dense_fn_get(isa)(d, &to_b);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        near &= fabsf(a[i] - b[i]) <= 1e-5f * FEATURES;
    ek_dense_free(d);
    return near;
}

/* Compare all evidence over several lists. */
static int same_evidence(enum ek_isa isa)
{
    static struct ek_bet_world w;
    static struct ek_bet_evidence want, got;
    ek_synthetic_lists_run(EK_ISA_PORTABLE, 8, 400, &w, &want);
    ek_synthetic_lists_run(isa, 8, 400, &w, &got);
    return !memcmp(&want, &got, sizeof want);
}

/* Compare a set, filled message by message over several drains, with single sketches. */
static int same_set(struct ek_rng *r)
{
    static float x[ROWS * FEATURES];
    struct ek_sketch_set *set;
    struct ek_sketch *want, *got;
    int same = 1;
    if (ek_sketch_set_new(&set, FEATURES, NULL) || ek_sketch_new(&want) || ek_sketch_new(&got))
        abort();
    fill(r, x, ROWS * FEATURES);
    for (int i = 0; i < 3000; i++)
        ek_sketch_set_add(set, x, ROWS);
    for (int f = 0; f < FEATURES; f++) {
        ek_sketch_clear(want);
        ek_sketch_clear(got);
        for (int i = 0; i < ROWS; i++)
            ek_sketch_add(want, x[i * FEATURES + f], 3000);
        ek_sketch_set_get(set, f, got);
        for (int key = 0; key < EK_SKETCH_KEYS; key++)
            same &= ek_sketch_count(want, (uint16_t)key) == ek_sketch_count(got, (uint16_t)key);
    }
    ek_sketch_set_free(set);
    ek_sketch_free(want);
    ek_sketch_free(got);
    return same;
}

/* Model inputs of lists. */
struct transforms {
    double mean[FEATURES];
    float y[ROWS * FEATURES], z[ROWS * FEATURES], zero[ROWS * FEATURES];
};

static void transform(const struct ek_ln_kernels *k, const float *x, struct transforms *t)
{
    float octave[ROWS * 2 * EK_LN_LANES_MAX];
    double scale[FEATURES], about[FEATURES];
    struct ek_ln_rows rows = {x, t->y, FEATURES, FEATURES, ROWS, FEATURES};
    for (int f = 0; f < FEATURES; f++) {
        scale[f] = exp(f % 7);
        about[f] = f % 5;
    }
    k->signed_ln(&rows, about, scale);
    rows.y = t->z;
    k->center(&(struct ek_ln_list){rows, t->zero, scale, t->mean, false, octave});
}

static int same_transforms(struct ek_rng *r, enum ek_isa isa)
{
    static float x[ROWS * FEATURES];
    static struct transforms want, got;
    int same = 1;
    for (int i = 0; i < ROUNDS; i++) {
        memset(&want, 0, sizeof want);
        memset(&got, 0, sizeof got);
        fill(r, x, ROWS * FEATURES);
        transform(&ek_ln_portable, x, &want);
        transform(ek_ln_kernels_get(isa), x, &got);
        same &= !memcmp(&want, &got, sizeof want);
    }
    return same;
}

int main(void)
{
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    for (enum ek_isa isa = EK_ISA_PORTABLE; isa < EK_ISAS; isa++) {
        if (!ek_isa_has(isa))
            continue;
        expect(same_sums(&r, isa, FEATURES), "the same sums over lists", isa);
        expect(same_sums(&r, isa, 3), "the same sums over narrow lists", isa);
        expect(same_keys(&r, isa), "the same keys", isa);
        expect(near_layers(&r, isa), "layers to rounding", isa);
        expect(same_transforms(&r, isa), "the same logarithms", isa);
        expect(same_evidence(isa), "the same evidence", isa);
    }
    expect(same_set(&r), "a set is the sum of single sketches", ek_isa_best());
    printf("%d passed, %d failed\n", passed, failed);
    return failed || ek_isa_best() == EK_ISA_PORTABLE;
}
