/* The transform of a model's item features as nodes of a graph; internal to onnx.c. */
#ifndef EK_DATA_ONNX_TRANSFORM_H
#define EK_DATA_ONNX_TRANSFORM_H

#include "assets/model.h"
#include "offline/train/onnx_graph.h"

/* In the scope "items": from .value (0 where missing), .here and .standard to floats .t. */
void ek_onnx_transform(struct ek_onnx *g, const struct ek_model *m);

#endif
