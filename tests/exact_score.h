/* Scores in double, computed from docs/format/model.md, with a derived bound on the scorer's
 * rounding error.
 *
 * The formula propagates three numbers together:
 *   value  in double, treated as exact
 *   error  bound on the scorer's distance from it
 *   move   bound on its change when each log moves by the given amount
 *
 * With u = 2^-24, half a step of a float at 1:
 *   inputs  are differences of octaves in float (num/ln.h): the log2 of a mantissa is off by less
 *           than u, as are its rounding with that of the mean, and the difference; the mean of a
 *           list by two more. Sum, scale and product are rounded, and one u covers the second
 *           order: error 3u or 5u of an octave, and 4u |value|
 *   layers  sum n products onto a bias, in float, fused or not: the classic bound is
 *           (n + 1) u (|b| + sum |w x|); errors and moves of the x pass through |w|, and max(0, .)
 *           moves nothing farther
 *   wide    is in double, on float z; the gate reads the rounded query inputs
 * EXACT_SLACK covers second-order terms (u squared) and the rounding of these doubles.
 */
#ifndef EK_TESTS_EXACT_SCORE_H
#define EK_TESTS_EXACT_SCORE_H

#include "assets/model.h"
#include "lists/list.h"
#include "schema/enum_names.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define EXACT_U     0x1p-24
#define EXACT_LN_2  0.69314718055994531
#define EXACT_LN    (3 * EXACT_U * EXACT_LN_2) /* of a logarithm less a given mean */
#define EXACT_LIST  (5 * EXACT_U * EXACT_LN_2) /* less the mean of its list */
#define EXACT_SLACK 1.001

enum { EXACT_WIDTH_MAX = 256 };

struct exact {
    double value, error, move;
};

static inline struct exact exact_rounded(double value, double error)
{
    return (struct exact){value, error + 4 * EXACT_U * fabs(value), 0};
}

static inline struct exact exact_signed_ln(float x, float mean, float sd)
{
    double ln = copysign(log1p(fabs((double)x)), (double)x);
    if (!isfinite(x))
        return (struct exact){0, 0, 0};
    return exact_rounded((ln - (double)mean) / (double)sd, EXACT_LN / (double)sd);
}

/* Return -1, 0 or 1; 0 if x has no logarithm. */
static inline int exact_sign(float x)
{
    return !isfinite(x) || x == 0 ? 0 : x < 0 ? -1 : 1;
}

static inline bool exact_routes(struct ek_treatment t)
{
    return t.action == EK_ACT_ROUTE || t.action == EK_ACT_ROUTE_NORMALIZED;
}

static inline float exact_x(const struct ek_model *m, const struct ek_list *q, int item, int k)
{
    return q->x[item * m->item_features + m->routable[k]];
}

/* Return the value of ln|x| at which z is 0, for routable feature k. */
static inline double exact_mean(const struct ek_model *m, const struct ek_list *q, int k)
{
    double sum = 0, count = 0;
    for (int i = 0; i < q->items; i++) {
        float x = exact_x(m, q, i, k);
        sum += exact_sign(x) ? log(fabs((double)x)) : 0;
        count += exact_sign(x) != 0;
    }
    return m->list_free ? (double)m->log_mean[k] : count > 0 ? sum / count : 0;
}

/* Return the reciprocal of the divisor of a log. */
static inline double exact_scale(const struct ek_model *m, struct ek_treatment t, int k)
{
    return 1 / (double)m->log_sd[k] / (t.action == EK_ACT_ROUTE_NORMALIZED ? t.value : 1);
}

static inline struct exact exact_z(const struct ek_model *m, float x, int k, double mean,
                                   struct ek_treatment t, double ln_move)
{
    double scale = exact_scale(m, t, k), sign = exact_sign(x);
    if (sign == 0)
        return (struct exact){0, 0, 0};
    struct exact z =
        exact_rounded(sign * (log(fabs((double)x)) - mean) * scale, EXACT_LIST * scale);
    z.move = ln_move * scale;
    return z;
}

/* Return gate output l. */
static inline struct exact exact_gate(const struct ek_model *m, const struct exact *v, int l)
{
    if (l == m->gate_size)
        return (struct exact){1, 0, 0};
    struct exact g = {(double)m->gate_bias[l], 0, 0};
    for (int j = 0; j < m->query_features; j++) {
        double w = (double)m->gate_weight[l * m->query_features + j];
        g.value += w * v[j].value;
        g.error += fabs(w) * v[j].error;
    }
    return g;
}

/* Return (g . slope[:, k]) or, with `matrix` the zeros, (g . zero[:, k]). */
static inline struct exact exact_slope(const struct ek_model *m, const struct exact *v,
                                       const float *matrix, int k)
{
    struct exact sum = {0, 0, 0};
    for (int l = 0; l <= m->gate_size; l++) {
        struct exact g = exact_gate(m, v, l);
        double w = (double)matrix[l * m->routable_count + k];
        sum.value += g.value * w;
        sum.error += g.error * fabs(w);
    }
    return sum;
}

static inline void exact_layer(const struct ek_model *m, int layer, int inputs, struct exact *x)
{
    struct exact y[EXACT_WIDTH_MAX];
    int outputs = layer < m->hidden_count ? m->hidden[layer] : 1;
    for (int o = 0; o < outputs; o++) {
        const float *w = m->weight[layer] + o * inputs;
        double value = (double)m->bias[layer][o], size = fabs(value), error = 0, move = 0;
        for (int i = 0; i < inputs; i++) {
            value += (double)w[i] * x[i].value;
            size += fabs((double)w[i]) * (fabs(x[i].value) + x[i].error);
            error += fabs((double)w[i]) * x[i].error;
            move += fabs((double)w[i]) * x[i].move;
        }
        y[o] = (struct exact){value, error + (inputs + 1) * EXACT_U * size, move};
        if (layer < m->hidden_count && value < 0)
            y[o].value = 0;
    }
    memcpy(x, y, (size_t)outputs * sizeof *y);
}

/* Return the score of one item. t [K]: none, route or route_normalized. ln_move [K]: bound on the
 * change of ln|x| minus the mean. */
static inline struct exact exact_score(const struct ek_model *m, const struct ek_list *q, int item,
                                       const struct ek_treatment *t, const double *ln_move)
{
    struct exact in[EXACT_WIDTH_MAX], sum = {0, 0, 0};
    const struct exact *v = in + m->item_features;
    int count = 0, shown = m->log_input == EK_LOG_ALWAYS, k_count = m->routable_count;
    for (int f = 0; f < m->item_features; f++)
        in[count++] =
            exact_signed_ln(q->x[item * m->item_features + f], m->item_mean[f], m->item_sd[f]);
    for (int j = 0; j < m->query_features; j++)
        in[count++] = exact_signed_ln(q->query[j], m->query_mean[j], m->query_sd[j]);
    for (int k = 0; m->mask_input && k < k_count; k++)
        in[count++] = (struct exact){exact_routes(t[k]), 0, 0};
    for (int k = 0; k < k_count; k++) {
        float x = exact_x(m, q, item, k);
        struct exact z = exact_z(m, x, k, exact_mean(m, q, k), t[k], ln_move[k]);
        if (m->log_input != EK_LOG_NONE)
            in[count++] = shown || exact_routes(t[k]) ? z : (struct exact){0, 0, 0};
        if (!exact_routes(t[k]))
            continue;
        struct exact slope = exact_slope(m, v, m->slope, k), zero = exact_slope(m, v, m->zero, k);
        sum.value += z.value * slope.value + (x == 0 ? zero.value : 0);
        sum.error +=
            z.error * fabs(slope.value) + fabs(z.value) * slope.error + (x == 0 ? zero.error : 0);
        sum.move += z.move * fabs(slope.value);
        in[m->routable[k]] = (struct exact){0, 0, 0};
    }
    for (int k = 0; shown && k < k_count; k++)
        in[count++] = (struct exact){exact_x(m, q, item, k) == 0, 0, 0};
    for (int i = 0; i <= m->hidden_count; i++) {
        exact_layer(m, i, count, in);
        count = i < m->hidden_count ? m->hidden[i] : 1;
    }
    return (struct exact){sum.value + in->value, sum.error + in->error, sum.move + in->move};
}

#endif
