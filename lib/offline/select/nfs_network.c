#include "offline/select/nfs_network.h"

#include "base/alloc.h"
#include "base/error.h"
#include "offline/select/nfs_layers.h"

#include <math.h>
#include <string.h>

enum { W = EK_NFS_WIDTH };
_Static_assert(W == EK_NFS_HEADS * EK_ATTENTION_HEAD, "heads share the width");

void ek_nfs_network_init(struct ek_nfs_network *n, size_t features, size_t queries)
{
    memset(n, 0, sizeof *n);
    n->features = features;
    n->queries = queries;
    ek_linear_init(&n->in, features + queries, W, &n->parameters, &n->turned);
    ek_linear_init(&n->qkv, W, 3 * (size_t)W, &n->parameters, &n->turned);
    ek_linear_init(&n->out, W, W, &n->parameters, &n->turned);
    ek_linear_init(&n->wide, W, EK_NFS_WIDE, &n->parameters, &n->turned);
    ek_linear_init(&n->narrow, EK_NFS_WIDE, W, &n->parameters, &n->turned);
    n->score = n->parameters;
    n->mixture = n->score + W;
    n->parameters = n->mixture + features * EK_NFS_PARTS;
    n->shares = n->turned;
    n->turned += features * EK_NFS_PARTS;
}

void ek_nfs_network_start(const struct ek_nfs_network *n, float *parameter, struct ek_rng *r)
{
    memset(parameter, 0, n->parameters * sizeof *parameter);
    ek_linear_start(&n->in, parameter, n->features, r);
    ek_linear_start(&n->qkv, parameter, 0, r);
    ek_linear_start(&n->out, parameter, 0, r);
    ek_linear_start(&n->wide, parameter, 0, r);
    ek_linear_start(&n->narrow, parameter, 0, r);
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
    ek_linear_transpose(&n->in, parameter, turned);
    ek_linear_transpose(&n->qkv, parameter, turned);
    ek_linear_transpose(&n->out, parameter, turned);
    ek_linear_transpose(&n->wide, parameter, turned);
    ek_linear_transpose(&n->narrow, parameter, turned);
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
    ek_linear_forward(&n->in, parameter, p->input, rows, p->h0);
    ek_layer_norm(p->h0, rows, W, p->norm[0], p->scale[0]);
    ek_linear_forward(&n->qkv, parameter, p->norm[0], rows, p->qkv);
    attend(p);
    ek_linear_forward(&n->out, parameter, p->mixed, rows, p->h1);
    add(p->h1, p->h0, rows * W);
    ek_layer_norm(p->h1, rows, W, p->norm[1], p->scale[1]);
    ek_linear_forward(&n->wide, parameter, p->norm[1], rows, p->wide);
    for (size_t i = 0; i < rows * EK_NFS_WIDE; i++)
        p->wide[i] = p->wide[i] > 0 ? p->wide[i] : 0;
    ek_linear_forward(&n->narrow, parameter, p->wide, rows, p->h2);
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
    ek_linear_backward_input(&n->narrow, turned, p->d_h, rows, false, p->d_wide);
    for (size_t i = 0; i < rows * EK_NFS_WIDE; i++)
        p->d_wide[i] = p->wide[i] > 0 ? p->d_wide[i] : 0;
    if (gradient) {
        ek_linear_backward(&n->narrow, p->wide, p->d_h, rows, gradient);
        ek_linear_backward(&n->wide, p->norm[1], p->d_wide, rows, gradient);
    }
    ek_linear_backward_input(&n->wide, turned, p->d_wide, rows, false, p->d_row);
    ek_layer_norm_backward(p->norm[1], p->scale[1], p->d_row, rows, W, p->d_h);
}

static void attention_back(const struct ek_nfs_network *n, const float *turned,
                           struct ek_nfs_pass *p, bool own, float *gradient)
{
    size_t rows = p->rows;
    ek_linear_backward_input(&n->out, turned, p->d_h, rows, false, p->d_row);
    attend_back(p, own);
    if (gradient) {
        ek_linear_backward(&n->out, p->mixed, p->d_h, rows, gradient);
        ek_linear_backward(&n->qkv, p->norm[0], p->d_qkv, rows, gradient);
    }
    ek_linear_backward_input(&n->qkv, turned, p->d_qkv, rows, false, p->d_row);
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
    ek_linear_backward_input(&n->in, turned, p->d_h, p->rows, false, p->d_input);
    if (!gradient)
        return;
    ek_linear_backward(&n->in, p->input, p->d_h, p->rows, gradient);
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
