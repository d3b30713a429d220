/* ONNX model of the user's own ranker, scored by ONNX Runtime in the calling thread.
 *
 * Inputs: one tensor [n, columns] or [1, n, columns], or for each feature a tensor [n] or [n, 1]
 * with its name; of float or double. The columns of one tensor are named by the metadata
 * `feature_names` (JSON array, or separated by commas). The score is the last output that is a
 * tensor of float or double: [n], [n, 1], or the second value of [n, 2], a probability. Read-only
 * after ek_columns_bind, and thread-safe.
 */
#ifndef EK_ASSETS_ONNX_MODEL_H
#define EK_ASSETS_ONNX_MODEL_H

#include "assets/columns.h"

#include <stdbool.h>

enum { EK_ONNX_BYTES_MAX = 256 << 20, EK_ONNX_INPUTS_MAX = 4096 };

struct ek_onnx_session;

struct ek_onnx_model {
    struct ek_columns columns;
    struct ek_onnx_session *session;
    size_t bytes; /* of the file */
};

enum { EK_ONNX_HEAD = 16 };
/* Return whether a file begins like an ONNX model. EK_ONNX_HEAD bytes, unless it is shorter. */
bool ek_onnx_begins(const void *bytes, size_t length);
/* Read a model file, and load ONNX Runtime (libonnxruntime.so.1) with the first one. Return 0,
 * EK_EIO, EK_ELIMIT beyond EK_ONNX_BYTES_MAX bytes or EK_ONNX_INPUTS_MAX inputs, EK_EFORMAT if the
 * runtime rejects it or its inputs or outputs are others, EK_ESTATE without a runtime, or
 * EK_ENOMEM. */
int ek_onnx_load(struct ek_onnx_model **out, const char *path, struct ek_error *e);
void ek_onnx_free(struct ek_onnx_model *m);
/* Return the version of the runtime. */
const char *ek_onnx_version(const struct ek_onnx_model *m);
/* Compute scores [items], at least one, from values [items, columns]. scratch: as many doubles.
 * Return 0, or EK_ESTATE with the message of the runtime. */
int ek_onnx_run(const struct ek_onnx_model *m, const double *values, int items, double *scratch,
                double *scores, struct ek_error *e);

#endif
