#include "num/dense.h"

#include "base/alloc.h"
#include "base/error.h"
#include "num/dense_isa.h"

#include <limits.h>

static void pack(struct ek_dense *d, const float *weight, const float *bias)
{
    for (int o = 0; o < d->outputs; o++) {
        const float *from = weight + (size_t)o * (size_t)d->inputs;
        size_t panel = (size_t)o / EK_DENSE_PANEL, lane = (size_t)o % EK_DENSE_PANEL;
        float *to = d->weight + panel * (size_t)d->inputs * EK_DENSE_PANEL + lane;
        for (int i = 0; i < d->inputs; i++)
            to[(size_t)i * EK_DENSE_PANEL] = from[i];
        d->bias[o] = bias ? bias[o] : 0;
    }
}

int ek_dense_new(struct ek_dense **out, int inputs, int outputs, const float *weight,
                 const float *bias)
{
    if (inputs < 1 || outputs < 1 || outputs > INT_MAX - EK_DENSE_PANEL)
        return EK_ELIMIT;
    struct ek_dense *d = ek_calloc(1, sizeof *d);
    if (!d)
        return EK_ENOMEM;
    d->inputs = inputs;
    d->outputs = outputs;
    d->panels = (outputs + EK_DENSE_PANEL - 1) / EK_DENSE_PANEL;
    size_t lanes = (size_t)d->panels * EK_DENSE_PANEL;
    d->weight = ek_calloc_aligned(lanes * (size_t)inputs, sizeof *d->weight);
    d->bias = ek_calloc_aligned(lanes, sizeof *d->bias);
    if (!d->weight || !d->bias) {
        ek_dense_free(d);
        return EK_ENOMEM;
    }
    pack(d, weight, bias);
    *out = d;
    return EK_OK;
}

void ek_dense_free(struct ek_dense *d)
{
    if (!d)
        return;
    ek_free(d->weight);
    ek_free(d->bias);
    ek_free(d);
}

int ek_dense_inputs(const struct ek_dense *d)
{
    return d->inputs;
}

int ek_dense_outputs(const struct ek_dense *d)
{
    return d->outputs;
}

ek_dense_fn *ek_dense_fn_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_dense_avx512;
    case EK_ISA_AVX2:
        return ek_dense_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return ek_dense_neon;
#endif
    default:
        return ek_dense_portable;
    }
}

int ek_dense_start(const struct ek_dense *d)
{
    return d->panels * EK_DENSE_PANEL;
}

void ek_dense_apply_from(const struct ek_dense *d, const float *start, int idle, const float *x,
                         int rows, size_t x_stride, float *y, size_t y_stride, int relu)
{
    const struct ek_dense_rows all = {x, y, x_stride, y_stride, rows, relu, start, idle};
    ek_dense_fn_get(ek_isa_best())(d, &all);
}

void ek_dense_apply(const struct ek_dense *d, const float *x, int rows, size_t x_stride, float *y,
                    size_t y_stride, int relu)
{
    ek_dense_apply_from(d, NULL, 0, x, rows, x_stride, y, y_stride, relu);
}
