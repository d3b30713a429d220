#include "score/scorer.h"

#include "base/alloc.h"
#include "num/gemm.h"
#include "score/encode.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 }; /* items that go through the network together */

/* One layer, transposed and padded: weight [inputs, width]. */
struct layer {
    size_t inputs, outputs, width;
    float *weight, *bias;
};

struct ek_scorer {
    const struct ek_model *model;
    struct ek_encoder encoder;
    size_t shared, own; /* deep inputs that are the same for all items of a list, and the others */
    size_t widest;
    /* The first layer has the shared inputs (query, mask) before the own ones (u, z, zero). */
    struct layer layer[EK_LAYERS_MAX];
    float *list_input, *start; /* [shared], [width of the first layer] */
    float *input;              /* [BLOCK, own] */
    float *hidden[2];          /* [BLOCK, widest] */
    float *mask;               /* [K] */
    double *slope, *zero;      /* [K], 0 where not routed */
};

static size_t padded(size_t n)
{
    return (n + EK_GEMM_COLUMNS - 1) / EK_GEMM_COLUMNS * EK_GEMM_COLUMNS;
}

/* Column of the model's first weight that input number `to` of ours is: query and mask move to the
 * front. */
static size_t column_of(const struct ek_model *m, size_t shared, size_t to)
{
    size_t features = (size_t)m->item_features;
    if (to < shared)
        return features + to;
    return to - shared < features ? to - shared : to;
}

static int fill_layer(struct ek_scorer *s, int i, size_t inputs)
{
    const struct ek_model *m = s->model;
    struct layer *l = &s->layer[i];
    l->inputs = inputs;
    l->outputs = i < m->hidden_count ? (size_t)m->hidden[i] : 1;
    l->width = padded(l->outputs);
    l->weight = ek_calloc_aligned(l->inputs * l->width, sizeof *l->weight);
    l->bias = ek_calloc_aligned(l->width, sizeof *l->bias);
    if (!l->weight || !l->bias)
        return EK_ENOMEM;
    memcpy(l->bias, m->bias[i], l->outputs * sizeof *l->bias);
    for (size_t from = 0; from < inputs; from++) {
        size_t column = i ? from : column_of(m, s->shared, from);
        for (size_t o = 0; o < l->outputs; o++)
            l->weight[from * l->width + o] = m->weight[i][o * inputs + column];
    }
    if (l->width > s->widest)
        s->widest = l->width;
    return EK_OK;
}

static int fill(struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    size_t k = (size_t)m->routable_count, inputs = (size_t)m->deep_inputs;
    s->shared = (size_t)m->query_features + (m->mask_input ? k : 0);
    s->own = inputs - s->shared;
    for (int i = 0; i <= m->hidden_count; i++) {
        if (fill_layer(s, i, inputs))
            return EK_ENOMEM;
        inputs = s->layer[i].outputs;
    }
    s->list_input = ek_calloc_aligned(s->shared, sizeof *s->list_input);
    s->start = ek_calloc_aligned(s->layer[0].width, sizeof *s->start);
    s->input = ek_calloc_aligned(BLOCK * s->own, sizeof *s->input);
    s->hidden[0] = ek_calloc_aligned(BLOCK * s->widest, sizeof *s->hidden[0]);
    s->hidden[1] = ek_calloc_aligned(BLOCK * s->widest, sizeof *s->hidden[1]);
    s->mask = ek_calloc_aligned(k, sizeof *s->mask);
    s->slope = ek_calloc_aligned(k, sizeof *s->slope);
    s->zero = ek_calloc_aligned(k, sizeof *s->zero);
    if (!s->list_input || !s->start || !s->input || !s->hidden[0] || !s->hidden[1] || !s->mask ||
        !s->slope || !s->zero)
        return EK_ENOMEM;
    return ek_encoder_init(&s->encoder, m);
}

int ek_scorer_new(struct ek_scorer **out, const struct ek_model *m, struct ek_error *e)
{
    struct ek_scorer *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for a scorer");
    s->model = m;
    if (fill(s)) {
        ek_scorer_free(s);
        return ek_fail(e, EK_ENOMEM, "no memory for a scorer");
    }
    *out = s;
    return EK_OK;
}

void ek_scorer_free(struct ek_scorer *s)
{
    if (!s)
        return;
    ek_encoder_release(&s->encoder);
    for (int i = 0; i < EK_LAYERS_MAX; i++) {
        ek_free(s->layer[i].weight);
        ek_free(s->layer[i].bias);
    }
    void *const arrays[] = {s->list_input, s->start, s->input, s->hidden[0],
                            s->hidden[1],  s->mask,  s->slope, s->zero};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    ek_free(s);
}

static bool routes(enum ek_action a)
{
    return a == EK_ACT_ROUTE || a == EK_ACT_ROUTE_SPREAD || a == EK_ACT_SILENCE;
}

static int take_treatment(struct ek_scorer *s, const struct ek_treatment *t, struct ek_error *e)
{
    const struct ek_model *m = s->model;
    for (int k = 0; k < m->routable_count; k++) {
        enum ek_action a = t ? t[k].action : EK_ACT_NONE;
        bool valued = a == EK_ACT_ROUTE_SPREAD || a == EK_ACT_RESCALE;
        if (valued && !(isfinite(t[k].value) && t[k].value > 0))
            return ek_fail(e, EK_ESTATE, "'%s' of feature '%s' needs a positive value",
                           ek_action_name(a), m->item_names[m->routable[k]]);
        s->mask[k] = routes(a);
    }
    return EK_OK;
}

/* Gate values and from them the slopes of z and zero. */
static void open_gate(struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    size_t count = (size_t)m->routable_count, inputs = (size_t)m->query_features;
    memset(s->slope, 0, count * sizeof *s->slope);
    memset(s->zero, 0, count * sizeof *s->zero);
    for (size_t l = 0; l <= (size_t)m->gate_size; l++) {
        double g = 1;
        if (l < (size_t)m->gate_size) {
            g = (double)m->gate_bias[l];
            for (size_t j = 0; j < inputs; j++)
                g += (double)m->gate_weight[l * inputs + j] * (double)s->encoder.query[j];
        }
        for (size_t k = 0; k < count; k++) {
            double open = (double)s->mask[k] * g;
            s->slope[k] += open * (double)m->slope[l * count + k];
            s->zero[k] += open * (double)m->zero[l * count + k];
        }
    }
}

/* What the inputs that all items share give to the first layer. */
static void start_list(struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    const struct layer *l = &s->layer[0];
    size_t queries = (size_t)m->query_features;
    memcpy(s->list_input, s->encoder.query, queries * sizeof *s->list_input);
    memcpy(s->list_input + queries, s->mask, (s->shared - queries) * sizeof *s->list_input);
    ek_gemm(&(struct ek_gemm){.a = s->list_input,
                              .b = l->weight,
                              .c = s->start,
                              .a_step = 1,
                              .b_row = l->width,
                              .rows = 1,
                              .columns = l->width,
                              .depth = s->shared,
                              .start = l->bias});
}

/* The own inputs of one item: u, then z and zero as log_input says. */
static void fill_input(const struct ek_scorer *s, size_t item, float *to)
{
    const struct ek_model *m = s->model;
    size_t features = (size_t)m->item_features, count = (size_t)m->routable_count;
    const float *z = s->encoder.z + item * count, *zero = s->encoder.zero + item * count;
    memcpy(to, s->encoder.deep + item * features, features * sizeof *to);
    for (size_t k = 0; k < count; k++)
        if (s->mask[k] > 0)
            to[m->routable[k]] = 0;
    to += features;
    if (m->log_input == EK_LOG_NONE)
        return;
    for (size_t k = 0; k < count; k++)
        to[k] = m->log_input == EK_LOG_ALWAYS ? z[k] : z[k] * s->mask[k];
    if (m->log_input == EK_LOG_ALWAYS)
        memcpy(to + count, zero, count * sizeof *to);
}

static void rectify(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

/* Runs `rows` items through the network; the result is column 0 of what it returns. */
static const float *run_network(struct ek_scorer *s, size_t rows)
{
    const float *from = s->input, *weight = s->layer[0].weight + s->shared * s->layer[0].width;
    size_t stride = s->own, depth = s->own;
    for (int i = 0; i <= s->model->hidden_count; i++) {
        const struct layer *l = &s->layer[i];
        float *to = s->hidden[i % 2];
        ek_gemm(&(struct ek_gemm){.a = from,
                                  .b = i ? l->weight : weight,
                                  .c = to,
                                  .a_row = stride,
                                  .a_step = 1,
                                  .b_row = l->width,
                                  .c_row = l->width,
                                  .rows = rows,
                                  .columns = l->width,
                                  .depth = depth,
                                  .start = i ? l->bias : s->start});
        if (i < s->model->hidden_count)
            rectify(to, rows * l->width);
        from = to;
        stride = l->width;
        depth = l->outputs;
    }
    return from;
}

static double wide_part(const struct ek_scorer *s, size_t item)
{
    size_t count = (size_t)s->model->routable_count;
    const float *z = s->encoder.z + item * count, *zero = s->encoder.zero + item * count;
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (double)z[k] * s->slope[k] + (double)zero[k] * s->zero[k];
    return sum;
}

static void score_block(struct ek_scorer *s, size_t first, size_t rows, double *scores)
{
    size_t width = s->layer[s->model->hidden_count].width;
    for (size_t i = 0; i < rows; i++)
        fill_input(s, first + i, s->input + i * s->own);
    const float *deep = run_network(s, rows);
    for (size_t i = 0; i < rows; i++)
        scores[first + i] = (double)deep[i * width] + wide_part(s, first + i);
}

int ek_scorer_score(struct ek_scorer *s, const struct ek_query *q,
                    const struct ek_treatment *treatment, double *scores, struct ek_error *e)
{
    const struct ek_model *m = s->model;
    if (q->item_features != m->item_features || q->query_features != m->query_features)
        return ek_fail(e, EK_ESTATE, "list has %d item and %d query features, the model %d and %d",
                       q->item_features, q->query_features, m->item_features, m->query_features);
    int code = take_treatment(s, treatment, e);
    if (code)
        return code;
    if (ek_encode(&s->encoder, q->x, q->items, q->query, treatment))
        return ek_fail(e, EK_ENOMEM, "no memory for a list of %d items", q->items);
    open_gate(s);
    start_list(s);
    for (size_t first = 0, n = (size_t)q->items; first < n; first += BLOCK)
        score_block(s, first, n - first < BLOCK ? n - first : BLOCK, scores);
    return EK_OK;
}
