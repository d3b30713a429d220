#include "offline/train/onnx_graph.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

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

void ek_onnx_init(struct ek_onnx *g)
{
    memset(g, 0, sizeof *g);
    struct ek_buf *const all[] = {&g->graph, &g->part, &g->inner, &g->innermost};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ek_buf_init(all[i], EK_PROTOBUF_BYTES_MAX);
    g->scope = "";
    g->code = ek_protobuf_text(&g->graph, GRAPH_NAME, "routable_sir");
}

void ek_onnx_release(struct ek_onnx *g)
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

void ek_onnx_input(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc)
{
    add_value(g, GRAPH_INPUT, name, rows, columns, doc);
}

void ek_onnx_output(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc)
{
    add_value(g, GRAPH_OUTPUT, name, rows, columns, doc);
}

void ek_onnx_constant(struct ek_onnx *g, const char *name, enum ek_onnx_type type, int rows,
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

void ek_onnx_wide(struct ek_onnx *g, const char *name, int rows, int columns, const float *values,
                  bool inverse)
{
    size_t count = (size_t)rows * (columns < 0 ? 1 : (size_t)columns);
    double *wide = ek_calloc(count, sizeof *wide);
    if (!wide) {
        g->code = g->code ? g->code : EK_ENOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++)
        wide[i] = inverse ? 1 / (double)values[i] : (double)values[i];
    ek_onnx_constant(g, name, EK_ONNX_DOUBLE, rows, columns, wide);
    ek_free(wide);
}

void ek_onnx_number(struct ek_onnx *g, const char *name, double value)
{
    ek_onnx_constant(g, name, EK_ONNX_DOUBLE, -1, -1, &value);
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

void ek_onnx_node(struct ek_onnx *g, const char *op, const char *const *inputs, const char *output)
{
    begin_node(g, op, inputs, output);
    add_message(g, &g->graph, GRAPH_NODE, &g->part);
}

void ek_onnx_node_with(struct ek_onnx *g, const char *op, const char *const *inputs,
                       const char *output, const char *attribute, int value)
{
    begin_node(g, op, inputs, output);
    add_text(g, &g->inner, ATTRIBUTE_NAME, attribute);
    add_int(g, &g->inner, ATTRIBUTE_INT, (uint64_t)(int64_t)value);
    add_int(g, &g->inner, ATTRIBUTE_KIND, ATTRIBUTE_KIND_INT);
    add_message(g, &g->part, NODE_ATTRIBUTE, &g->inner);
    add_message(g, &g->graph, GRAPH_NODE, &g->part);
}

void ek_onnx_cast(struct ek_onnx *g, const char *from, const char *to, enum ek_onnx_type type)
{
    ek_onnx_node_with(g, "Cast", EK_ONNX_OF(from), to, "to", type);
}

int ek_onnx_finish(struct ek_onnx *g, const char *key, const char *text, struct ek_buf *out)
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
