#include "offline/train/onnx.h"

#include "assets/tensors.h"
#include "base/alloc.h"
#include "base/file.h"
#include "offline/train/onnx_graph.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

enum { VECTOR = -1, SINGLE = -1 };

static void shape(struct ek_onnx *g, const char *name, int64_t rows, int64_t columns)
{
    ek_onnx_constant(g, name, EK_ONNX_INT64, 2, VECTOR, (const int64_t[]){rows, columns});
}

/* Convert the input named by the scope to standardized signed logs: doubles .standard. */
static void signed_ln(struct ek_onnx *g, int count, const float *mean, const float *sd)
{
    ek_onnx_wide(g, ".mean", count, VECTOR, mean, false);
    ek_onnx_wide(g, ".scale", count, VECTOR, sd, true);
    ek_onnx_cast(g, g->scope, ".double", EK_ONNX_DOUBLE);
    ek_onnx_node(g, "Abs", EK_ONNX_OF(".double"), ".size");
    ek_onnx_node(g, "LessOrEqual", EK_ONNX_OF(".size", "largest"), ".here"); /* false for NaN */
    ek_onnx_node(g, "Where", EK_ONNX_OF(".here", ".double", "nothing"), ".value");
    ek_onnx_node(g, "Abs", EK_ONNX_OF(".value"), ".value_size");
    ek_onnx_node(g, "Add", EK_ONNX_OF(".value_size", "one"), ".more");
    ek_onnx_node(g, "Log", EK_ONNX_OF(".more"), ".ln");
    ek_onnx_node(g, "Sign", EK_ONNX_OF(".value"), ".sign");
    ek_onnx_node(g, "Mul", EK_ONNX_OF(".sign", ".ln"), ".signed_ln");
    ek_onnx_node(g, "Sub", EK_ONNX_OF(".signed_ln", ".mean"), ".off_mean");
    ek_onnx_node(g, "Mul", EK_ONNX_OF(".off_mean", ".scale"), ".scaled");
    ek_onnx_node(g, "Where", EK_ONNX_OF(".here", ".scaled", "nothing"), ".standard");
}

/* .mean [1, K] of the usable logs of this list. */
static void list_mean(struct ek_onnx *g)
{
    const int64_t first = 0;
    ek_onnx_constant(g, "over_items", EK_ONNX_INT64, 1, VECTOR, &first);
    ek_onnx_cast(g, ".usable", ".counted", EK_ONNX_DOUBLE);
    ek_onnx_node(g, "ReduceSum", EK_ONNX_OF(".counted", "over_items"), ".count");
    ek_onnx_node(g, "Max", EK_ONNX_OF(".count", "one"), ".divisor");
    ek_onnx_node(g, "ReduceSum", EK_ONNX_OF(".ln", "over_items"), ".sum");
    ek_onnx_node(g, "Div", EK_ONNX_OF(".sum", ".divisor"), ".mean");
}

/* Centered logs and zero indicators of the routable features: doubles .z, .b, floats .z_float,
 * .b_float, all [n, K]. */
static void logs(struct ek_onnx *g, const struct ek_model *m)
{
    g->scope = "logs";
    ek_onnx_node_with(g, "Gather", EK_ONNX_OF("items.double", "routable"), ".x", "axis", 1);
    ek_onnx_node(g, "Abs", EK_ONNX_OF(".x"), ".size");
    ek_onnx_node(g, "Greater", EK_ONNX_OF(".size", "nothing"), ".not_zero");
    ek_onnx_node(g, "LessOrEqual", EK_ONNX_OF(".size", "largest"), ".finite");
    ek_onnx_node(g, "And", EK_ONNX_OF(".not_zero", ".finite"), ".usable");
    ek_onnx_node(g, "Where", EK_ONNX_OF(".usable", ".size", "one"), ".safe");
    ek_onnx_node(g, "Log", EK_ONNX_OF(".safe"), ".ln");
    if (m->list_free)
        ek_onnx_wide(g, ".mean", m->routable_count, VECTOR, m->log_mean, false);
    else
        list_mean(g);
    ek_onnx_wide(g, ".scale", m->routable_count, VECTOR, m->log_sd, true);
    ek_onnx_node(g, "Sub", EK_ONNX_OF(".ln", ".mean"), ".centred");
    ek_onnx_node(g, "Mul", EK_ONNX_OF(".centred", ".scale"), ".scaled");
    ek_onnx_node(g, "Sign", EK_ONNX_OF(".x"), ".sign");
    ek_onnx_node(g, "Mul", EK_ONNX_OF(".sign", ".scaled"), ".signed");
    ek_onnx_node(g, "Where", EK_ONNX_OF(".usable", ".signed", "nothing"), ".z");
    ek_onnx_node(g, "Equal", EK_ONNX_OF(".size", "nothing"), ".zero");
    ek_onnx_cast(g, ".zero", ".b", EK_ONNX_DOUBLE);
    ek_onnx_cast(g, ".z", ".z_float", EK_ONNX_FLOAT);
    ek_onnx_cast(g, ".zero", ".b_float", EK_ONNX_FLOAT);
}

/* "open" [F]: 0 for routed item features. Each feature looks up its mask; features that are not
 * routable look up an appended 0. */
static void open_features(struct ek_onnx *g, const struct ek_model *m)
{
    const float zero = 0, one = 1;
    int64_t *place = ek_calloc((size_t)m->item_features, sizeof *place);
    if (!place) {
        g->code = g->code ? g->code : EK_ENOMEM;
        return;
    }
    for (int f = 0, k = 0; f < m->item_features; f++) {
        bool routable = k < m->routable_count && m->routable[k] == f;
        place[f] = routable ? k++ : m->routable_count;
    }
    ek_onnx_constant(g, "mask_place", EK_ONNX_INT64, m->item_features, VECTOR, place);
    ek_free(place);
    ek_onnx_constant(g, "not_routable", EK_ONNX_FLOAT, 1, VECTOR, &zero);
    ek_onnx_constant(g, "one_float", EK_ONNX_FLOAT, SINGLE, VECTOR, &one);
    ek_onnx_node_with(g, "Concat", EK_ONNX_OF("mask", "not_routable"), "mask_and_none", "axis", 0);
    ek_onnx_node_with(g, "Gather", EK_ONNX_OF("mask_and_none", "mask_place"), "closed", "axis", 0);
    ek_onnx_node(g, "Sub", EK_ONNX_OF("one_float", "closed"), "open");
}

/* "own" [n, columns]: the deep inputs per item. Return their number. */
static int layer_inputs(struct ek_onnx *g, const struct ek_model *m)
{
    int f = m->item_features, k = m->routable_count;
    if (!k) {
        ek_onnx_node(g, "Identity", EK_ONNX_OF("items.t"), "own");
        return f;
    }
    open_features(g, m);
    ek_onnx_node(g, "Mul", EK_ONNX_OF("items.t", "open"), "u");
    if (m->log_input == EK_LOG_NONE) {
        ek_onnx_node(g, "Identity", EK_ONNX_OF("u"), "own");
        return f;
    }
    if (m->log_input == EK_LOG_ROUTED) {
        ek_onnx_node(g, "Mul", EK_ONNX_OF("logs.z_float", "mask"), "routed_z");
        ek_onnx_node_with(g, "Concat", EK_ONNX_OF("u", "routed_z"), "own", "axis", 1);
        return f + k;
    }
    ek_onnx_node_with(g, "Concat", EK_ONNX_OF("u", "logs.z_float", "logs.b_float"), "own", "axis",
                      1);
    return f + 2 * k;
}

/* "shared" [1, columns]: the deep inputs that all items share. Return their number. */
static int shared_inputs(struct ek_onnx *g, const struct ek_model *m)
{
    bool query = m->query_features > 0, mask = m->mask_input && m->routable_count > 0;
    int count = (query ? m->query_features : 0) + (mask ? m->routable_count : 0);
    if (!count)
        return 0;
    if (query && mask)
        ek_onnx_node_with(g, "Concat", EK_ONNX_OF("query.t", "mask"), "in_common", "axis", 0);
    else
        ek_onnx_node(g, "Identity", EK_ONNX_OF(query ? "query.t" : "mask"), "in_common");
    shape(g, "shape_of_shared", 1, count);
    ek_onnx_node(g, "Reshape", EK_ONNX_OF("in_common", "shape_of_shared"), "shared");
    return count;
}

/* Write columns [first, first + count), then [second, columns), of the first layer. */
static void first_weights(struct ek_onnx *g, const struct ek_model *m, const char *name, int first,
                          int count, int second)
{
    int rows = m->hidden_count ? m->hidden[0] : 1, more = m->deep_inputs - second;
    size_t width = (size_t)count + (size_t)more;
    float *part = ek_calloc((size_t)rows * width, sizeof *part);
    if (!part) {
        g->code = g->code ? g->code : EK_ENOMEM;
        return;
    }
    for (size_t i = 0; i < (size_t)rows; i++) {
        const float *row = m->weight[0] + i * (size_t)m->deep_inputs;
        memcpy(part + i * width, row + first, (size_t)count * sizeof *part);
        memcpy(part + i * width + count, row + second, (size_t)more * sizeof *part);
    }
    ek_onnx_constant(g, name, EK_ONNX_FLOAT, rows, (int)width, part);
    ek_free(part);
}

static void dense(struct ek_onnx *g, const char *from, const char *weight, const char *bias,
                  const char *to)
{
    ek_onnx_node_with(g, "Gemm", EK_ONNX_OF(from, weight, bias), to, "transB", 1);
}

/* The first layer, split as in the scorer: shared inputs are computed once. */
static void first_layer(struct ek_onnx *g, const struct ek_model *m)
{
    int own = layer_inputs(g, m), shared = shared_inputs(g, m);
    int rows = m->hidden_count ? m->hidden[0] : 1;
    ek_onnx_constant(g, "deep.0.bias", EK_ONNX_FLOAT, rows, VECTOR, m->bias[0]);
    first_weights(g, m, "deep.0.weight.own", 0, m->item_features,
                  m->deep_inputs - own + m->item_features);
    if (shared) {
        first_weights(g, m, "deep.0.weight.shared", m->item_features, shared, m->deep_inputs);
        dense(g, "shared", "deep.0.weight.shared", "deep.0.bias", "start");
    }
    dense(g, "own", "deep.0.weight.own", shared ? "start" : "deep.0.bias", "deep.0");
}

/* "deep" [n, 1]. */
static void deep_part(struct ek_onnx *g, const struct ek_model *m)
{
    first_layer(g, m);
    for (int i = 1; i <= m->hidden_count; i++) {
        char weight[32], bias[32], below[32], active[32], layer[32];
        int rows = i < m->hidden_count ? m->hidden[i] : 1;
        snprintf(weight, sizeof weight, "deep.%d.weight", i);
        snprintf(bias, sizeof bias, "deep.%d.bias", i);
        snprintf(below, sizeof below, "deep.%d", i - 1);
        snprintf(active, sizeof active, "deep.%d.relu", i - 1);
        snprintf(layer, sizeof layer, "deep.%d", i);
        ek_onnx_constant(g, weight, EK_ONNX_FLOAT, rows, m->hidden[i - 1], m->weight[i]);
        ek_onnx_constant(g, bias, EK_ONNX_FLOAT, rows, VECTOR, m->bias[i]);
        ek_onnx_node(g, "Relu", EK_ONNX_OF(below), active);
        dense(g, active, weight, bias, layer);
    }
    char last[32];
    snprintf(last, sizeof last, "deep.%d", m->hidden_count);
    ek_onnx_cast(g, last, "deep", EK_ONNX_DOUBLE);
}

/* "gate" [1, L + 1]. */
static void gate(struct ek_onnx *g, const struct ek_model *m)
{
    const double one = 1;
    ek_onnx_constant(g, "gate.one", EK_ONNX_DOUBLE, 1, 1, &one);
    if (!m->gate_size) {
        ek_onnx_node(g, "Identity", EK_ONNX_OF("gate.one"), "gate");
        return;
    }
    ek_onnx_wide(g, "gate.bias", 1, m->gate_size, m->gate_bias, false);
    if (m->query_features) {
        ek_onnx_wide(g, "gate.weight", m->gate_size, m->query_features, m->gate_weight, false);
        shape(g, "shape_of_query", 1, m->query_features);
        ek_onnx_node(g, "Reshape", EK_ONNX_OF("query.standard", "shape_of_query"), "query.row");
        dense(g, "query.row", "gate.weight", "gate.bias", "gate.outputs");
    } else {
        ek_onnx_node(g, "Identity", EK_ONNX_OF("gate.bias"), "gate.outputs");
    }
    ek_onnx_node_with(g, "Concat", EK_ONNX_OF("gate.outputs", "gate.one"), "gate", "axis", 1);
}

/* `.sum` [n, 1]: contribution of one kind of wide input to each item. */
static void wide_sum(struct ek_onnx *g, const struct ek_model *m, const char *scope,
                     const float *weight, const char *input)
{
    g->scope = scope;
    ek_onnx_wide(g, ".weight", m->gate_size + 1, m->routable_count, weight, false);
    ek_onnx_node(g, "MatMul", EK_ONNX_OF("gate", ".weight"), ".of_query");
    ek_onnx_node(g, "Mul", EK_ONNX_OF(".of_query", "mask.double"), ".routed");
    ek_onnx_node(g, "Reshape", EK_ONNX_OF(".routed", "column"), ".column");
    ek_onnx_node(g, "MatMul", EK_ONNX_OF(input, ".column"), ".sum");
}

/* "all" [n, 1]: sum of deep and wide part. */
static void wide_part(struct ek_onnx *g, const struct ek_model *m)
{
    gate(g, m);
    ek_onnx_cast(g, "mask", "mask.double", EK_ONNX_DOUBLE);
    shape(g, "column", m->routable_count, 1);
    wide_sum(g, m, "slope", m->slope, "logs.z");
    wide_sum(g, m, "zero", m->zero, "logs.b");
    ek_onnx_node(g, "Add", EK_ONNX_OF("slope.sum", "zero.sum"), "wide");
    ek_onnx_node(g, "Add", EK_ONNX_OF("deep", "wide"), "all");
}

#define OF EK_ONNX_OF

enum { INTERVALS = EK_CDF_KNOTS - 1 };

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

/* Knots as intervals: start, slope, and 1 for a step (two equal knots). */
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

/* The fraction below a value is the sum over all intervals. */
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

/* In the scope "items": convert .value (0 if missing), .here and .standard to floats .t. */
static void onnx_transform(struct ek_onnx *g, const struct ek_model *m)
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

static void transforms(struct ek_onnx *g, const struct ek_model *m)
{
    ek_onnx_number(g, "nothing", 0);
    ek_onnx_number(g, "one", 1);
    ek_onnx_number(g, "largest", DBL_MAX);
    ek_onnx_input(g, "items", EK_ONNX_ITEMS, m->item_features, "raw item features; NaN: missing");
    g->scope = "items";
    signed_ln(g, m->item_features, m->item_mean, m->item_sd);
    onnx_transform(g, m);
    if (m->query_features) {
        ek_onnx_input(g, "query", m->query_features, VECTOR, "raw query features; NaN: missing");
        g->scope = "query";
        signed_ln(g, m->query_features, m->query_mean, m->query_sd);
        ek_onnx_cast(g, ".standard", ".t", EK_ONNX_FLOAT);
    }
}

static void network(struct ek_onnx *g, const struct ek_model *m)
{
    const int64_t flat = -1;
    transforms(g, m);
    if (m->routable_count) {
        ek_onnx_input(g, "mask", m->routable_count, VECTOR, "1 where a feature is routed, else 0");
        int64_t *routable = ek_calloc((size_t)m->routable_count, sizeof *routable);
        for (int k = 0; routable && k < m->routable_count; k++)
            routable[k] = m->routable[k];
        if (!routable)
            g->code = EK_ENOMEM;
        else
            ek_onnx_constant(g, "routable", EK_ONNX_INT64, m->routable_count, VECTOR, routable);
        ek_free(routable);
        logs(g, m);
    }
    deep_part(g, m);
    if (m->routable_count)
        wide_part(g, m);
    ek_onnx_constant(g, "flat", EK_ONNX_INT64, 1, VECTOR, &flat);
    ek_onnx_node(g, "Reshape", EK_ONNX_OF(m->routable_count ? "all" : "deep", "flat"),
                 "scores.double");
    ek_onnx_cast(g, "scores.double", "scores", EK_ONNX_FLOAT);
    ek_onnx_output(g, "scores", EK_ONNX_ITEMS, VECTOR, "higher is better");
}

int ek_model_onnx(const struct ek_model *m, struct ek_buf *out, struct ek_error *e)
{
    struct ek_onnx g;
    size_t before = out->length;
    const char *description = ek_tensors_text(m->storage, "routable_sir");
    ek_onnx_init(&g);
    network(&g, m);
    int code = ek_onnx_finish(&g, "routable_sir", description ? description : "", out);
    ek_onnx_release(&g);
    if (!code)
        return EK_OK;
    ek_buf_truncate(out, before);
    return ek_fail(e, (enum ek_code)code, "%s",
                   code == EK_ELIMIT ? "the network is larger than an ONNX file may be (2 GiB)"
                                     : "out of memory");
}

int ek_model_onnx_write(const struct ek_model *m, const char *path, struct ek_error *e)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, EK_PROTOBUF_BYTES_MAX);
    int code = ek_model_onnx(m, &bytes, e);
    if (!code)
        code = ek_file_write_bytes(path, bytes.data, bytes.length, e);
    ek_buf_release(&bytes);
    return code;
}
