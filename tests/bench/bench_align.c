/* Align: shift, fraction and interval of a window in which a tenth of the lists is shifted. */
#include "detect/align.h"
#include "tests/bench/bench.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LISTS_MAX = 4096 };

struct work {
    float density[EK_DENSITY_BINS], r[LISTS_MAX];
    int lists;
    struct ek_alignment found;
};

static void align(void *context)
{
    struct work *w = context;
    struct ek_residuals h;
    ek_residuals_get(&h, w->r, w->lists);
    w->found = ek_align(w->density, &h, &(struct ek_align_known){.02, 1, 0});
}

void bench_align(struct ek_bench *b)
{
    static const int lists[] = {64, 512, LISTS_MAX};
    struct work *w = ek_bench_memory(1, sizeof *w);
    struct ek_rng rng;
    ek_rng_seed(&rng, 5);
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        double z = (EK_RESIDUAL_LOW + (i + .5) * EK_RESIDUAL_BIN) / .4;
        w->density[i] = (float)(exp(-z * z / 2) + EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE);
    }
    for (int i = 0; i < LISTS_MAX; i++)
        w->r[i] = (float)(.4 * ek_rng_normal(&rng) + (i % 10 ? 0 : log(2)));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct ek_contender ours = {NULL, align, w};
        char name[64];
        snprintf(name, sizeof name, "align, x2 of a tenth of %d lists", lists[i]);
        w->lists = lists[i];
        ek_bench_case(b, name, "us/window", 1, &ours, 1);
    }
    free(w);
}
