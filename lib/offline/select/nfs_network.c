#include "offline/select/nfs_network.h"

#include "base/alloc.h"
#include "base/error.h"
#include "num/exp.h"
#include "num/gemm.h"

#include <math.h>
#include <string.h>

/* Layer normalization (Ba, Kiros and Hinton 2016) without gain and shift, which the next linear
 * layer provides.
 *
 *   y = (x - mean) / sqrt(variance + 1e-5), over a row's elements, variance with divisor n
 *
 * A row of equal elements gives zeros. Sums are in double and in order; results are rounded once.
 * NaN in a row makes the row NaN.
 */

static size_t padded(size_t n)
{
    return (n + EK_GEMM_COLUMNS - 1) / EK_GEMM_COLUMNS * EK_GEMM_COLUMNS;
}

/* Set *l to a layer with offsets at the end of both arrays, and add its sizes to *parameters and
 * *turned. */
static void linear_init(struct ek_linear *l, size_t inputs, size_t outputs, size_t *parameters,
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

/* Set the weights of inputs from `first` on, and the biases, in `parameter` to random values within
 * 1 / sqrt(inputs). Other weights stay. */
static void linear_start(const struct ek_linear *l, float *parameter, size_t first,
                         struct ek_rng *r)
{
    double bound = 1 / sqrt((double)l->inputs);
    draw(parameter + l->weight + first * l->outputs, (l->inputs - first) * l->outputs, bound, r);
    draw(parameter + l->bias, l->outputs, bound, r);
}

/* Write the transposed weights of the layer to `turned`, for linear_backward_input. */
static void linear_transpose(const struct ek_linear *l, const float *parameter, float *turned)
{
    const float *from = parameter + l->weight;
    float *to = turned + l->turned;
    for (size_t i = 0; i < l->inputs; i++)
        for (size_t o = 0; o < l->outputs; o++)
            to[o * l->stride + i] = from[i * l->outputs + o];
}

/* Set y [rows, outputs] to x W + b for x [rows, stride]. */
static void linear_forward(const struct ek_linear *l, const float *parameter, const float *x,
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

/* Add the gradient of the layer's parameters, given d loss / d y in dy, to `gradient`, which has
 * the layout of the parameters. */
static void linear_backward(const struct ek_linear *l, const float *x, const float *dy, size_t rows,
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

/* Write d loss / d x to dx [rows, stride], or add it if `add`. */
static void linear_backward_input(const struct ek_linear *l, const float *turned, const float *dy,
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

/* Apply softmax_rows to each row in place. */
static void softmax_rows(const struct head *h)
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
        softmax_rows(&h);
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

enum { W = EK_NFS_WIDTH };
_Static_assert(W == EK_NFS_HEADS * EK_ATTENTION_HEAD, "heads share the width");

void ek_nfs_network_init(struct ek_nfs_network *n, size_t features, size_t queries)
{
    memset(n, 0, sizeof *n);
    n->features = features;
    n->queries = queries;
    linear_init(&n->in, features + queries, W, &n->parameters, &n->turned);
    linear_init(&n->qkv, W, 3 * (size_t)W, &n->parameters, &n->turned);
    linear_init(&n->out, W, W, &n->parameters, &n->turned);
    linear_init(&n->wide, W, EK_NFS_WIDE, &n->parameters, &n->turned);
    linear_init(&n->narrow, EK_NFS_WIDE, W, &n->parameters, &n->turned);
    n->score = n->parameters;
    n->mixture = n->score + W;
    n->parameters = n->mixture + features * EK_NFS_PARTS;
    n->shares = n->turned;
    n->turned += features * EK_NFS_PARTS;
}

void ek_nfs_network_start(const struct ek_nfs_network *n, float *parameter, struct ek_rng *r)
{
    memset(parameter, 0, n->parameters * sizeof *parameter);
    linear_start(&n->in, parameter, n->features, r);
    linear_start(&n->qkv, parameter, 0, r);
    linear_start(&n->out, parameter, 0, r);
    linear_start(&n->wide, parameter, 0, r);
    linear_start(&n->narrow, parameter, 0, r);
    for (size_t i = 0; i < W; i++)
        parameter[n->score + i] = (float)((2 * ek_rng_uniform(r) - 1) / sqrt(W));
}

static void softmax(const float *logit, float *share)
{
    double power[EK_NFS_PARTS], high = -INFINITY, sum = 0;
    for (size_t k = 0; k < EK_NFS_PARTS; k++)
        high = fmax(high, (double)logit[k]);
    for (size_t k = 0; k < EK_NFS_PARTS; k++)
        sum += power[k] = exp((double)logit[k] - high);
    for (size_t k = 0; k < EK_NFS_PARTS; k++)
        share[k] = (float)(power[k] / sum);
}

void ek_nfs_network_transpose(const struct ek_nfs_network *n, const float *parameter, float *turned)
{
    linear_transpose(&n->in, parameter, turned);
    linear_transpose(&n->qkv, parameter, turned);
    linear_transpose(&n->out, parameter, turned);
    linear_transpose(&n->wide, parameter, turned);
    linear_transpose(&n->narrow, parameter, turned);
    for (size_t f = 0; f < n->features * EK_NFS_PARTS; f += EK_NFS_PARTS)
        softmax(parameter + n->mixture + f, turned + n->shares + f);
}

static size_t list_weights(const struct ek_nfs_list *l)
{
    return ek_attention_weights(l->items, EK_NFS_HEADS);
}

/* One list of rows_max items needs the most weights of any lists with that many rows. */
int ek_nfs_pass_init(struct ek_nfs_pass *p, const struct ek_nfs_network *n, size_t rows_max)
{
    memset(p, 0, sizeof *p);
    p->rows_max = rows_max;
    const struct {
        float **to;
        size_t count;
    } arrays[] = {
        {&p->input, rows_max * n->in.stride},
        {&p->h0, rows_max * W},
        {&p->h1, rows_max * W},
        {&p->h2, rows_max * W},
        {&p->norm[0], rows_max * W},
        {&p->norm[1], rows_max * W},
        {&p->norm[2], rows_max * W},
        {&p->scale[0], rows_max},
        {&p->scale[1], rows_max},
        {&p->scale[2], rows_max},
        {&p->qkv, rows_max * 3 * W},
        {&p->mixed, rows_max * W},
        {&p->wide, rows_max * EK_NFS_WIDE},
        {&p->weight, ek_attention_weights(rows_max, EK_NFS_HEADS)},
        {&p->scratch, ek_attention_scratch(rows_max)},
        {&p->d_input, rows_max * n->in.stride},
        {&p->d_h, rows_max * W},
        {&p->d_row, rows_max * W},
        {&p->d_qkv, rows_max * 3 * W},
        {&p->d_wide, rows_max * EK_NFS_WIDE},
    };
    bool whole = true;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].to = ek_calloc_aligned(arrays[i].count, sizeof(float));
        whole = whole && *arrays[i].to;
    }
    p->score = ek_calloc(rows_max, sizeof *p->score);
    p->slope = ek_calloc(rows_max, sizeof *p->slope);
    if (whole && p->score && p->slope)
        return EK_OK;
    ek_nfs_pass_release(p);
    return EK_ENOMEM;
}

void ek_nfs_pass_release(struct ek_nfs_pass *p)
{
    void *const arrays[] = {p->input,    p->h0,       p->h1,       p->h2,    p->norm[0],
                            p->norm[1],  p->norm[2],  p->scale[0], p->qkv,   p->mixed,
                            p->scale[1], p->scale[2], p->wide,     p->score, p->weight,
                            p->scratch,  p->d_input,  p->d_h,      p->d_row, p->d_qkv,
                            p->d_wide,   p->slope};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    memset(p, 0, sizeof *p);
}

void ek_nfs_pass_clear(struct ek_nfs_pass *p)
{
    p->lists = p->rows = 0;
}

static float mix(const float *part, const float *share)
{
    float sum = 0;
    for (size_t k = 0; k < EK_NFS_PARTS; k++)
        sum += part[k] * share[k];
    return sum;
}

bool ek_nfs_pass_add(struct ek_nfs_pass *p, const struct ek_nfs_network *n, const float *turned,
                     const struct ek_nfs_list *l)
{
    if (p->lists == EK_NFS_PASS_LISTS || p->rows + l->items > p->rows_max)
        return false;
    const float *part = l->part;
    for (size_t i = 0; i < l->items; i++) {
        float *to = p->input + (p->rows + i) * n->in.stride;
        const float *share = turned + n->shares;
        for (size_t f = 0; f < n->features; f++, part += EK_NFS_PARTS, share += EK_NFS_PARTS)
            to[f] = mix(part, share);
        memcpy(to + n->features, l->query, n->queries * sizeof *to);
    }
    p->list[p->lists++] = *l;
    p->rows += l->items;
    return true;
}

/* Return the attention of the list at `row`; its weights follow those of the previous lists. */
static struct ek_attention attention_at(const struct ek_nfs_pass *p, size_t list, size_t row,
                                        size_t weight)
{
    return (struct ek_attention){.items = p->list[list].items,
                                 .heads = EK_NFS_HEADS,
                                 .qkv = p->qkv + row * 3 * W,
                                 .weight = p->weight + weight,
                                 .scratch = p->scratch};
}

static void attend(struct ek_nfs_pass *p)
{
    for (size_t i = 0, row = 0, weight = 0; i < p->lists; i++) {
        struct ek_attention a = attention_at(p, i, row, weight);
        ek_attention_forward(&a, p->mixed + row * W);
        row += a.items;
        weight += list_weights(&p->list[i]);
    }
}

static void attend_back(struct ek_nfs_pass *p, bool own)
{
    for (size_t i = 0, row = 0, weight = 0; i < p->lists; i++) {
        struct ek_attention a = attention_at(p, i, row, weight);
        ek_attention_backward(&a, p->d_row + row * W, own, p->d_qkv + row * 3 * W);
        row += a.items;
        weight += list_weights(&p->list[i]);
    }
}

/* Add x to y. */
static void add(float *y, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] += x[i];
}

void ek_nfs_forward(const struct ek_nfs_network *n, const float *parameter, struct ek_nfs_pass *p)
{
    size_t rows = p->rows;
    linear_forward(&n->in, parameter, p->input, rows, p->h0);
    ek_layer_norm(p->h0, rows, W, p->norm[0], p->scale[0]);
    linear_forward(&n->qkv, parameter, p->norm[0], rows, p->qkv);
    attend(p);
    linear_forward(&n->out, parameter, p->mixed, rows, p->h1);
    add(p->h1, p->h0, rows * W);
    ek_layer_norm(p->h1, rows, W, p->norm[1], p->scale[1]);
    linear_forward(&n->wide, parameter, p->norm[1], rows, p->wide);
    for (size_t i = 0; i < rows * EK_NFS_WIDE; i++)
        p->wide[i] = p->wide[i] > 0 ? p->wide[i] : 0;
    linear_forward(&n->narrow, parameter, p->wide, rows, p->h2);
    add(p->h2, p->h1, rows * W);
    ek_layer_norm(p->h2, rows, W, p->norm[2], p->scale[2]);
    for (size_t r = 0; r < rows; r++) {
        p->score[r] = 0;
        for (size_t i = 0; i < W; i++)
            p->score[r] += (double)p->norm[2][r * W + i] * (double)parameter[n->score + i];
    }
}

/* `gradient` is NULL if only the gradient of the inputs is needed. */
static void score_back(const struct ek_nfs_network *n, const float *parameter,
                       struct ek_nfs_pass *p, float *gradient)
{
    for (size_t r = 0; r < p->rows; r++) {
        float slope = (float)p->slope[r];
        for (size_t i = 0; i < W; i++)
            p->d_row[r * W + i] = slope * parameter[n->score + i];
        for (size_t i = 0; i < W && gradient; i++)
            gradient[n->score + i] += slope * p->norm[2][r * W + i];
    }
    memset(p->d_h, 0, p->rows * W * sizeof *p->d_h);
    ek_layer_norm_backward(p->norm[2], p->scale[2], p->d_row, p->rows, W, p->d_h);
}

static void feed_forward_back(const struct ek_nfs_network *n, const float *turned,
                              struct ek_nfs_pass *p, float *gradient)
{
    size_t rows = p->rows;
    linear_backward_input(&n->narrow, turned, p->d_h, rows, false, p->d_wide);
    for (size_t i = 0; i < rows * EK_NFS_WIDE; i++)
        p->d_wide[i] = p->wide[i] > 0 ? p->d_wide[i] : 0;
    if (gradient) {
        linear_backward(&n->narrow, p->wide, p->d_h, rows, gradient);
        linear_backward(&n->wide, p->norm[1], p->d_wide, rows, gradient);
    }
    linear_backward_input(&n->wide, turned, p->d_wide, rows, false, p->d_row);
    ek_layer_norm_backward(p->norm[1], p->scale[1], p->d_row, rows, W, p->d_h);
}

static void attention_back(const struct ek_nfs_network *n, const float *turned,
                           struct ek_nfs_pass *p, bool own, float *gradient)
{
    size_t rows = p->rows;
    linear_backward_input(&n->out, turned, p->d_h, rows, false, p->d_row);
    attend_back(p, own);
    if (gradient) {
        linear_backward(&n->out, p->mixed, p->d_h, rows, gradient);
        linear_backward(&n->qkv, p->norm[0], p->d_qkv, rows, gradient);
    }
    linear_backward_input(&n->qkv, turned, p->d_qkv, rows, false, p->d_row);
    ek_layer_norm_backward(p->norm[0], p->scale[0], p->d_row, rows, W, p->d_h);
}

/* Add the gradient of the mixture rows: share_k * sum over the items of d u (part_k - u). */
static void mixture_back(const struct ek_nfs_network *n, const float *turned,
                         const struct ek_nfs_pass *p, float *gradient)
{
    size_t row = 0;
    for (size_t q = 0; q < p->lists; q++) {
        const float *part = p->list[q].part;
        for (size_t i = 0; i < p->list[q].items; i++, row++)
            for (size_t f = 0; f < n->features; f++, part += EK_NFS_PARTS) {
                const float *share = turned + n->shares + f * EK_NFS_PARTS;
                float *to = gradient + n->mixture + f * EK_NFS_PARTS;
                float d = p->d_input[row * n->in.stride + f];
                float u = p->input[row * n->in.stride + f];
                for (size_t k = 0; k < EK_NFS_PARTS; k++)
                    to[k] += share[k] * d * (part[k] - u);
            }
    }
}

static void back(const struct ek_nfs_network *n, const float *parameter, const float *turned,
                 struct ek_nfs_pass *p, bool own, float *gradient)
{
    score_back(n, parameter, p, gradient);
    feed_forward_back(n, turned, p, gradient);
    attention_back(n, turned, p, own, gradient);
    linear_backward_input(&n->in, turned, p->d_h, p->rows, false, p->d_input);
    if (!gradient)
        return;
    linear_backward(&n->in, p->input, p->d_h, p->rows, gradient);
    mixture_back(n, turned, p, gradient);
}

void ek_nfs_backward(const struct ek_nfs_network *n, const float *parameter, const float *turned,
                     struct ek_nfs_pass *p, float *gradient)
{
    back(n, parameter, turned, p, false, gradient);
}

void ek_nfs_item_gradient(const struct ek_nfs_network *n, const float *parameter,
                          const float *turned, struct ek_nfs_pass *p)
{
    for (size_t r = 0; r < p->rows; r++)
        p->slope[r] = 1;
    back(n, parameter, turned, p, true, NULL);
}
