/* Wide part: a gate over the query features determines the slopes of each routed feature. */
#include "offline/train/network.h"

#include "base/alloc.h"
#include "num/gemm.h"
#include "score/transform.h"

#include <math.h>
#include <string.h>

static size_t padded(size_t n)
{
    return (n + EK_GEMM_COLUMNS - 1) / EK_GEMM_COLUMNS * EK_GEMM_COLUMNS;
}

static size_t allocate(size_t *total, size_t count)
{
    size_t at = *total;
    *total += padded(count);
    return at;
}

/* Place the running means and variances of layer inputs behind all learned parameters. */
static void place_statistics(struct ek_network *n)
{
    for (int i = 0; i < n->layers && n->norm; i++) {
        n->layer[i].mean = allocate(&n->parameters, n->layer[i].stride);
        n->layer[i].variance = allocate(&n->parameters, n->layer[i].stride);
    }
}

void ek_network_init(struct ek_network *n, const struct ek_model *m,
                     const struct ek_network_options *o)
{
    memset(n, 0, sizeof *n);
    n->items = (size_t)m->item_features;
    n->queries = (size_t)m->query_features;
    n->routable = (size_t)m->routable_count;
    n->gate = (size_t)m->gate_size;
    n->mask_input = m->mask_input;
    n->log_input = m->log_input;
    n->model = m;
    n->mixes = m->transform == EK_TRANSFORM_MIXTURE;
    n->layers = m->hidden_count + 1;
    size_t inputs = (size_t)m->deep_inputs;
    for (int i = 0; i < n->layers; i++) {
        struct ek_network_layer *l = &n->layer[i];
        l->inputs = inputs;
        l->outputs = i < m->hidden_count ? (size_t)m->hidden[i] : 1;
        l->stride = padded(l->inputs);
        l->width = padded(l->outputs);
        l->weight = allocate(&n->parameters, l->outputs * l->stride);
        l->bias = allocate(&n->parameters, l->width);
        l->turned = allocate(&n->turned, l->inputs * l->width);
        inputs = l->outputs;
    }
    n->gate_weight = allocate(&n->parameters, n->gate * n->queries);
    n->gate_bias = allocate(&n->parameters, n->gate);
    n->slope = allocate(&n->parameters, (n->gate + 1) * n->routable);
    n->zero = allocate(&n->parameters, (n->gate + 1) * n->routable);
    if (n->mixes) {
        n->mixture = allocate(&n->parameters, n->items * EK_TRANSFORM_PARTS);
        n->shares = allocate(&n->turned, n->items * EK_TRANSFORM_PARTS);
    }
    n->norm = o->batch_norm;
    n->dropout = o->dropout;
    n->learned = n->parameters;
    place_statistics(n);
}

static void draw(float *x, size_t count, size_t inputs, struct ek_rng *r)
{
    double bound = inputs ? 1 / sqrt((double)inputs) : 0;
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(bound * (2 * ek_rng_uniform(r) - 1));
}

/* Start the raw part of a feature with a weight inverse to its magnitude. Raw values of thousands
 * would otherwise dominate the other parts. */
static void network_start_mixture(const struct ek_network *n, float *parameter)
{
    for (size_t f = 0; f < n->items; f++) {
        double size = hypot((double)n->model->raw_mean[f], (double)n->model->raw_sd[f]);
        parameter[n->mixture + f * EK_TRANSFORM_PARTS + EK_PART_RAW] = (float)-log(fmax(size, 1));
    }
}

void ek_network_start(const struct ek_network *n, float *parameter, struct ek_rng *r)
{
    memset(parameter, 0, n->parameters * sizeof *parameter);
    for (int i = 0; i < n->layers; i++) {
        const struct ek_network_layer *l = &n->layer[i];
        for (size_t o = 0; o < l->outputs; o++)
            draw(parameter + l->weight + o * l->stride, l->inputs, l->inputs, r);
        draw(parameter + l->bias, l->outputs, l->inputs, r);
        for (size_t j = 0; j < l->inputs && n->norm; j++)
            parameter[l->variance + j] = 1;
    }
    draw(parameter + n->gate_weight, n->gate * n->queries, n->queries, r);
    draw(parameter + n->gate_bias, n->gate, n->queries, r);
    if (n->mixes)
        network_start_mixture(n, parameter);
}

/* Transpose columns [first, end) in blocks that share a cache line. */
static void transpose_layer(const struct ek_network_layer *l, const float *from, float *to,
                            size_t first, size_t end)
{
    for (size_t block = first; block < end; block += EK_GEMM_COLUMNS) {
        size_t stop = block + EK_GEMM_COLUMNS < end ? block + EK_GEMM_COLUMNS : end;
        for (size_t o = 0; o < l->outputs; o++)
            for (size_t in = block; in < stop; in++)
                to[in * l->width + o] = from[o * l->stride + in];
    }
}

static void softmax(const float *logit, float *share)
{
    double top = -INFINITY, sum = 0, power[EK_TRANSFORM_PARTS];
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++)
        top = fmax(top, (double)logit[i]);
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++)
        sum += power[i] = exp((double)logit[i] - top);
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++)
        share[i] = (float)(power[i] / sum);
}

/* Compute the mixture fractions from the parameters. */
static void network_shares(const struct ek_network *n, const float *parameter, float *shares)
{
    for (size_t f = 0; f < n->items * EK_TRANSFORM_PARTS; f += EK_TRANSFORM_PARTS)
        softmax(parameter + n->mixture + f, shares + f);
}

void ek_network_transpose(const struct ek_network *n, const float *parameter, float *turned,
                          int part, int parts)
{
    for (int i = 0; i < n->layers; i++) {
        const struct ek_network_layer *l = &n->layer[i];
        transpose_layer(l, parameter + l->weight, turned + l->turned,
                        l->inputs * (size_t)part / (size_t)parts,
                        l->inputs * ((size_t)part + 1) / (size_t)parts);
    }
    if (n->mixes && !part)
        network_shares(n, parameter, turned + n->shares);
}

void ek_network_export(const struct ek_network *n, const float *parameter, struct ek_model *m)
{
    for (int i = 0; i < n->layers; i++) {
        const struct ek_network_layer *l = &n->layer[i];
        for (size_t o = 0; o < l->outputs; o++)
            memcpy(m->weight[i] + o * l->inputs, parameter + l->weight + o * l->stride,
                   l->inputs * sizeof *parameter);
        memcpy(m->bias[i], parameter + l->bias, l->outputs * sizeof *parameter);
    }
    memcpy(m->gate_weight, parameter + n->gate_weight, n->gate * n->queries * sizeof *parameter);
    memcpy(m->gate_bias, parameter + n->gate_bias, n->gate * sizeof *parameter);
    memcpy(m->slope, parameter + n->slope, (n->gate + 1) * n->routable * sizeof *parameter);
    memcpy(m->zero, parameter + n->zero, (n->gate + 1) * n->routable * sizeof *parameter);
    if (n->mixes)
        network_shares(n, parameter, m->mixture);
    if (n->varied)
        ek_input_usage_prune(n->varied, m);
}

/* Allocate the arrays of one layer. */
static bool allocate_layer(struct ek_pass *p, const struct ek_network *n, int i)
{
    size_t given = p->rows * n->layer[i].width, read = p->rows * n->layer[i].stride;
    bool drops = i && n->dropout > 0, fed = n->norm || drops;
    p->active[i] = ek_calloc_aligned(given, sizeof **p->active);
    p->delta[i] = ek_calloc_aligned(given, sizeof **p->delta);
    p->fed[i] = fed ? ek_calloc_aligned(read, sizeof **p->fed) : NULL;
    p->keep[i] = drops ? ek_calloc_aligned(read, sizeof **p->keep) : NULL;
    return p->active[i] && p->delta[i] && (!fed || p->fed[i]) && (!drops || p->keep[i]);
}

static size_t widest_stride(const struct ek_network *n)
{
    size_t widest = 0;
    for (int i = 0; i < n->layers; i++)
        widest = n->layer[i].stride > widest ? n->layer[i].stride : widest;
    return widest;
}

int ek_pass_init(struct ek_pass *p, const struct ek_network *n, size_t rows)
{
    memset(p, 0, sizeof *p);
    p->rows = rows;
    for (int i = 0; i < 2; i++)
        p->column[i] = ek_calloc_aligned(widest_stride(n), sizeof *p->column[i]);
    p->input = ek_calloc_aligned(rows * n->layer[0].stride, sizeof *p->input);
    p->below = n->mixes ? ek_calloc_aligned(rows * n->layer[0].stride, sizeof *p->below) : NULL;
    p->part = n->mixes ? ek_calloc(rows * n->items, EK_TRANSFORM_PARTS * sizeof *p->part) : NULL;
    p->gate = ek_calloc(n->gate + 1, sizeof *p->gate);
    p->slope = ek_calloc(n->routable, sizeof *p->slope);
    p->zero = ek_calloc(n->routable, sizeof *p->zero);
    bool whole = (!n->mixes || (p->below && p->part)) && p->column[0] && p->column[1] && p->input &&
                 p->gate && p->slope && p->zero;
    for (int i = 0; i < n->layers && whole; i++)
        whole = allocate_layer(p, n, i);
    if (whole)
        return EK_OK;
    ek_pass_release(p);
    return EK_ENOMEM;
}

void ek_pass_release(struct ek_pass *p)
{
    ek_free(p->input);
    ek_free(p->below);
    ek_free(p->part);
    ek_free(p->gate);
    ek_free(p->slope);
    ek_free(p->zero);
    ek_free(p->column[0]);
    ek_free(p->column[1]);
    for (int i = 0; i < EK_LAYERS_MAX; i++) {
        ek_free(p->active[i]);
        ek_free(p->delta[i]);
        ek_free(p->fed[i]);
        ek_free(p->keep[i]);
    }
    memset(p, 0, sizeof *p);
}

static float *copy_values(float *to, const float *from, size_t count)
{
    memcpy(to, from, count * sizeof *to);
    return to + count;
}

static void apply_mask(float *x, const float *kept, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] *= kept[i];
}

/* Set unused inputs to 0: `u` is the first input of an item, `logs` its first logarithm. */
static void retain_varied(const struct ek_network *n, float *u, float *logs)
{
    const struct ek_input_usage *v = n->varied;
    apply_mask(u, v->item, n->items);
    apply_mask(u + n->items, v->query, n->queries);
    if (n->log_input != EK_LOG_NONE)
        apply_mask(logs, v->log, n->routable);
    if (n->log_input == EK_LOG_ALWAYS)
        apply_mask(logs + n->routable, v->zero, n->routable);
}

static void load_logs(const struct ek_network *n, float *to, const float *z, const float *mask)
{
    if (n->log_input == EK_LOG_NONE)
        return;
    for (size_t k = 0; k < n->routable; k++)
        to[k] = n->log_input == EK_LOG_ALWAYS ? z[k] : z[k] * mask[k];
    if (n->log_input == EK_LOG_ALWAYS)
        copy_values(to + n->routable, z + n->routable, n->routable);
}

/* Write the mixed transforms of an item's F features to u. */
static void network_mix(const struct ek_network *n, const float *turned, const float *part,
                        float *u)
{
    const float *share = turned + n->shares;
    for (size_t f = 0; f < n->items; f++)
        u[f] = ek_transform_mix(part + f * EK_TRANSFORM_PARTS, share + f * EK_TRANSFORM_PARTS);
}

static void load_item(const struct ek_network *n, const float *turned, float *to,
                      const struct ek_network_list *l, size_t item)
{
    const float *deep = l->item + item * (n->items + 2 * n->routable), *z = deep + n->items;
    float *u = to;
    to = copy_values(to, deep, n->items);
    if (n->mixes)
        network_mix(n, turned, l->part + item * n->items * EK_TRANSFORM_PARTS, u);
    for (size_t k = 0; k < n->routable; k++)
        u[n->model->routable[k]] *= 1 - l->mask[k];
    to = copy_values(to, l->query, n->queries);
    if (n->mask_input)
        to = copy_values(to, l->mask, n->routable);
    load_logs(n, to, z, l->mask);
    if (n->varied)
        retain_varied(n, u, to);
}

void ek_network_load(const struct ek_network *n, const float *turned, struct ek_pass *p, size_t row,
                     const struct ek_network_list *l)
{
    for (size_t i = 0; i < l->items; i++)
        load_item(n, turned, p->input + (row + i) * n->layer[0].stride, l, i);
    size_t parts = n->items * EK_TRANSFORM_PARTS;
    if (n->mixes)
        memcpy(p->part + row * parts, l->part, l->items * parts * sizeof *p->part);
}

static void rectify(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

float *ek_pass_input(const struct ek_pass *p, int layer)
{
    return layer ? p->active[layer - 1] : p->input;
}

float *ek_pass_input_gradient(const struct ek_pass *p, int layer)
{
    return layer ? p->delta[layer - 1] : p->below;
}

/* Return the inputs of a layer in training. */
static const float *fed(const struct ek_pass *p, int layer)
{
    return p->fed[layer] ? p->fed[layer] : ek_pass_input(p, layer);
}

void ek_network_forward_layer(const struct ek_network *n, const float *parameter,
                              const float *turned, struct ek_pass *p, size_t rows, int layer,
                              bool trains)
{
    const struct ek_network_layer *l = &n->layer[layer];
    ek_gemm(&(struct ek_gemm){.a = trains ? fed(p, layer) : ek_pass_input(p, layer),
                              .b = turned + l->turned,
                              .c = p->active[layer],
                              .a_row = l->stride,
                              .a_step = 1,
                              .b_row = l->width,
                              .c_row = l->width,
                              .rows = rows,
                              .columns = l->width,
                              .depth = l->inputs,
                              .start = parameter + l->bias});
    if (layer + 1 < n->layers)
        rectify(p->active[layer], rows * l->width);
}

void ek_network_forward(const struct ek_network *n, const float *parameter, const float *turned,
                        struct ek_pass *p, size_t rows)
{
    for (int i = 0; i < n->layers; i++)
        ek_network_forward_layer(n, parameter, turned, p, rows, i, false);
}

/* Compute the gradient of a layer's inputs: delta W. */
static void pass_down(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      size_t rows, int layer)
{
    const struct ek_network_layer *l = &n->layer[layer];
    ek_gemm(&(struct ek_gemm){.a = p->delta[layer],
                              .b = parameter + l->weight,
                              .c = ek_pass_input_gradient(p, layer),
                              .a_row = l->width,
                              .a_step = 1,
                              .b_row = l->stride,
                              .c_row = l->stride,
                              .rows = rows,
                              .columns = l->stride,
                              .depth = l->outputs});
}

void ek_network_backward_relu(const struct ek_network *n, struct ek_pass *p, size_t rows, int layer)
{
    float *below = ek_pass_input_gradient(p, layer);
    const float *active = ek_pass_input(p, layer);
    for (size_t j = 0; layer && j < rows * n->layer[layer].stride; j++)
        below[j] = active[j] > 0 ? below[j] : 0;
}

void ek_network_backward_layer(const struct ek_network *n, const float *parameter,
                               struct ek_pass *p, size_t rows, int layer, float *gradient)
{
    static const float one = 1;
    const struct ek_network_layer *l = &n->layer[layer];
    ek_gemm(&(struct ek_gemm){.a = p->delta[layer],
                              .b = fed(p, layer),
                              .c = gradient + l->weight,
                              .a_row = 1,
                              .a_step = l->width,
                              .b_row = l->stride,
                              .c_row = l->stride,
                              .rows = l->outputs,
                              .columns = l->stride,
                              .depth = rows,
                              .add = true});
    ek_gemm(&(struct ek_gemm){.a = &one,
                              .b = p->delta[layer],
                              .c = gradient + l->bias,
                              .b_row = l->width,
                              .rows = 1,
                              .columns = l->width,
                              .depth = rows,
                              .add = true});
    if (ek_pass_input_gradient(p, layer))
        pass_down(n, parameter, p, rows, layer);
}

/* Compute the gate values of a list, and the slopes of z and zero for routed features. */
static void open_gate(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      const struct ek_network_list *l)
{
    const float *weight = parameter + n->gate_weight, *bias = parameter + n->gate_bias;
    memset(p->slope, 0, n->routable * sizeof *p->slope);
    memset(p->zero, 0, n->routable * sizeof *p->zero);
    for (size_t g = 0; g <= n->gate; g++) {
        double sum = g < n->gate ? (double)bias[g] : 1;
        for (size_t j = 0; g < n->gate && j < n->queries; j++)
            sum += (double)weight[g * n->queries + j] * (double)l->query[j];
        p->gate[g] = sum;
        for (size_t k = 0; k < n->routable; k++) {
            double open = (double)l->mask[k] * sum;
            p->slope[k] += open * (double)parameter[n->slope + g * n->routable + k];
            p->zero[k] += open * (double)parameter[n->zero + g * n->routable + k];
        }
    }
}

static const float *z_of(const struct ek_network *n, const struct ek_network_list *l, size_t item)
{
    return l->item + item * (n->items + 2 * n->routable) + n->items;
}

void ek_network_score(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      size_t row, const struct ek_network_list *l, double *score)
{
    const float *deep = p->active[n->layers - 1];
    size_t width = n->layer[n->layers - 1].width;
    open_gate(n, parameter, p, l);
    for (size_t i = 0; i < l->items; i++) {
        const float *z = z_of(n, l, i), *zero = z + n->routable;
        double sum = (double)deep[(row + i) * width];
        for (size_t k = 0; k < n->routable; k++)
            sum += (double)z[k] * p->slope[k] + (double)zero[k] * p->zero[k];
        score[i] = sum;
    }
}

/* Sum d loss / d score times z and zero over the items, where routed, into p->slope and p->zero. */
static void blame_slopes(const struct ek_network *n, struct ek_pass *p,
                         const struct ek_network_list *l, const double *slope_of_score)
{
    memset(p->slope, 0, n->routable * sizeof *p->slope);
    memset(p->zero, 0, n->routable * sizeof *p->zero);
    for (size_t i = 0; i < l->items; i++) {
        const float *z = z_of(n, l, i), *zero = z + n->routable;
        for (size_t k = 0; k < n->routable; k++) {
            double share = slope_of_score[i] * (double)l->mask[k];
            p->slope[k] += share * (double)z[k];
            p->zero[k] += share * (double)zero[k];
        }
    }
}

void ek_network_backward_list(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                              size_t row, const struct ek_network_list *l,
                              const double *slope_of_score, float *gradient)
{
    float *delta = p->delta[n->layers - 1];
    size_t width = n->layer[n->layers - 1].width;
    memset(delta + row * width, 0, l->items * width * sizeof *delta);
    for (size_t i = 0; i < l->items; i++)
        delta[(row + i) * width] = (float)slope_of_score[i];

    open_gate(n, parameter, p, l);
    blame_slopes(n, p, l, slope_of_score);
    for (size_t g = 0; g <= n->gate; g++) {
        size_t at = g * n->routable;
        double blame = 0;
        for (size_t k = 0; k < n->routable; k++) {
            gradient[n->slope + at + k] += (float)(p->gate[g] * p->slope[k]);
            gradient[n->zero + at + k] += (float)(p->gate[g] * p->zero[k]);
            blame += (double)parameter[n->slope + at + k] * p->slope[k] +
                     (double)parameter[n->zero + at + k] * p->zero[k];
        }
        if (g == n->gate)
            continue;
        gradient[n->gate_bias + g] += (float)blame;
        for (size_t j = 0; j < n->queries; j++)
            gradient[n->gate_weight + g * n->queries + j] += (float)(blame * (double)l->query[j]);
    }
}

/* Sum d loss / d u times the difference of each part from u over the items of a list. */
static void blame_feature(const struct ek_network *n, const struct ek_pass *p, size_t row,
                          const struct ek_network_list *l, size_t f, const float *share,
                          double *blame)
{
    for (size_t i = 0; i < l->items; i++) {
        const float *part = p->part + ((row + i) * n->items + f) * EK_TRANSFORM_PARTS;
        double u = (double)ek_transform_mix(part, share);
        double d = (double)p->below[(row + i) * n->layer[0].stride + f];
        for (int k = 0; k < EK_TRANSFORM_PARTS; k++)
            blame[k] += d * ((double)part[k] - u);
    }
}

static bool routed(const struct ek_network *n, const struct ek_network_list *l, size_t f)
{
    for (size_t k = 0; k < n->routable; k++)
        if ((size_t)n->model->routable[k] == f)
            return l->mask[k] > 0;
    return false;
}

void ek_network_backward_mixture(const struct ek_network *n, const float *turned, struct ek_pass *p,
                                 size_t row, const struct ek_network_list *l, float *gradient)
{
    for (size_t f = 0; f < n->items; f++) {
        const float *share = turned + n->shares + f * EK_TRANSFORM_PARTS;
        double blame[EK_TRANSFORM_PARTS] = {0};
        if (routed(n, l, f))
            continue;
        blame_feature(n, p, row, l, f, share, blame);
        for (int k = 0; k < EK_TRANSFORM_PARTS; k++)
            gradient[n->mixture + f * EK_TRANSFORM_PARTS + (size_t)k] +=
                (float)((double)share[k] * blame[k]);
    }
}
