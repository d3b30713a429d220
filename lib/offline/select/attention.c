#include "offline/select/attention.h"

#include "num/exp.h"
#include "num/gemm.h"

enum { D = EK_ATTENTION_HEAD };
_Static_assert(D % EK_GEMM_COLUMNS == 0, "a head's columns are what ek_gemm takes");
static const float SCALE = 0.25f; /* 1 / sqrt(D) */
_Static_assert(D == 16, "as SCALE says");

static size_t padded(size_t n)
{
    return (n + EK_GEMM_COLUMNS - 1) / EK_GEMM_COLUMNS * EK_GEMM_COLUMNS;
}

size_t ek_attention_weights(size_t items, size_t heads)
{
    return heads * items * padded(items);
}

/* A turned matrix [D, padded n], and one [n, padded n]. */
size_t ek_attention_scratch(size_t items)
{
    return (D + items) * padded(items);
}

/* One head's part of everything. */
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

/* rows [n, D], 3 w apart, to columns; the padding is 0. */
static void turn(const struct head *h, const float *rows)
{
    for (size_t d = 0; d < D; d++) {
        float *to = h->turned + d * h->pad;
        for (size_t i = 0; i < h->n; i++)
            to[i] = rows[i * 3 * h->width + d];
        for (size_t i = h->n; i < h->pad; i++)
            to[i] = 0;
    }
}

/* A product of rows [n, D], `row` apart, with what was turned: to [n, padded n]. */
static void times_turned(const struct head *h, const float *rows, size_t row, float *to)
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

/* A square matrix [n, padded n], or its transpose, times rows [n, D]. */
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

/* Row by row, in place. */
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
        turn(&h, h.k);
        times_turned(&h, h.q, 3 * h.width, h.weight);
        softmax(&h);
        square_times(&h, h.weight, false, h.v, 3 * h.width, out + i * D, h.width);
    }
}

/* d P to d (Q K^T), in place: P (dP - sum of P dP over the row), scaled. */
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

/* What item i's K and V did to its own output. */
static void own_below(const struct head *h, const float *d_out, float *d_k, float *d_v)
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
        turn(&h, h.v);
        times_turned(&h, d, h.width, h.square);
        softmax_below(&h);
        square_times(&h, h.square, false, h.k, row, d_q, row);
        if (own) {
            own_below(&h, d, d_k, d_v);
            continue;
        }
        square_times(&h, h.square, true, h.q, row, d_k, row);
        square_times(&h, h.weight, true, d, h.width, d_v, row);
    }
}
