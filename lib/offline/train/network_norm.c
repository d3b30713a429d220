#include "offline/train/network_norm.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

static const double VARIANCE_FLOOR = 1e-3; /* added, so that a constant input stays small */

int ek_norm_init(struct ek_norm *b, const struct ek_network *n)
{
    size_t widest = 0;
    bool whole = true;
    memset(b, 0, sizeof *b);
    for (int i = 0; i < n->layers && n->norm && whole; i++) {
        size_t stride = n->layer[i].stride;
        widest = stride > widest ? stride : widest;
        b->mean[i] = ek_calloc_aligned(stride, sizeof **b->mean);
        b->scale[i] = ek_calloc_aligned(stride, sizeof **b->scale);
        whole = b->mean[i] && b->scale[i];
    }
    b->level = ek_calloc_aligned(widest, sizeof *b->level);
    b->tilt = ek_calloc_aligned(widest, sizeof *b->tilt);
    b->merged[0] = ek_calloc_aligned(widest, sizeof *b->merged[0]);
    b->merged[1] = ek_calloc_aligned(widest, sizeof *b->merged[1]);
    if (whole && b->level && b->tilt && b->merged[0] && b->merged[1])
        return EK_OK;
    ek_norm_release(b);
    return EK_ENOMEM;
}

void ek_norm_release(struct ek_norm *b)
{
    for (int i = 0; i < EK_LAYERS_MAX; i++) {
        ek_free(b->mean[i]);
        ek_free(b->scale[i]);
    }
    ek_free(b->level);
    ek_free(b->tilt);
    ek_free(b->merged[0]);
    ek_free(b->merged[1]);
    memset(b, 0, sizeof *b);
}

void ek_norm_measure(const struct ek_network *n, struct ek_pass *p, size_t rows, int layer)
{
    size_t stride = n->layer[layer].stride;
    const float *x = ek_pass_input(p, layer);
    double *restrict mean = p->column[0], *restrict square = p->column[1];
    memset(mean, 0, stride * sizeof *mean);
    memset(square, 0, stride * sizeof *square);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < stride; j++)
            mean[j] += (double)x[i * stride + j];
    for (size_t j = 0; j < stride && rows; j++)
        mean[j] /= (double)rows;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < stride; j++) {
            double d = (double)x[i * stride + j] - mean[j];
            square[j] += d * d;
        }
}

/* Add means and squared differences of `more` rows to those of `rows` (Chan, Golub and LeVeque
 * 1983). */
static void add_moments(double *mean, double *square, size_t rows, const struct ek_pass *p,
                        size_t more, size_t stride)
{
    double share = (double)more / (double)(rows + more);
    for (size_t j = 0; j < stride; j++) {
        double d = p->column[0][j] - mean[j];
        mean[j] += d * share;
        square[j] += p->column[1][j] + d * d * share * (double)rows;
    }
}

void ek_norm_merge(const struct ek_network *n, struct ek_norm *b, struct ek_pass *const *passes,
                   const size_t *rows, int count, int layer, float *parameter, double old)
{
    const struct ek_network_layer *l = &n->layer[layer];
    double *mean = b->merged[0], *square = b->merged[1];
    size_t all = 0;
    memset(mean, 0, l->stride * sizeof *mean);
    memset(square, 0, l->stride * sizeof *square);
    for (int i = 0; i < count; i++)
        if (rows[i]) {
            add_moments(mean, square, all, passes[i], rows[i], l->stride);
            all += rows[i];
        }
    float *running_mean = parameter + l->mean, *running_variance = parameter + l->variance;
    for (size_t j = 0; j < l->inputs; j++) {
        double variance = all ? square[j] / (double)all : 0;
        b->mean[layer][j] = (float)mean[j];
        b->scale[layer][j] = (float)(1 / sqrt(variance + VARIANCE_FLOOR));
        running_mean[j] = (float)(old * (double)running_mean[j] + (1 - old) * mean[j]);
        running_variance[j] = (float)(old * (double)running_variance[j] + (1 - old) * variance);
    }
}

void ek_norm_forward(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                     size_t rows, int layer)
{
    size_t stride = n->layer[layer].stride;
    const float *x = ek_pass_input(p, layer), *keep = p->keep[layer];
    float *to = p->fed[layer];
    if (n->norm) {
        const float *mean = b->mean[layer], *scale = b->scale[layer];
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < stride; j++)
                to[i * stride + j] = (x[i * stride + j] - mean[j]) * scale[j];
        x = to;
    }
    for (size_t i = 0; keep && i < rows * stride; i++)
        to[i] = x[i] * keep[i];
}

void ek_norm_backward(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                      size_t rows, int layer)
{
    size_t stride = n->layer[layer].stride;
    const float *x = ek_pass_input(p, layer), *keep = p->keep[layer];
    float *d = ek_pass_input_gradient(p, layer);
    for (size_t i = 0; d && keep && i < rows * stride; i++)
        d[i] *= keep[i];
    if (!n->norm || !d)
        return;
    const float *mean = b->mean[layer], *scale = b->scale[layer];
    double *restrict level = p->column[0], *restrict tilt = p->column[1];
    memset(level, 0, stride * sizeof *level);
    memset(tilt, 0, stride * sizeof *tilt);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < stride; j++) {
            double blame = (double)d[i * stride + j];
            level[j] += blame;
            tilt[j] += blame * (double)((x[i * stride + j] - mean[j]) * scale[j]);
        }
}

void ek_norm_merge_backward(const struct ek_network *n, struct ek_norm *b,
                            struct ek_pass *const *passes, const size_t *rows, int count, int layer)
{
    size_t all = 0;
    for (int i = 0; i < count; i++)
        all += rows[i];
    for (size_t j = 0; j < n->layer[layer].stride; j++) {
        double level = 0, tilt = 0;
        for (int i = 0; i < count; i++)
            if (rows[i]) {
                level += passes[i]->column[0][j];
                tilt += passes[i]->column[1][j];
            }
        b->level[j] = all ? (float)(level / (double)all) : 0;
        b->tilt[j] = all ? (float)(tilt / (double)all) : 0;
    }
}

void ek_norm_finish(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                    size_t rows, int layer)
{
    size_t stride = n->layer[layer].stride;
    const float *x = ek_pass_input(p, layer);
    float *d = ek_pass_input_gradient(p, layer);
    if (!n->norm || !d)
        return;
    const float *mean = b->mean[layer], *scale = b->scale[layer];
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < stride; j++) {
            size_t at = i * stride + j;
            float normal = (x[at] - mean[j]) * scale[j];
            d[at] = scale[j] * (d[at] - b->level[j] - normal * b->tilt[j]);
        }
}

static void fold_layer(const struct ek_network_layer *l, const float *parameter, float *folded)
{
    const float *mean = parameter + l->mean, *variance = parameter + l->variance;
    for (size_t o = 0; o < l->outputs; o++) {
        float *weight = folded + l->weight + o * l->stride;
        double bias = (double)parameter[l->bias + o];
        for (size_t j = 0; j < l->inputs; j++) {
            double scaled = (double)weight[j] / sqrt((double)variance[j] + VARIANCE_FLOOR);
            weight[j] = (float)scaled;
            bias -= scaled * (double)mean[j];
        }
        folded[l->bias + o] = (float)bias;
    }
}

void ek_norm_fold(const struct ek_network *n, const float *parameter, float *folded)
{
    memcpy(folded, parameter, n->parameters * sizeof *folded);
    for (int i = 0; i < n->layers && n->norm; i++)
        fold_layer(&n->layer[i], parameter, folded);
}
