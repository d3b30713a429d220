/* ONNX export of a model: the same network for other runtimes (docs/format/onnx.md).
 *
 * Inputs `items` [n, F], `query` [M], `mask` [K]; output `scores` [n], float32; one list per run.
 * Logs, their mean and the wide part are double, as in scorer.h. NaN, infinities, zeros and
 * negative values have the same meaning as there. Metadata includes the output of
 * ek_model_describe.
 */
#ifndef EK_OFFLINE_TRAIN_ONNX_H
#define EK_OFFLINE_TRAIN_ONNX_H

#include "assets/model.h"
#include "base/buf.h"

#include <stdbool.h>

/* Append the file to `out`. Return 0, EK_ENOMEM, or EK_ELIMIT for a network beyond 2 GiB (the limit
 * of the format) or beyond the limit of `out`; on error part may be appended. */
int ek_model_onnx(const struct ek_model *m, struct ek_buf *out, struct ek_error *e);
/* Write the file to `path`. Return 0, EK_EIO, or an error of ek_model_onnx; on error an existing
 * file stays unchanged. */
int ek_model_onnx_write(const struct ek_model *m, const char *path, struct ek_error *e);

/* Fields of Protocol Buffers, of which an ONNX file consists. */

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
