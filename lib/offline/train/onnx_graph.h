/* Builder of an ONNX graph, with named values and nodes that compute values from values, and the
 * Protocol Buffers writer of its file. Used by onnx.c only.
 *
 * The first error is kept: later calls have no effect and ek_onnx_finish returns it. In value names
 * a leading dot means `scope`: ".ln" is "items.ln" in the scope "items". EK_ONNX_ITEMS is the
 * dimension of the number of items.
 */
#ifndef EK_OFFLINE_TRAIN_ONNX_GRAPH_H
#define EK_OFFLINE_TRAIN_ONNX_GRAPH_H

#include "base/buf.h"

#include <stdbool.h>

enum { EK_ONNX_ITEMS = -1, EK_ONNX_OPSET = 13, EK_ONNX_IR = 7 };

/* Data type codes of ONNX. */
enum ek_onnx_type { EK_ONNX_FLOAT = 1, EK_ONNX_INT64 = 7, EK_ONNX_DOUBLE = 11 };

struct ek_onnx {
    struct ek_buf graph, part, inner, innermost;
    const char *scope;
    int code;
};

/* Initialize an empty graph; release it with ek_onnx_release. */
void ek_onnx_init(struct ek_onnx *g);
/* Free the memory of the graph. */
void ek_onnx_release(struct ek_onnx *g);

/* Add an input of the graph with a description: float matrix [rows, columns]; columns < 0: a vector
 * of `rows`. */
void ek_onnx_input(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc);
/* Add an output of the graph: name, shape and description as for ek_onnx_input. */
void ek_onnx_output(struct ek_onnx *g, const char *name, int rows, int columns, const char *doc);

/* Add a constant and copy its values; columns < 0: a vector, rows < 0: a scalar. */
void ek_onnx_constant(struct ek_onnx *g, const char *name, enum ek_onnx_type type, int rows,
                      int columns, const void *values);

/* Add a constant of doubles from a float array, or from the inverses of its values; shape as for
 * ek_onnx_constant. */
void ek_onnx_wide(struct ek_onnx *g, const char *name, int rows, int columns, const float *values,
                  bool inverse);
/* Add a constant: a double scalar. */
void ek_onnx_number(struct ek_onnx *g, const char *name, double value);

#define EK_ONNX_OF(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Add a node of operator `op` with one output; `inputs` ends with NULL. */
void ek_onnx_node(struct ek_onnx *g, const char *op, const char *const *inputs, const char *output);
/* Add a node of operator `op` with one output and one integer attribute; `inputs` ends with
 * NULL. */
void ek_onnx_node_with(struct ek_onnx *g, const char *op, const char *const *inputs,
                       const char *output, const char *attribute, int value);

/* Add a node that converts the value `from` to `type` and names it `to`. */
void ek_onnx_cast(struct ek_onnx *g, const char *from, const char *to, enum ek_onnx_type type);

/* Append the file to `out`, with `text` under `key` in its metadata. Return 0, or the first error
 * of any call: EK_ENOMEM or EK_ELIMIT. */
int ek_onnx_finish(struct ek_onnx *g, const char *key, const char *text, struct ek_buf *out);

/* Protocol Buffers writer. A field is a key (number and kind as one varint) and a varint, or a
 * length and bytes. An embedded message is the bytes of its fields. Functions return EK_OK,
 * EK_ENOMEM, or EK_ELIMIT beyond the limit of the buffer. Field numbers are positive. */
/* Largest Protocol Buffers file. */
enum { EK_PROTOBUF_BYTES_MAX = 0x7fffffff };

/* Append a varint field. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit of `b`. */
int ek_protobuf_int(struct ek_buf *b, unsigned field, uint64_t value);
/* Append a length-delimited field: bytes or an embedded message. Return 0, EK_ENOMEM, or EK_ELIMIT
 * beyond the limit of `b`.
 */
int ek_protobuf_bytes(struct ek_buf *b, unsigned field, const void *bytes, size_t length);
/* Append a nul-terminated string as a field. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit of
 * `b`. */
int ek_protobuf_text(struct ek_buf *b, unsigned field, const char *text);

#endif
