/* A model as an ONNX file: the very same network for other runtimes (docs/format/onnx.md).
 *
 * Inputs `items` [n, F], `query` [M], `mask` [K], output `scores` [n], float32; one list per run.
 * Logs, their mean and the wide part are in double, as in score/scorer.h, and NaN, infinities,
 * zeros and negatives mean what they mean there. The model's description goes along as
 * it stands (ek_model_describe). Owner: buffers are the caller's.
 */
#ifndef EK_OFFLINE_TRAIN_ONNX_H
#define EK_OFFLINE_TRAIN_ONNX_H

#include "assets/model.h"
#include "base/buf.h"
#include "offline/train/onnx_graph.h"

/* Appends the file's bytes to `out`. EK_ELIMIT for a
 * network beyond 2 GiB, the limit of the format, or beyond that of `out`; EK_ENOMEM. */
int ek_model_onnx(const struct ek_model *m, struct ek_buf *out, struct ek_error *e);
int ek_model_onnx_write(const struct ek_model *m, const char *path, struct ek_error *e);

/* The transform of a model's item features as nodes of a graph; internal to onnx.c. */

#endif
