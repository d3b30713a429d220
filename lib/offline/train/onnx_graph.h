/* A graph in the ONNX format while it is being written: values by name, nodes that make values from
 * values. Only onnx.c builds one.
 *
 * A failure sticks: later calls do nothing and ek_onnx_finish returns it. In names of values a
 * leading dot stands for `scope`: ".ln" is "items.ln" while the scope is "items". Shapes are of
 * EK_ONNX_ITEMS where the number of items stands. Owner: the caller, ek_onnx_release.
 */
#ifndef EK_OFFLINE_TRAIN_ONNX_GRAPH_H
#define EK_OFFLINE_TRAIN_ONNX_GRAPH_H

#include "base/buf.h"

#include <stdbool.h>

enum { EK_ONNX_ITEMS = -1, EK_ONNX_OPSET = 13, EK_ONNX_IR = 7 };

/* Numbers of ONNX. */
enum ek_onnx_type { EK_ONNX_FLOAT = 1, EK_ONNX_INT64 = 7, EK_ONNX_DOUBLE = 11 };

struct ek_onnx {
    struct ek_buf graph, part, inner, innermost;
    const char *scope;
    int code;
};

void ek_onnx_init(struct ek_onnx *g);
void ek_onnx_release(struct ek_onnx *g);

/* What goes in and out: float vectors and matrices; columns < 0: a vector of `rows`. */
void ek_onnx_input(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc);
void ek_onnx_output(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc);

/* Constants; columns < 0: a vector, rows < 0: a single number. The values are copied. */
void ek_onnx_constant(struct ek_onnx *g, const char *name, enum ek_onnx_type type, int rows,
                      int columns, const void *values);

/* A float array as doubles, or as their inverses. */
void ek_onnx_wide(struct ek_onnx *g, const char *name, int rows, int columns, const float *values,
                  bool inverse);
/* A single number, double. */
void ek_onnx_number(struct ek_onnx *g, const char *name, double value);

#define EK_ONNX_OF(...) ((const char *const[]){__VA_ARGS__, NULL})

/* inputs end with NULL. */
void ek_onnx_node(struct ek_onnx *g, const char *op, const char *const *inputs, const char *output);
/* The same with one whole number as attribute. */
void ek_onnx_node_with(struct ek_onnx *g, const char *op, const char *const *inputs,
                       const char *output, const char *attribute, int value);

void ek_onnx_cast(struct ek_onnx *g, const char *from, const char *to, enum ek_onnx_type type);

/* Appends the file to `out`, with a text under a key of its metadata. Returns the first failure. */
int ek_onnx_finish(struct ek_onnx *g, const char *key, const char *text, struct ek_buf *out);

/* Fields of messages in the encoding of Protocol Buffers, for writing: a field is a key (number and
 * kind as one varint) and a varint, or a length and that many bytes. An embedded message is the
 * bytes of its own fields. Nothing else is needed by what we write.
 *
 * Returns EK_OK, EK_ENOMEM, or EK_ELIMIT beyond the limit of the buffer. Field numbers are
 * positive.
 */
/* A file of Protocol Buffers ends here. */
enum { EK_PROTOBUF_BYTES_MAX = 0x7fffffff };

int ek_protobuf_int(struct ek_buf *b, unsigned field, uint64_t value);
int ek_protobuf_bytes(struct ek_buf *b, unsigned field, const void *bytes, size_t length);
int ek_protobuf_text(struct ek_buf *b, unsigned field, const char *text);

#endif
