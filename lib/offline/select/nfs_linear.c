#include "offline/select/nfs_linear.h"

#include "num/gemm.h"

#include <math.h>

static size_t padded(size_t n)
{
    return (n + EK_GEMM_COLUMNS - 1) / EK_GEMM_COLUMNS * EK_GEMM_COLUMNS;
}

void ek_linear_init(struct ek_linear *l, size_t inputs, size_t outputs, size_t *parameters,
                    size_t *turned)
{
    *l = (struct ek_linear){.inputs = inputs,
                            .outputs = outputs,
                            .stride = padded(inputs),
                            .weight = *parameters,
                            .bias = *parameters + inputs * outputs,
                            .turned = *turned};
    *parameters = l->bias + outputs;
    *turned += outputs * l->stride;
}

static void draw(float *x, size_t count, double bound, struct ek_rng *r)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(bound * (2 * ek_rng_uniform(r) - 1));
}

void ek_linear_start(const struct ek_linear *l, float *parameter, size_t first, struct ek_rng *r)
{
    double bound = 1 / sqrt((double)l->inputs);
    draw(parameter + l->weight + first * l->outputs, (l->inputs - first) * l->outputs, bound, r);
    draw(parameter + l->bias, l->outputs, bound, r);
}

void ek_linear_turn(const struct ek_linear *l, const float *parameter, float *turned)
{
    const float *from = parameter + l->weight;
    float *to = turned + l->turned;
    for (size_t i = 0; i < l->inputs; i++)
        for (size_t o = 0; o < l->outputs; o++)
            to[o * l->stride + i] = from[i * l->outputs + o];
}

void ek_linear_forward(const struct ek_linear *l, const float *parameter, const float *x,
                       size_t rows, float *y)
{
    ek_gemm(&(struct ek_gemm){.a = x,
                              .b = parameter + l->weight,
                              .c = y,
                              .a_row = l->stride,
                              .a_step = 1,
                              .b_row = l->outputs,
                              .c_row = l->outputs,
                              .rows = rows,
                              .columns = l->outputs,
                              .depth = l->inputs,
                              .start = parameter + l->bias});
}

void ek_linear_blame(const struct ek_linear *l, const float *x, const float *dy, size_t rows,
                     float *gradient)
{
    static const float one = 1;
    ek_gemm(&(struct ek_gemm){.a = x,
                              .b = dy,
                              .c = gradient + l->weight,
                              .a_row = 1,
                              .a_step = l->stride,
                              .b_row = l->outputs,
                              .c_row = l->outputs,
                              .rows = l->inputs,
                              .columns = l->outputs,
                              .depth = rows,
                              .add = true});
    ek_gemm(&(struct ek_gemm){.a = &one,
                              .b = dy,
                              .c = gradient + l->bias,
                              .b_row = l->outputs,
                              .rows = 1,
                              .columns = l->outputs,
                              .depth = rows,
                              .add = true});
}

void ek_linear_below(const struct ek_linear *l, const float *turned, const float *dy, size_t rows,
                     bool add, float *dx)
{
    ek_gemm(&(struct ek_gemm){.a = dy,
                              .b = turned + l->turned,
                              .c = dx,
                              .a_row = l->outputs,
                              .a_step = 1,
                              .b_row = l->stride,
                              .c_row = l->stride,
                              .rows = rows,
                              .columns = l->stride,
                              .depth = l->outputs,
                              .add = add});
}
