#include "offline/select/nfs_layers.h"

#include "num/exp.h"
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

void ek_linear_transpose(const struct ek_linear *l, const float *parameter, float *turned)
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

void ek_linear_backward(const struct ek_linear *l, const float *x, const float *dy, size_t rows,
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

void ek_linear_backward_input(const struct ek_linear *l, const float *turned, const float *dy,
                              size_t rows, bool add, float *dx)
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

static const double EPSILON = 1e-5;

void ek_layer_norm(const float *x, size_t rows, size_t width, float *y, float *scale)
{
    for (size_t r = 0; r < rows; r++, x += width, y += width) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < width; i++)
            sum += (double)x[i];
        double mean = sum / (double)width;
        for (size_t i = 0; i < width; i++)
            squares += ((double)x[i] - mean) * ((double)x[i] - mean);
        double by = 1 / sqrt(squares / (double)width + EPSILON);
        for (size_t i = 0; i < width; i++)
            y[i] = (float)(((double)x[i] - mean) * by);
        scale[r] = (float)by;
    }
}

/* With y normalized: dx = scale (dy - mean(dy) - y mean(dy y)). */
void ek_layer_norm_backward(const float *y, const float *scale, const float *dy, size_t rows,
                            size_t width, float *dx)
{
    for (size_t r = 0; r < rows; r++, y += width, dy += width, dx += width) {
        double sum = 0, along = 0;
        for (size_t i = 0; i < width; i++) {
            sum += (double)dy[i];
            along += (double)dy[i] * (double)y[i];
        }
        float mean = (float)(sum / (double)width), part = (float)(along / (double)width);
        for (size_t i = 0; i < width; i++)
            dx[i] += scale[r] * (dy[i] - mean - y[i] * part);
    }
}

enum { D = EK_ATTENTION_HEAD };
_Static_assert(D % EK_GEMM_COLUMNS == 0, "a head's columns are what ek_gemm takes");
static const float SCALE = 0.25f; /* 1 / sqrt(D) */
_Static_assert(D == 16, "as SCALE says");

size_t ek_attention_weights(size_t items, size_t heads)
{
    return heads * items * padded(items);
}

/* One transposed matrix [D, padded n] and one [n, padded n]. */
size_t ek_attention_scratch(size_t items)
{
    return (D + items) * padded(items);
}

/* Slices of one head. */
struct head {
    size_t n, pad, width; /* width: w */
    const float *q, *k, *v;
    float *weight, *turned, *square;
};

static struct head head_of(const struct ek_attention *a, size_t i)
{
    size_t n = a->items, pad = padded(n), width = a->heads * D;
    const float *q = a->qkv + i * D;
    return (struct head){.n = n,
                         .pad = pad,
                         .width = width,
                         .q = q,
                         .k = q + width,
                         .v = q + 2 * width,
                         .weight = a->weight + i * n * pad,
                         .turned = a->scratch,
                         .square = a->scratch + D * pad};
}

/* Transpose rows [n, D], 3 w apart, and pad with 0. */
static void transpose_rows(const struct head *h, const float *rows)
{
    for (size_t d = 0; d < D; d++) {
        float *to = h->turned + d * h->pad;
        for (size_t i = 0; i < h->n; i++)
            to[i] = rows[i * 3 * h->width + d];
        for (size_t i = h->n; i < h->pad; i++)
            to[i] = 0;
    }
}

/* Multiply rows [n, D], `row` apart, by the transposed matrix, giving [n, padded n]. */
static void times_transposed(const struct head *h, const float *rows, size_t row, float *to)
{
    ek_gemm(&(struct ek_gemm){.a = rows,
                              .b = h->turned,
                              .c = to,
                              .a_row = row,
                              .a_step = 1,
                              .b_row = h->pad,
                              .c_row = h->pad,
                              .rows = h->n,
                              .columns = h->pad,
                              .depth = D});
}

/* Multiply a square matrix [n, padded n], or its transpose, by rows [n, D]. */
static void square_times(const struct head *h, const float *square, bool transposed,
                         const float *rows, size_t row, float *to, size_t to_row)
{
    ek_gemm(&(struct ek_gemm){.a = square,
                              .b = rows,
                              .c = to,
                              .a_row = transposed ? 1 : h->pad,
                              .a_step = transposed ? h->pad : 1,
                              .b_row = row,
                              .c_row = to_row,
                              .rows = h->n,
                              .columns = D,
                              .depth = h->n});
}

/* Apply softmax to each row in place. */
static void softmax(const struct head *h)
{
    for (size_t i = 0; i < h->n; i++) {
        float *row = h->weight + i * h->pad, high = row[0], sum = 0;
        for (size_t j = 1; j < h->n; j++)
            high = row[j] > high ? row[j] : high;
        for (size_t j = 0; j < h->n; j++)
            row[j] = (float)ek_exp((double)(SCALE * (row[j] - high)));
        for (size_t j = 0; j < h->n; j++)
            sum += row[j];
        float by = 1 / sum;
        for (size_t j = 0; j < h->n; j++)
            row[j] *= by;
    }
}

void ek_attention_forward(const struct ek_attention *a, float *out)
{
    for (size_t i = 0; i < a->heads; i++) {
        struct head h = head_of(a, i);
        transpose_rows(&h, h.k);
        times_transposed(&h, h.q, 3 * h.width, h.weight);
        softmax(&h);
        square_times(&h, h.weight, false, h.v, 3 * h.width, out + i * D, h.width);
    }
}

/* Convert d P to d (Q K^T) in place: P (dP - sum of P dP over the row), scaled. */
static void softmax_below(const struct head *h)
{
    for (size_t i = 0; i < h->n; i++) {
        const float *p = h->weight + i * h->pad;
        float *d = h->square + i * h->pad, sum = 0;
        for (size_t j = 0; j < h->n; j++)
            sum += p[j] * d[j];
        for (size_t j = 0; j < h->n; j++)
            d[j] = SCALE * p[j] * (d[j] - sum);
    }
}

/* Compute the effect of item i's K and V on its own output. */
static void backward_self(const struct head *h, const float *d_out, float *d_k, float *d_v)
{
    for (size_t i = 0; i < h->n; i++) {
        float p = h->weight[i * h->pad + i], d = h->square[i * h->pad + i];
        for (size_t c = 0; c < D; c++) {
            d_k[i * 3 * h->width + c] = d * h->q[i * 3 * h->width + c];
            d_v[i * 3 * h->width + c] = p * d_out[i * h->width + c];
        }
    }
}

void ek_attention_backward(const struct ek_attention *a, const float *d_out, bool own, float *d_qkv)
{
    for (size_t i = 0; i < a->heads; i++) {
        struct head h = head_of(a, i);
        const float *d = d_out + i * D;
        float *d_q = d_qkv + i * D, *d_k = d_q + h.width, *d_v = d_k + h.width;
        size_t row = 3 * h.width;
        transpose_rows(&h, h.v);
        times_transposed(&h, d, h.width, h.square);
        softmax_below(&h);
        square_times(&h, h.square, false, h.k, row, d_q, row);
        if (own) {
            backward_self(&h, d, d_k, d_v);
            continue;
        }
        square_times(&h, h.square, true, h.q, row, d_k, row);
        square_times(&h, h.weight, true, d, h.width, d_v, row);
    }
}
