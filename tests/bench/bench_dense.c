/* Layers of the scorer with 20 rows, compared with plain loops, the training kernel and the
 * machine's peak. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/dense_isa.h"
#include "num/gemm.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, INPUTS_MAX = 600, OUTPUTS_MAX = 1024 };

struct work {
    int inputs, outputs;
    struct ek_dense *d;
    ek_dense_fn *kernel;
    const float *x, *weight, *turned, *bias; /* turned: [inputs, outputs] */
    float *y;
};

static void packed(void *context)
{
    struct work *w = context;
    const struct ek_dense_rows all = {w->x, w->y, (size_t)w->inputs, (size_t)w->outputs, ROWS, 1,
                                      NULL, 0};
    w->kernel(w->d, &all);
    ek_bench_use(w->y);
}

static void plain(void *context)
{
    struct work *w = context;
    for (size_t r = 0; r < ROWS; r++) {
        float *y = w->y + r * (size_t)w->outputs;
        memcpy(y, w->bias, (size_t)w->outputs * sizeof *y);
        for (int i = 0; i < w->inputs; i++) {
            float x = w->x[r * (size_t)w->inputs + (size_t)i];
            const float *column = w->turned + (size_t)i * (size_t)w->outputs;
            for (int o = 0; o < w->outputs; o++)
                y[o] += x * column[o];
        }
        for (int o = 0; o < w->outputs; o++)
            y[o] = y[o] < 0 ? 0 : y[o];
    }
    ek_bench_use(w->y);
}

static void training(void *context)
{
    struct work *w = context;
    const struct ek_gemm g = {.a = w->x,
                              .b = w->turned,
                              .c = w->y,
                              .a_row = (size_t)w->inputs,
                              .a_step = 1,
                              .b_row = (size_t)w->outputs,
                              .c_row = (size_t)w->outputs,
                              .rows = ROWS,
                              .columns = (size_t)w->outputs,
                              .depth = (size_t)w->inputs,
                              .start = w->bias};
    ek_gemm(&g);
    ek_bench_use(w->y);
}

static void case_of(struct ek_bench *b, struct work *w, int inputs, int outputs)
{
    static const char *const names[EK_ISAS] = {"ours, portable", "ours, neon", "ours, avx2",
                                               "ours, avx512"};
    struct work own[EK_ISAS];
    struct ek_contender all[EK_ISAS + 3];
    char name[80];
    int count = 0;
    w->inputs = inputs;
    w->outputs = outputs;
    if (ek_dense_new(&w->d, inputs, outputs, w->weight, w->bias))
        abort();
    w->kernel = ek_dense_fn_get(ek_isa_best());
    all[count++] = (struct ek_contender){NULL, packed, w};
    for (enum ek_isa isa = EK_ISA_PORTABLE; isa < ek_isa_best(); isa++) {
        if (!ek_isa_has(isa))
            continue;
        own[isa] = *w;
        own[isa].kernel = ek_dense_fn_get(isa);
        all[count++] = (struct ek_contender){names[isa], packed, own + isa};
    }
    all[count++] = (struct ek_contender){"plain loops", plain, w};
    all[count++] = (struct ek_contender){"the kernel of training", training, w};
    snprintf(name, sizeof name, "20 rows, %d inputs, %d outputs", inputs, outputs);
    ek_bench_case(b, name, "Gflop/s", 2e-9 * ROWS * inputs * outputs, all, count);
    ek_dense_free(w->d);
}

static float *random_floats(struct ek_rng *r, size_t count)
{
    float *p = ek_bench_memory(count, sizeof *p);
    for (size_t i = 0; i < count; i++)
        p[i] = (float)ek_rng_normal(r);
    return p;
}

void bench_dense(struct ek_bench *b)
{
    struct ek_rng r;
    struct work w;
    ek_rng_seed(&r, 1);
    memset(&w, 0, sizeof w);
    w.x = random_floats(&r, (size_t)ROWS * INPUTS_MAX);
    w.weight = random_floats(&r, (size_t)INPUTS_MAX * OUTPUTS_MAX);
    w.turned = random_floats(&r, (size_t)INPUTS_MAX * OUTPUTS_MAX);
    w.bias = random_floats(&r, OUTPUTS_MAX);
    w.y = ek_bench_memory((size_t)ROWS * OUTPUTS_MAX, sizeof *w.y);
    case_of(b, &w, 64, 32);
    case_of(b, &w, 410, 64);
    case_of(b, &w, 410, 256);
    case_of(b, &w, 600, 1024);
    ek_free((void *)w.x);
    ek_free((void *)w.weight);
    ek_free((void *)w.turned);
    ek_free((void *)w.bias);
    ek_free(w.y);
}
