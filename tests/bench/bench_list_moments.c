/* Sums over lists of 20 items: every instruction set in one run. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/list_moments_isa.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdlib.h>

enum { FEATURES = 136, ROWS = 20, LISTS = 100 };

struct work {
    const float *x, *pivot;
    struct ek_list_moments *sums;
    ek_list_moments_fn *kernel;
};

static void all_lists(void *context)
{
    struct work *w = context;
    for (int i = 0; i < LISTS; i++) {
        w->kernel(w->sums, w->x + (size_t)i * ROWS * FEATURES, ROWS, w->pivot);
        ek_bench_use(w->sums->memory);
    }
}

static void read_all(void *context)
{
    struct work *w = context;
    float sum[16] = {0};
    for (size_t i = 0; i < (size_t)LISTS * ROWS * FEATURES; i += 16)
        for (size_t k = 0; k < 16; k++)
            sum[k] += w->x[i + k];
    ek_bench_use(sum);
}

void bench_list_moments(struct ek_bench *b)
{
    struct ek_rng r;
    struct ek_list_moments *sums;
    float *x = ek_bench_memory((size_t)LISTS * ROWS * FEATURES, sizeof *x);
    float *pivot = ek_bench_memory(FEATURES + 16, sizeof *pivot);
    ek_rng_seed(&r, 1);
    for (size_t i = 0; i < (size_t)LISTS * ROWS * FEATURES; i++)
        x[i] = (float)exp(3 + 1.5 * ek_rng_normal(&r));
    if (ek_list_moments_new(&sums, FEATURES))
        abort();
    struct work work[EK_ISAS];
    struct ek_contender all[EK_ISAS + 2];
    static const char *const names[EK_ISAS] = {"ours, portable", "ours, neon", "ours, avx2",
                                               "ours, avx512"};
    int count = 0;
    work[0] = (struct work){x, pivot, sums, ek_list_moments_compute};
    all[count++] = (struct ek_contender){NULL, all_lists, work};
    for (enum ek_isa isa = EK_ISA_PORTABLE; isa < ek_isa_best(); isa++) {
        if (!ek_isa_has(isa))
            continue;
        work[count] = (struct work){x, pivot, sums, ek_list_moments_fn_get(isa)};
        all[count] = (struct ek_contender){names[isa], all_lists, work + count};
        count++;
    }
    all[count++] = (struct ek_contender){"limit: read all", read_all, work};
    ek_bench_case(b, "136 features, 20 items", "ns/value", (double)LISTS * ROWS * FEATURES, all,
                  count);
    ek_list_moments_free(sums);
    ek_free(x);
    ek_free(pivot);
}
