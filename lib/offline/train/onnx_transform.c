#include "offline/train/onnx_transform.h"

#include "base/alloc.h"

#include <stdio.h>

#define OF EK_ONNX_OF

enum { VECTOR = -1, INTERVALS = EK_CDF_KNOTS - 1 };

static void limits(struct ek_onnx *g)
{
    ek_onnx_number(g, "lowest_part", -1e18);
    ek_onnx_number(g, "highest_part", 1e18);
}

static void raw(struct ek_onnx *g)
{
    ek_onnx_node(g, "Clip", OF(".value", "lowest_part", "highest_part"), ".raw");
}

static void zscore(struct ek_onnx *g, const struct ek_model *m)
{
    ek_onnx_wide(g, ".raw_mean", m->item_features, VECTOR, m->raw_mean, false);
    ek_onnx_wide(g, ".raw_sd", m->item_features, VECTOR, m->raw_sd, false);
    ek_onnx_node(g, "Sub", OF(".value", ".raw_mean"), ".raw_off_mean");
    ek_onnx_node(g, "Div", OF(".raw_off_mean", ".raw_sd"), ".raw_scaled");
    ek_onnx_node(g, "Clip", OF(".raw_scaled", "lowest_part", "highest_part"), ".raw_cut");
    ek_onnx_node(g, "Where", OF(".here", ".raw_cut", "nothing"), ".zscore");
}

/* The knots as intervals: where one starts, what it rises by per unit, and 1 where it is so narrow
 * (two equal knots) that it is a step. */
static void intervals(struct ek_onnx *g, const struct ek_model *m)
{
    size_t count = (size_t)m->item_features * INTERVALS;
    double *all = ek_calloc(3 * count, sizeof *all);
    if (!all) {
        g->code = g->code ? g->code : EK_ENOMEM;
        return;
    }
    double *from = all, *rise = all + count, *step = all + 2 * count;
    for (size_t i = 0; i < count; i++) {
        const float *knot = m->cdf + i / INTERVALS * EK_CDF_KNOTS + i % INTERVALS;
        double width = (double)knot[1] - (double)knot[0];
        from[i] = (double)knot[0];
        rise[i] = width > 0 ? 1 / width : 0;
        step[i] = width > 0 ? 0 : 1;
    }
    ek_onnx_constant(g, ".from", EK_ONNX_DOUBLE, m->item_features, INTERVALS, from);
    ek_onnx_constant(g, ".rise", EK_ONNX_DOUBLE, m->item_features, INTERVALS, rise);
    ek_onnx_constant(g, ".step", EK_ONNX_DOUBLE, m->item_features, INTERVALS, step);
    ek_free(all);
}

/* The share below a value is the sum of what every interval adds to it. */
static void cdf(struct ek_onnx *g, const struct ek_model *m)
{
    const int64_t last = 2;
    intervals(g, m);
    ek_onnx_constant(g, "last_axis", EK_ONNX_INT64, 1, VECTOR, &last);
    ek_onnx_number(g, "intervals", INTERVALS);
    ek_onnx_node(g, "Unsqueeze", OF(".value", "last_axis"), ".single");
    ek_onnx_node(g, "Sub", OF(".single", ".from"), ".beyond");
    ek_onnx_node(g, "Mul", OF(".beyond", ".rise"), ".climb");
    ek_onnx_node(g, "Clip", OF(".climb", "nothing", "one"), ".climbed");
    ek_onnx_node(g, "Greater", OF(".single", ".from"), ".passed");
    ek_onnx_cast(g, ".passed", ".passed_number", EK_ONNX_DOUBLE);
    ek_onnx_node(g, "Mul", OF(".passed_number", ".step"), ".stepped");
    ek_onnx_node(g, "Add", OF(".climbed", ".stepped"), ".added");
    ek_onnx_node(g, "ReduceSum", OF(".added", "last_axis"), ".added_up");
    ek_onnx_node(g, "Squeeze", OF(".added_up", "last_axis"), ".below");
    ek_onnx_node(g, "Div", OF(".below", "intervals"), ".share");
    ek_onnx_node(g, "Where", OF(".here", ".share", "nothing"), ".cdf");
}

static void mixture(struct ek_onnx *g, const struct ek_model *m)
{
    static const char *const parts[EK_TRANSFORM_PARTS] = {".raw", ".zscore", ".cdf", ".standard"};
    size_t features = (size_t)m->item_features;
    double *column = ek_calloc(features, sizeof *column);
    raw(g);
    zscore(g, m);
    cdf(g, m);
    g->code = g->code || column ? g->code : EK_ENOMEM;
    for (int i = 0; column && i < EK_TRANSFORM_PARTS; i++) {
        char weight[24], weighted[24], sum[24], before[24];
        snprintf(weight, sizeof weight, ".weight%d", i);
        snprintf(weighted, sizeof weighted, ".weighted%d", i);
        snprintf(before, sizeof before, i > 1 ? ".mixed%d" : ".weighted%d", i - 1);
        snprintf(sum, sizeof sum, ".mixed%d", i);
        for (size_t f = 0; f < features; f++)
            column[f] = (double)m->mixture[f * EK_TRANSFORM_PARTS + (size_t)i];
        ek_onnx_constant(g, weight, EK_ONNX_DOUBLE, m->item_features, VECTOR, column);
        ek_onnx_node(g, "Mul", OF(parts[i], weight), weighted);
        if (i)
            ek_onnx_node(g, "Add", OF(before, weighted), sum);
    }
    ek_free(column);
}

void ek_onnx_transform(struct ek_onnx *g, const struct ek_model *m)
{
    static const char *const results[] = {".standard", ".raw", ".zscore", ".cdf", ".mixed3"};
    if (m->transform != EK_TRANSFORM_LOG1P && m->transform != EK_TRANSFORM_CDF)
        limits(g);
    if (m->transform == EK_TRANSFORM_RAW)
        raw(g);
    if (m->transform == EK_TRANSFORM_ZSCORE)
        zscore(g, m);
    if (m->transform == EK_TRANSFORM_CDF)
        cdf(g, m);
    if (m->transform == EK_TRANSFORM_MIXTURE)
        mixture(g, m);
    ek_onnx_cast(g, results[m->transform], ".t", EK_ONNX_FLOAT);
}
