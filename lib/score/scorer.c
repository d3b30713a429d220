#include "score/scorer.h"

#include "base/alloc.h"
#include "num/dense.h"
#include "score/encode.h"
#include "score/onnx_scorer.h"
#include "score/tree_scorer.h"
#include "score/value_repair.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 }; /* items per pass through the network */

struct ek_scorer {
    const struct ek_model *model;
    struct ek_tree_scorer *trees; /* of the user's own ranker, one of them; NULL: a network */
    struct ek_onnx_scorer *onnx;
    double *value; /* [n, F] treated values of the ranker */
    size_t value_capacity;
    struct ek_encoder encoder;
    /* The first layer is split into inputs shared by all items of a list (query, mask) and inputs
     * of the item (deep, z, zero). `shared` is NULL without shared inputs. */
    struct ek_dense *shared, *layer[EK_LAYERS_MAX];
    float *list_input, *start; /* [shared inputs], [ek_dense_start of the first layer] */
    float *hidden[2];          /* [BLOCK, widest layer] */
    size_t widest;
    float *mask;          /* [K] */
    int *routed, routes;  /* routable indexes of the routed features [K], and their number */
    double *slope, *zero; /* [K] in the order of `routed` */
};

/* Copy columns [from, from + count) of a matrix [rows, columns] to column `at` of a matrix of width
 * `width`. */
static void copy_columns(const float *matrix, size_t rows, size_t columns, size_t from,
                         size_t count, float *to, size_t width, size_t at)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * width + at, matrix + i * columns + from, count * sizeof *to);
}

static int make_first(struct ek_scorer *s, float *scratch)
{
    const struct ek_model *m = s->model;
    size_t columns = (size_t)m->deep_inputs, features = (size_t)m->item_features;
    size_t common = (size_t)m->query_features + (m->mask_input ? (size_t)m->routable_count : 0);
    size_t own = columns - common, rows = (size_t)(m->hidden_count ? m->hidden[0] : 1);
    if (common) {
        copy_columns(m->weight[0], rows, columns, features, common, scratch, common, 0);
        if (ek_dense_new(&s->shared, (int)common, (int)rows, scratch, m->bias[0]))
            return EK_ENOMEM;
    }
    copy_columns(m->weight[0], rows, columns, 0, features, scratch, own, 0);
    copy_columns(m->weight[0], rows, columns, features + common, own - features, scratch, own,
                 features);
    return ek_dense_new(&s->layer[0], (int)own, (int)rows, scratch, m->bias[0]);
}

static int make_layers(struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    size_t rows = (size_t)(m->hidden_count ? m->hidden[0] : 1);
    float *scratch = ek_calloc(rows * (size_t)m->deep_inputs, sizeof *scratch);
    int code = scratch ? make_first(s, scratch) : EK_ENOMEM;
    ek_free(scratch);
    for (int i = 0; i <= m->hidden_count && !code; i++) {
        int outputs = i < m->hidden_count ? m->hidden[i] : 1;
        if (i)
            code = ek_dense_new(&s->layer[i], m->hidden[i - 1], outputs, m->weight[i], m->bias[i]);
        if ((size_t)outputs > s->widest)
            s->widest = (size_t)outputs;
    }
    return code;
}

static int fill(struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    size_t k = (size_t)m->routable_count;
    if (make_layers(s))
        return EK_ENOMEM;
    s->list_input = ek_calloc_aligned((size_t)m->query_features + k, sizeof *s->list_input);
    s->start = ek_calloc_aligned((size_t)ek_dense_start(s->layer[0]), sizeof *s->start);
    s->hidden[0] = ek_calloc_aligned(BLOCK * s->widest, sizeof *s->hidden[0]);
    s->hidden[1] = ek_calloc_aligned(BLOCK * s->widest, sizeof *s->hidden[1]);
    s->mask = ek_calloc_aligned(k, sizeof *s->mask);
    s->routed = ek_calloc(k, sizeof *s->routed);
    s->slope = ek_calloc(k, sizeof *s->slope);
    s->zero = ek_calloc(k, sizeof *s->zero);
    if (!s->list_input || !s->start || !s->hidden[0] || !s->hidden[1] || !s->mask || !s->routed ||
        !s->slope || !s->zero)
        return EK_ENOMEM;
    return ek_encoder_init(&s->encoder, m);
}

int ek_scorer_new(struct ek_scorer **out, const struct ek_model *m, struct ek_error *e)
{
    struct ek_scorer *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->model = m;
    if (m->trees  ? ek_tree_scorer_new(&s->trees, m->trees)
        : m->onnx ? ek_onnx_scorer_new(&s->onnx, m->onnx)
                  : fill(s)) {
        ek_scorer_free(s);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    *out = s;
    return EK_OK;
}

void ek_scorer_free(struct ek_scorer *s)
{
    if (!s)
        return;
    ek_tree_scorer_free(s->trees);
    ek_onnx_scorer_free(s->onnx);
    ek_free(s->value);
    ek_encoder_release(&s->encoder);
    ek_dense_free(s->shared);
    for (int i = 0; i < EK_LAYERS_MAX; i++)
        ek_dense_free(s->layer[i]);
    void *const arrays[] = {s->list_input, s->start,  s->hidden[0], s->hidden[1],
                            s->mask,       s->routed, s->slope,     s->zero};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    ek_free(s);
}

bool ek_scorer_uses_sources(const struct ek_scorer *s, const struct ek_list *q)
{
    return !ek_model_library(s->model) && q->sources > 0 && !ek_list_is_partial(q) &&
           !s->model->list_free;
}

/* ----------------------------------------------------------------- ranker */

static int check_shape(const struct ek_scorer *s, const struct ek_list *q, struct ek_error *e)
{
    const struct ek_model *m = s->model;
    if (q->item_features == m->item_features && q->query_features == m->query_features)
        return EK_OK;
    return ek_fail(e, EK_ESTATE, "list has %d item and %d query features, the model %d and %d",
                   q->item_features, q->query_features, m->item_features, m->query_features);
}

/* Treat a feature of all items in s->value. */
static int treat_values(struct ek_scorer *s, const struct ek_list *q, int feature,
                        struct ek_treatment t, struct ek_error *e)
{
    struct ek_value_repair r = {.kind = EK_VALUE_BLANK};
    if (t.action == EK_ACT_REPAIR) {
        if (!(isfinite(t.value) && t.value > 0))
            return ek_fail(e, EK_ESTATE, "'repair' of feature '%s' needs a positive value",
                           s->model->item_names[feature]);
        r.kind = EK_VALUE_DIVIDE;
        ek_ratio_find(t.value, &r.p, &r.q);
    } else if (t.action != EK_ACT_BLANK) {
        return ek_fail(e, EK_ESTATE,
                       "'%s' of feature '%s' needs a network of 'evenkeel train', and this is a "
                       "model of %s",
                       ek_action_name(t.action), s->model->item_names[feature],
                       ek_model_library(s->model));
    }
    for (int i = 0; i < q->items; i++) {
        double *x = &s->value[(size_t)i * (size_t)q->item_features + (size_t)feature];
        *x = ek_value_repair(&r, *x, EK_VALUE_FLOAT32);
    }
    return EK_OK;
}

static int copy_values(struct ek_scorer *s, const struct ek_list *q, struct ek_error *e)
{
    size_t count = (size_t)q->items * (size_t)q->item_features;
    if (count > s->value_capacity) {
        double *value = ek_realloc(s->value, count, sizeof *value);
        if (!value)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        s->value = value;
        s->value_capacity = count;
    }
    for (size_t i = 0; i < count; i++)
        s->value[i] = (double)q->x[i];
    return EK_OK;
}

/* Set the scores of the user's ranker for values [n, F]; NULL: those of the list. */
static int run_ranker(struct ek_scorer *s, const struct ek_list *q, const double *values,
                      double *scores, struct ek_error *e)
{
    if (s->onnx)
        return ek_onnx_scorer_score(s->onnx, q, values, scores, e);
    ek_tree_scorer_score(s->trees, q, values, scores);
    return EK_OK;
}

static int score_ranker(struct ek_scorer *s, const struct ek_list *q, const struct ek_treatment *t,
                        double *scores, struct ek_error *e)
{
    const struct ek_model *m = s->model;
    bool is_treated = false;
    int rc = EK_OK;
    for (int k = 0; k < m->routable_count && !rc; k++) {
        if (!t || !ek_action_treats(t[k].action))
            continue;
        if (!is_treated)
            rc = copy_values(s, q, e);
        is_treated = true;
        if (!rc)
            rc = treat_values(s, q, m->routable[k], t[k], e);
    }
    return rc ? rc : run_ranker(s, q, is_treated ? s->value : NULL, scores, e);
}

static int check_finite(const double *scores, int items, struct ek_error *e)
{
    for (int i = 0; i < items; i++)
        if (!isfinite(scores[i]))
            return ek_fail(e, EK_ESTATE, "the model's score of item %d is not a finite number",
                           i + 1);
    return EK_OK;
}

int ek_scorer_score_values(struct ek_scorer *s, const struct ek_list *q, const double *values,
                           double *scores, struct ek_error *e)
{
    int rc = check_shape(s, q, e);
    if (!rc)
        rc = run_ranker(s, q, values, scores, e);
    return rc ? rc : check_finite(scores, q->items, e);
}

/* ----------------------------------------------------------------- network */

static int apply_treatment(struct ek_scorer *s, const struct ek_list *q,
                           const struct ek_treatment *t, struct ek_error *e)
{
    const struct ek_model *m = s->model;
    s->routes = 0;
    memset(s->mask, 0, (size_t)m->routable_count * sizeof *s->mask);
    for (int k = 0; t && k < m->routable_count; k++) {
        enum ek_action a = t[k].action;
        if (a == EK_ACT_NONE)
            continue;
        bool valued = a == EK_ACT_ROUTE_NORMALIZED || a == EK_ACT_REPAIR;
        if (valued && !(isfinite(t[k].value) && t[k].value > 0))
            return ek_fail(e, EK_ESTATE, "'%s' of feature '%s' needs a positive value",
                           ek_action_name(a), m->item_names[m->routable[k]]);
        if (a == EK_ACT_ROUTE_PER_SOURCE && !ek_scorer_uses_sources(s, q))
            return ek_fail(e, EK_ESTATE,
                           "'%s' of feature '%s' needs a whole list whose items all have a "
                           "source, of at most %d, and a model of lists",
                           ek_action_name(a), m->item_names[m->routable[k]], EK_SOURCES_MAX);
        s->mask[k] = ek_action_masks(a);
        if (ek_action_masks(a))
            s->routed[s->routes++] = k;
    }
    return EK_OK;
}

static double gate_value(const struct ek_scorer *s, size_t gate)
{
    const struct ek_model *m = s->model;
    size_t inputs = (size_t)m->query_features;
    if (gate == (size_t)m->gate_size)
        return 1;
    double sum = (double)m->gate_bias[gate];
    for (size_t j = 0; j < inputs; j++)
        sum += (double)m->gate_weight[gate * inputs + j] * (double)s->encoder.query[j];
    return sum;
}

static void open_gate(struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    size_t count = (size_t)m->routable_count, routed = (size_t)s->routes;
    memset(s->slope, 0, routed * sizeof *s->slope);
    memset(s->zero, 0, routed * sizeof *s->zero);
    for (size_t l = 0; routed && l <= (size_t)m->gate_size; l++) {
        double g = gate_value(s, l);
        for (size_t r = 0; r < routed; r++) {
            size_t at = l * count + (size_t)s->routed[r];
            s->slope[r] += g * (double)m->slope[at];
            s->zero[r] += g * (double)m->zero[at];
        }
    }
}

/* Return the contribution of the shared inputs to the first layer, or NULL without any. */
static const float *start_list(struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    size_t queries = (size_t)m->query_features;
    if (!s->shared)
        return NULL;
    memcpy(s->list_input, s->encoder.query, queries * sizeof *s->list_input);
    if (m->mask_input)
        memcpy(s->list_input + queries, s->mask, (size_t)m->routable_count * sizeof *s->mask);
    ek_dense_apply(s->shared, s->list_input, 1, 0, s->start, 0, 0);
    return s->start;
}

/* Mask deep inputs of routed features. With EK_LOG_ROUTED, mask z of the others. The wide part uses
 * z of routed features only. */
static void switch_off(struct ek_scorer *s, size_t items)
{
    const struct ek_model *m = s->model;
    for (size_t i = 0; i < items; i++) {
        float *item = s->encoder.item + i * s->encoder.stride, *z = item + m->item_features;
        for (int r = 0; r < s->routes; r++)
            item[m->routable[s->routed[r]]] = 0;
        for (int k = 0; m->log_input == EK_LOG_ROUTED && k < m->routable_count; k++)
            z[k] *= s->mask[k];
    }
}

/* Return the number of trailing inputs that are 0 for all items. Few features have zeros, and
 * skipping these inputs saves a third of the first layer. */
static int idle_inputs(const struct ek_scorer *s)
{
    const struct ek_model *m = s->model;
    return m->log_input == EK_LOG_ALWAYS && !s->encoder.has_zeros ? m->routable_count : 0;
}

/* Run items through the network. Return their results, contiguous. */
static const float *run_network(struct ek_scorer *s, const float *start, size_t first, int items)
{
    int idle = idle_inputs(s);
    const float *from = s->encoder.item + first * s->encoder.stride;
    size_t stride = s->encoder.stride;
    for (int i = 0; i <= s->model->hidden_count; i++) {
        const struct ek_dense *l = s->layer[i];
        size_t width = (size_t)ek_dense_outputs(l);
        float *to = s->hidden[i % 2];
        ek_dense_apply_from(l, i ? NULL : start, i ? 0 : idle, from, items, stride, to, width,
                            i < s->model->hidden_count);
        from = to;
        stride = width;
    }
    return from;
}

static double wide_part(const struct ek_scorer *s, size_t number)
{
    const struct ek_model *m = s->model;
    const float *z = s->encoder.item + number * s->encoder.stride + m->item_features;
    const float *zero = z + m->routable_count;
    double sum = 0;
    for (int r = 0; r < s->routes; r++) {
        int k = s->routed[r];
        sum += (double)z[k] * s->slope[r] + (double)zero[k] * s->zero[r];
    }
    return sum;
}

int ek_scorer_score(struct ek_scorer *s, const struct ek_list *q,
                    const struct ek_treatment *treatment, double *scores, struct ek_error *e)
{
    const struct ek_model *m = s->model;
    size_t n = (size_t)q->items;
    int code = check_shape(s, q, e);
    if (code)
        return code;
    if (ek_model_library(m))
        return score_ranker(s, q, treatment, scores, e);
    const double *log_mean = q->has_log_means ? q->log_mean : NULL;
    if (ek_list_is_partial(q) && !log_mean && !m->list_free && !q->list_items)
        return ek_fail(e, EK_EFORMAT,
                       "one item of a list and no 'log_means': this model needs the whole list, "
                       "its mean logarithms, or training with --list-free");
    if (ek_list_is_partial(q) && !log_mean && !m->list_free)
        return ek_fail(e, EK_EFORMAT,
                       "%d of the list's %d items and no 'log_means': this model needs the whole "
                       "list, its mean logarithms, or training with --list-free",
                       q->items, q->list_items);
    code = apply_treatment(s, q, treatment, e);
    if (code)
        return code;
    if (ek_encode_list(&s->encoder, &(struct ek_encode_list){.x = q->x,
                                                             .n = q->items,
                                                             .query = q->query,
                                                             .treatment = treatment,
                                                             .log_mean = log_mean,
                                                             .source = q->source,
                                                             .sources = q->sources}))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    open_gate(s);
    switch_off(s, n);
    const float *start = start_list(s);
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t items = n - first < BLOCK ? n - first : BLOCK;
        const float *deep = run_network(s, start, first, (int)items);
        for (size_t i = 0; i < items; i++)
            scores[first + i] = (double)deep[i] + wide_part(s, first + i);
    }
    return EK_OK;
}

int ek_scorer_score_finite(struct ek_scorer *s, const struct ek_list *q,
                           const struct ek_treatment *treatment, double *scores, struct ek_error *e)
{
    int code = ek_scorer_score(s, q, treatment, scores, e);
    return code ? code : check_finite(scores, q->items, e);
}
