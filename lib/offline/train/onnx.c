#include "offline/train/onnx.h"

#include "assets/tensors.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

enum { EK_ONNX_ITEMS = -1, EK_ONNX_OPSET = 13, EK_ONNX_IR = 7 };

/* Data type codes of ONNX. */
enum ek_onnx_type { EK_ONNX_FLOAT = 1, EK_ONNX_INT64 = 7, EK_ONNX_DOUBLE = 11 };

/* Builder of an ONNX graph, with named values and nodes that compute values from values.
 *
 * The first error is kept: later calls have no effect and ek_onnx_finish returns it. In value names
 * a leading dot means `scope`: ".ln" is "items.ln" in the scope "items". EK_ONNX_ITEMS is the
 * dimension of the number of items.
 */
struct ek_onnx {
    struct ek_buf graph, part, inner, innermost;
    const char *scope;
    int code;
};

#define EK_ONNX_OF(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Protocol Buffers writer. A field is a key (number and kind as one varint) and a varint, or a
 * length and bytes. An embedded message is the bytes of its fields. Functions return EK_OK,
 * EK_ENOMEM, or EK_ELIMIT beyond the limit of the buffer. Field numbers are positive. */

/* Largest Protocol Buffers file. */
enum { EK_PROTOBUF_BYTES_MAX = 0x7fffffff };

/* Field numbers of the used ONNX messages (onnx.proto3). */
enum { MODEL_IR = 1, MODEL_PRODUCER, MODEL_VERSION, MODEL_GRAPH = 7, MODEL_OPSET, MODEL_META = 14 };
enum { OPSET_VERSION = 2 };
enum { META_KEY = 1, META_VALUE };
enum { GRAPH_NODE = 1, GRAPH_NAME, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT };
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_OP, NODE_ATTRIBUTE };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INT = 3, ATTRIBUTE_KIND = 20, ATTRIBUTE_KIND_INT = 2 };
enum { CONSTANT_DIM = 1, CONSTANT_TYPE, CONSTANT_NAME = 8, CONSTANT_RAW };
enum { VALUE_NAME = 1, VALUE_TYPE, VALUE_DOC };
enum { TYPE_TENSOR = 1, TENSOR_TYPE = 1, TENSOR_SHAPE, SHAPE_DIM = 1, DIM_VALUE = 1, DIM_NAME };

/* Initialize an empty graph; release it with onnx_release. */
static void onnx_init(struct ek_onnx *g)
{
    memset(g, 0, sizeof *g);
    struct ek_buf *const all[] = {&g->graph, &g->part, &g->inner, &g->innermost};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ek_buf_init(all[i], EK_PROTOBUF_BYTES_MAX);
    g->scope = "";
    g->code = ek_protobuf_text(&g->graph, GRAPH_NAME, "routable_sir");
}

/* Free the memory of the graph. */
static void onnx_release(struct ek_onnx *g)
{
    ek_buf_release(&g->graph);
    ek_buf_release(&g->part);
    ek_buf_release(&g->inner);
    ek_buf_release(&g->innermost);
}

static void add_int(struct ek_onnx *g, struct ek_buf *to, unsigned field, uint64_t value)
{
    if (!g->code)
        g->code = ek_protobuf_int(to, field, value);
}

static void add_bytes(struct ek_onnx *g, struct ek_buf *to, unsigned field, const void *bytes,
                      size_t length)
{
    if (!g->code)
        g->code = ek_protobuf_bytes(to, field, bytes, length);
}

static void add_text(struct ek_onnx *g, struct ek_buf *to, unsigned field, const char *text)
{
    add_bytes(g, to, field, text, strlen(text));
}

/* Append the name of a value, with the scope if it begins with a dot. */
static void add_name(struct ek_onnx *g, struct ek_buf *to, unsigned field, const char *name)
{
    char whole[80];
    snprintf(whole, sizeof whole, "%s%s", *name == '.' ? g->scope : "", name);
    add_text(g, to, field, whole);
}

/* Append a complete embedded message and clear its buffer. */
static void add_message(struct ek_onnx *g, struct ek_buf *to, unsigned field, struct ek_buf *from)
{
    add_bytes(g, to, field, from->data, from->length);
    ek_buf_clear(from);
}

static void add_dim(struct ek_onnx *g, int size)
{
    if (size == EK_ONNX_ITEMS)
        add_text(g, &g->innermost, DIM_NAME, "items");
    else
        add_int(g, &g->innermost, DIM_VALUE, (uint64_t)size);
    add_message(g, &g->inner, SHAPE_DIM, &g->innermost);
}

/* Wrap the contents of `inner` into a message under `field`. */
static void wrap(struct ek_onnx *g, unsigned field)
{
    add_message(g, &g->innermost, field, &g->inner);
    struct ek_buf held = g->inner;
    g->inner = g->innermost;
    g->innermost = held;
}

static void add_value(struct ek_onnx *g, unsigned field, const char *name, int rows, int columns,
                      const char *doc)
{
    add_dim(g, rows);
    if (columns >= 0)
        add_dim(g, columns);
    wrap(g, TENSOR_SHAPE);
    add_int(g, &g->inner, TENSOR_TYPE, EK_ONNX_FLOAT);
    wrap(g, TYPE_TENSOR);
    add_text(g, &g->part, VALUE_NAME, name);
    add_message(g, &g->part, VALUE_TYPE, &g->inner);
    add_text(g, &g->part, VALUE_DOC, doc);
    add_message(g, &g->graph, field, &g->part);
}

/* Add an input of the graph with a description: float matrix [rows, columns]; columns < 0: a vector
 * of `rows`. */
static void onnx_input(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc)
{
    add_value(g, GRAPH_INPUT, name, rows, columns, doc);
}

/* Add an output of the graph: name, shape and description as for onnx_input. */
static void onnx_output(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc)
{
    add_value(g, GRAPH_OUTPUT, name, rows, columns, doc);
}

/* Add a constant and copy its values; columns < 0: a vector, rows < 0: a scalar. */
static void onnx_constant(struct ek_onnx *g, const char *name, enum ek_onnx_type type, int rows,
                          int columns, const void *values)
{
    size_t size = type == EK_ONNX_FLOAT ? sizeof(float) : sizeof(double);
    size_t count = (rows < 0 ? 1 : (size_t)rows) * (columns < 0 ? 1 : (size_t)columns);
    if (rows >= 0)
        add_int(g, &g->part, CONSTANT_DIM, (uint64_t)rows);
    if (columns >= 0)
        add_int(g, &g->part, CONSTANT_DIM, (uint64_t)columns);
    add_int(g, &g->part, CONSTANT_TYPE, type);
    add_name(g, &g->part, CONSTANT_NAME, name);
    add_bytes(g, &g->part, CONSTANT_RAW, values, count * size);
    add_message(g, &g->graph, GRAPH_CONSTANT, &g->part);
}

/* Add a constant of doubles from a float array, or from the inverses of its values; shape as for
 * onnx_constant. */
static void onnx_wide(struct ek_onnx *g, const char *name, int rows, int columns,
                      const float *values, bool inverse)
{
    size_t count = (size_t)rows * (columns < 0 ? 1 : (size_t)columns);
    double *wide = ek_calloc(count, sizeof *wide);
    if (!wide) {
        g->code = g->code ? g->code : EK_ENOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++)
        wide[i] = inverse ? 1 / (double)values[i] : (double)values[i];
    onnx_constant(g, name, EK_ONNX_DOUBLE, rows, columns, wide);
    ek_free(wide);
}

/* Add a constant: a double scalar. */
static void onnx_number(struct ek_onnx *g, const char *name, double value)
{
    onnx_constant(g, name, EK_ONNX_DOUBLE, -1, -1, &value);
}

static void begin_node(struct ek_onnx *g, const char *op, const char *const *inputs,
                       const char *output)
{
    for (; *inputs; inputs++)
        add_name(g, &g->part, NODE_INPUT, *inputs);
    add_name(g, &g->part, NODE_OUTPUT, output);
    add_name(g, &g->part, NODE_NAME, output);
    add_text(g, &g->part, NODE_OP, op);
}

/* Add a node of operator `op` with one output; `inputs` ends with NULL. */
static void onnx_node(struct ek_onnx *g, const char *op, const char *const *inputs,
                      const char *output)
{
    begin_node(g, op, inputs, output);
    add_message(g, &g->graph, GRAPH_NODE, &g->part);
}

/* Add a node of operator `op` with one output and one integer attribute; `inputs` ends with
 * NULL. */
static void onnx_node_with(struct ek_onnx *g, const char *op, const char *const *inputs,
                           const char *output, const char *attribute, int value)
{
    begin_node(g, op, inputs, output);
    add_text(g, &g->inner, ATTRIBUTE_NAME, attribute);
    add_int(g, &g->inner, ATTRIBUTE_INT, (uint64_t)(int64_t)value);
    add_int(g, &g->inner, ATTRIBUTE_KIND, ATTRIBUTE_KIND_INT);
    add_message(g, &g->part, NODE_ATTRIBUTE, &g->inner);
    add_message(g, &g->graph, GRAPH_NODE, &g->part);
}

/* Add a node that converts the value `from` to `type` and names it `to`. */
static void onnx_cast(struct ek_onnx *g, const char *from, const char *to, enum ek_onnx_type type)
{
    onnx_node_with(g, "Cast", EK_ONNX_OF(from), to, "to", type);
}

/* Append the file to `out`, with `text` under `key` in its metadata. Return 0, or the first error
 * of any call: EK_ENOMEM or EK_ELIMIT. */
static int onnx_finish(struct ek_onnx *g, const char *key, const char *text, struct ek_buf *out)
{
    add_int(g, out, MODEL_IR, EK_ONNX_IR);
    add_text(g, out, MODEL_PRODUCER, "evenkeel");
    add_text(g, out, MODEL_VERSION, EK_VERSION);
    add_message(g, out, MODEL_GRAPH, &g->graph);
    add_int(g, &g->part, OPSET_VERSION, EK_ONNX_OPSET);
    add_message(g, out, MODEL_OPSET, &g->part);
    add_text(g, &g->part, META_KEY, key);
    add_text(g, &g->part, META_VALUE, text);
    add_message(g, out, MODEL_META, &g->part);
    return g->code;
}

enum { KIND_VARINT = 0, KIND_BYTES = 2, VARINT_BYTES_MAX = 10 };

static int add_varint(struct ek_buf *b, uint64_t value)
{
    uint8_t bytes[VARINT_BYTES_MAX];
    size_t count = 0;
    for (; value > 0x7f; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    return ek_buf_add(b, bytes, count);
}

static int add_key(struct ek_buf *b, unsigned field, unsigned kind)
{
    return add_varint(b, (uint64_t)field << 3 | kind);
}

int ek_protobuf_int(struct ek_buf *b, unsigned field, uint64_t value)
{
    int code = add_key(b, field, KIND_VARINT);
    return code ? code : add_varint(b, value);
}

int ek_protobuf_bytes(struct ek_buf *b, unsigned field, const void *bytes, size_t length)
{
    int code = add_key(b, field, KIND_BYTES);
    if (!code)
        code = add_varint(b, length);
    return code ? code : ek_buf_add(b, bytes, length);
}

int ek_protobuf_text(struct ek_buf *b, unsigned field, const char *text)
{
    return ek_protobuf_bytes(b, field, text, strlen(text));
}

enum { VECTOR = -1, SINGLE = -1 };

static void shape(struct ek_onnx *g, const char *name, int64_t rows, int64_t columns)
{
    onnx_constant(g, name, EK_ONNX_INT64, 2, VECTOR, (const int64_t[]){rows, columns});
}

/* Convert the input named by the scope to standardized signed logs: doubles .standard. */
static void signed_ln(struct ek_onnx *g, int count, const float *mean, const float *sd)
{
    onnx_wide(g, ".mean", count, VECTOR, mean, false);
    onnx_wide(g, ".scale", count, VECTOR, sd, true);
    onnx_cast(g, g->scope, ".double", EK_ONNX_DOUBLE);
    onnx_node(g, "Abs", EK_ONNX_OF(".double"), ".size");
    onnx_node(g, "LessOrEqual", EK_ONNX_OF(".size", "largest"), ".here"); /* false for NaN */
    onnx_node(g, "Where", EK_ONNX_OF(".here", ".double", "nothing"), ".value");
    onnx_node(g, "Abs", EK_ONNX_OF(".value"), ".value_size");
    onnx_node(g, "Add", EK_ONNX_OF(".value_size", "one"), ".more");
    onnx_node(g, "Log", EK_ONNX_OF(".more"), ".ln");
    onnx_node(g, "Sign", EK_ONNX_OF(".value"), ".sign");
    onnx_node(g, "Mul", EK_ONNX_OF(".sign", ".ln"), ".signed_ln");
    onnx_node(g, "Sub", EK_ONNX_OF(".signed_ln", ".mean"), ".off_mean");
    onnx_node(g, "Mul", EK_ONNX_OF(".off_mean", ".scale"), ".scaled");
    onnx_node(g, "Where", EK_ONNX_OF(".here", ".scaled", "nothing"), ".standard");
}

/* .mean [1, K] of the usable logs of this list. */
static void list_mean(struct ek_onnx *g)
{
    const int64_t first = 0;
    onnx_constant(g, "over_items", EK_ONNX_INT64, 1, VECTOR, &first);
    onnx_cast(g, ".usable", ".counted", EK_ONNX_DOUBLE);
    onnx_node(g, "ReduceSum", EK_ONNX_OF(".counted", "over_items"), ".count");
    onnx_node(g, "Max", EK_ONNX_OF(".count", "one"), ".divisor");
    onnx_node(g, "ReduceSum", EK_ONNX_OF(".ln", "over_items"), ".sum");
    onnx_node(g, "Div", EK_ONNX_OF(".sum", ".divisor"), ".mean");
}

/* Centered logs and zero indicators of the routable features: doubles .z, .b, floats .z_float,
 * .b_float, all [n, K]. */
static void logs(struct ek_onnx *g, const struct ek_model *m)
{
    g->scope = "logs";
    onnx_node_with(g, "Gather", EK_ONNX_OF("items.double", "routable"), ".x", "axis", 1);
    onnx_node(g, "Abs", EK_ONNX_OF(".x"), ".size");
    onnx_node(g, "Greater", EK_ONNX_OF(".size", "nothing"), ".not_zero");
    onnx_node(g, "LessOrEqual", EK_ONNX_OF(".size", "largest"), ".finite");
    onnx_node(g, "And", EK_ONNX_OF(".not_zero", ".finite"), ".usable");
    onnx_node(g, "Where", EK_ONNX_OF(".usable", ".size", "one"), ".safe");
    onnx_node(g, "Log", EK_ONNX_OF(".safe"), ".ln");
    if (m->list_free)
        onnx_wide(g, ".mean", m->routable_count, VECTOR, m->log_mean, false);
    else
        list_mean(g);
    onnx_wide(g, ".scale", m->routable_count, VECTOR, m->log_sd, true);
    onnx_node(g, "Sub", EK_ONNX_OF(".ln", ".mean"), ".centred");
    onnx_node(g, "Mul", EK_ONNX_OF(".centred", ".scale"), ".scaled");
    onnx_node(g, "Sign", EK_ONNX_OF(".x"), ".sign");
    onnx_node(g, "Mul", EK_ONNX_OF(".sign", ".scaled"), ".signed");
    onnx_node(g, "Where", EK_ONNX_OF(".usable", ".signed", "nothing"), ".z");
    onnx_node(g, "Equal", EK_ONNX_OF(".size", "nothing"), ".zero");
    onnx_cast(g, ".zero", ".b", EK_ONNX_DOUBLE);
    onnx_cast(g, ".z", ".z_float", EK_ONNX_FLOAT);
    onnx_cast(g, ".zero", ".b_float", EK_ONNX_FLOAT);
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
    onnx_constant(g, "mask_place", EK_ONNX_INT64, m->item_features, VECTOR, place);
    ek_free(place);
    onnx_constant(g, "not_routable", EK_ONNX_FLOAT, 1, VECTOR, &zero);
    onnx_constant(g, "one_float", EK_ONNX_FLOAT, SINGLE, VECTOR, &one);
    onnx_node_with(g, "Concat", EK_ONNX_OF("mask", "not_routable"), "mask_and_none", "axis", 0);
    onnx_node_with(g, "Gather", EK_ONNX_OF("mask_and_none", "mask_place"), "closed", "axis", 0);
    onnx_node(g, "Sub", EK_ONNX_OF("one_float", "closed"), "open");
}

/* "own" [n, columns]: the deep inputs per item. Return their number. */
static int layer_inputs(struct ek_onnx *g, const struct ek_model *m)
{
    int f = m->item_features, k = m->routable_count;
    if (!k) {
        onnx_node(g, "Identity", EK_ONNX_OF("items.t"), "own");
        return f;
    }
    open_features(g, m);
    onnx_node(g, "Mul", EK_ONNX_OF("items.t", "open"), "u");
    if (m->log_input == EK_LOG_NONE) {
        onnx_node(g, "Identity", EK_ONNX_OF("u"), "own");
        return f;
    }
    if (m->log_input == EK_LOG_ROUTED) {
        onnx_node(g, "Mul", EK_ONNX_OF("logs.z_float", "mask"), "routed_z");
        onnx_node_with(g, "Concat", EK_ONNX_OF("u", "routed_z"), "own", "axis", 1);
        return f + k;
    }
    onnx_node_with(g, "Concat", EK_ONNX_OF("u", "logs.z_float", "logs.b_float"), "own", "axis", 1);
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
        onnx_node_with(g, "Concat", EK_ONNX_OF("query.t", "mask"), "in_common", "axis", 0);
    else
        onnx_node(g, "Identity", EK_ONNX_OF(query ? "query.t" : "mask"), "in_common");
    shape(g, "shape_of_shared", 1, count);
    onnx_node(g, "Reshape", EK_ONNX_OF("in_common", "shape_of_shared"), "shared");
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
    onnx_constant(g, name, EK_ONNX_FLOAT, rows, (int)width, part);
    ek_free(part);
}

static void dense(struct ek_onnx *g, const char *from, const char *weight, const char *bias,
                  const char *to)
{
    onnx_node_with(g, "Gemm", EK_ONNX_OF(from, weight, bias), to, "transB", 1);
}

/* The first layer, split as in the scorer: shared inputs are computed once. */
static void first_layer(struct ek_onnx *g, const struct ek_model *m)
{
    int own = layer_inputs(g, m), shared = shared_inputs(g, m);
    int rows = m->hidden_count ? m->hidden[0] : 1;
    onnx_constant(g, "deep.0.bias", EK_ONNX_FLOAT, rows, VECTOR, m->bias[0]);
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
        onnx_constant(g, weight, EK_ONNX_FLOAT, rows, m->hidden[i - 1], m->weight[i]);
        onnx_constant(g, bias, EK_ONNX_FLOAT, rows, VECTOR, m->bias[i]);
        onnx_node(g, "Relu", EK_ONNX_OF(below), active);
        dense(g, active, weight, bias, layer);
    }
    char last[32];
    snprintf(last, sizeof last, "deep.%d", m->hidden_count);
    onnx_cast(g, last, "deep", EK_ONNX_DOUBLE);
}

/* "gate" [1, L + 1]. */
static void gate(struct ek_onnx *g, const struct ek_model *m)
{
    const double one = 1;
    onnx_constant(g, "gate.one", EK_ONNX_DOUBLE, 1, 1, &one);
    if (!m->gate_size) {
        onnx_node(g, "Identity", EK_ONNX_OF("gate.one"), "gate");
        return;
    }
    onnx_wide(g, "gate.bias", 1, m->gate_size, m->gate_bias, false);
    if (m->query_features) {
        onnx_wide(g, "gate.weight", m->gate_size, m->query_features, m->gate_weight, false);
        shape(g, "shape_of_query", 1, m->query_features);
        onnx_node(g, "Reshape", EK_ONNX_OF("query.standard", "shape_of_query"), "query.row");
        dense(g, "query.row", "gate.weight", "gate.bias", "gate.outputs");
    } else {
        onnx_node(g, "Identity", EK_ONNX_OF("gate.bias"), "gate.outputs");
    }
    onnx_node_with(g, "Concat", EK_ONNX_OF("gate.outputs", "gate.one"), "gate", "axis", 1);
}

/* `.sum` [n, 1]: contribution of one kind of wide input to each item. */
static void wide_sum(struct ek_onnx *g, const struct ek_model *m, const char *scope,
                     const float *weight, const char *input)
{
    g->scope = scope;
    onnx_wide(g, ".weight", m->gate_size + 1, m->routable_count, weight, false);
    onnx_node(g, "MatMul", EK_ONNX_OF("gate", ".weight"), ".of_query");
    onnx_node(g, "Mul", EK_ONNX_OF(".of_query", "mask.double"), ".routed");
    onnx_node(g, "Reshape", EK_ONNX_OF(".routed", "column"), ".column");
    onnx_node(g, "MatMul", EK_ONNX_OF(input, ".column"), ".sum");
}

/* "all" [n, 1]: sum of deep and wide part. */
static void wide_part(struct ek_onnx *g, const struct ek_model *m)
{
    gate(g, m);
    onnx_cast(g, "mask", "mask.double", EK_ONNX_DOUBLE);
    shape(g, "column", m->routable_count, 1);
    wide_sum(g, m, "slope", m->slope, "logs.z");
    wide_sum(g, m, "zero", m->zero, "logs.b");
    onnx_node(g, "Add", EK_ONNX_OF("slope.sum", "zero.sum"), "wide");
    onnx_node(g, "Add", EK_ONNX_OF("deep", "wide"), "all");
}

#define OF EK_ONNX_OF

enum { INTERVALS = EK_CDF_KNOTS - 1 };

static void limits(struct ek_onnx *g)
{
    onnx_number(g, "lowest_part", -1e18);
    onnx_number(g, "highest_part", 1e18);
}

static void raw(struct ek_onnx *g)
{
    onnx_node(g, "Clip", OF(".value", "lowest_part", "highest_part"), ".raw");
}

static void zscore(struct ek_onnx *g, const struct ek_model *m)
{
    onnx_wide(g, ".raw_mean", m->item_features, VECTOR, m->raw_mean, false);
    onnx_wide(g, ".raw_sd", m->item_features, VECTOR, m->raw_sd, false);
    onnx_node(g, "Sub", OF(".value", ".raw_mean"), ".raw_off_mean");
    onnx_node(g, "Div", OF(".raw_off_mean", ".raw_sd"), ".raw_scaled");
    onnx_node(g, "Clip", OF(".raw_scaled", "lowest_part", "highest_part"), ".raw_cut");
    onnx_node(g, "Where", OF(".here", ".raw_cut", "nothing"), ".zscore");
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
    onnx_constant(g, ".from", EK_ONNX_DOUBLE, m->item_features, INTERVALS, from);
    onnx_constant(g, ".rise", EK_ONNX_DOUBLE, m->item_features, INTERVALS, rise);
    onnx_constant(g, ".step", EK_ONNX_DOUBLE, m->item_features, INTERVALS, step);
    ek_free(all);
}

/* The fraction below a value is the sum over all intervals. */
static void cdf(struct ek_onnx *g, const struct ek_model *m)
{
    const int64_t last = 2;
    intervals(g, m);
    onnx_constant(g, "last_axis", EK_ONNX_INT64, 1, VECTOR, &last);
    onnx_number(g, "intervals", INTERVALS);
    onnx_node(g, "Unsqueeze", OF(".value", "last_axis"), ".single");
    onnx_node(g, "Sub", OF(".single", ".from"), ".beyond");
    onnx_node(g, "Mul", OF(".beyond", ".rise"), ".climb");
    onnx_node(g, "Clip", OF(".climb", "nothing", "one"), ".climbed");
    onnx_node(g, "Greater", OF(".single", ".from"), ".passed");
    onnx_cast(g, ".passed", ".passed_number", EK_ONNX_DOUBLE);
    onnx_node(g, "Mul", OF(".passed_number", ".step"), ".stepped");
    onnx_node(g, "Add", OF(".climbed", ".stepped"), ".added");
    onnx_node(g, "ReduceSum", OF(".added", "last_axis"), ".added_up");
    onnx_node(g, "Squeeze", OF(".added_up", "last_axis"), ".below");
    onnx_node(g, "Div", OF(".below", "intervals"), ".share");
    onnx_node(g, "Where", OF(".here", ".share", "nothing"), ".cdf");
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
        onnx_constant(g, weight, EK_ONNX_DOUBLE, m->item_features, VECTOR, column);
        onnx_node(g, "Mul", OF(parts[i], weight), weighted);
        if (i)
            onnx_node(g, "Add", OF(before, weighted), sum);
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
    onnx_cast(g, results[m->transform], ".t", EK_ONNX_FLOAT);
}

static void transforms(struct ek_onnx *g, const struct ek_model *m)
{
    onnx_number(g, "nothing", 0);
    onnx_number(g, "one", 1);
    onnx_number(g, "largest", DBL_MAX);
    onnx_input(g, "items", EK_ONNX_ITEMS, m->item_features, "raw item features; NaN: missing");
    g->scope = "items";
    signed_ln(g, m->item_features, m->item_mean, m->item_sd);
    onnx_transform(g, m);
    if (m->query_features) {
        onnx_input(g, "query", m->query_features, VECTOR, "raw query features; NaN: missing");
        g->scope = "query";
        signed_ln(g, m->query_features, m->query_mean, m->query_sd);
        onnx_cast(g, ".standard", ".t", EK_ONNX_FLOAT);
    }
}

static void network(struct ek_onnx *g, const struct ek_model *m)
{
    const int64_t flat = -1;
    transforms(g, m);
    if (m->routable_count) {
        onnx_input(g, "mask", m->routable_count, VECTOR, "1 where a feature is routed, else 0");
        int64_t *routable = ek_calloc((size_t)m->routable_count, sizeof *routable);
        for (int k = 0; routable && k < m->routable_count; k++)
            routable[k] = m->routable[k];
        if (!routable)
            g->code = EK_ENOMEM;
        else
            onnx_constant(g, "routable", EK_ONNX_INT64, m->routable_count, VECTOR, routable);
        ek_free(routable);
        logs(g, m);
    }
    deep_part(g, m);
    if (m->routable_count)
        wide_part(g, m);
    onnx_constant(g, "flat", EK_ONNX_INT64, 1, VECTOR, &flat);
    onnx_node(g, "Reshape", EK_ONNX_OF(m->routable_count ? "all" : "deep", "flat"),
              "scores.double");
    onnx_cast(g, "scores.double", "scores", EK_ONNX_FLOAT);
    onnx_output(g, "scores", EK_ONNX_ITEMS, VECTOR, "higher is better");
}

int ek_model_onnx(const struct ek_model *m, struct ek_buf *out, struct ek_error *e)
{
    struct ek_onnx g;
    size_t before = out->length;
    const char *description = ek_tensors_text(m->storage, "routable_sir");
    onnx_init(&g);
    network(&g, m);
    int code = onnx_finish(&g, "routable_sir", description ? description : "", out);
    onnx_release(&g);
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
