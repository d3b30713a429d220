/* Scores of ONNX models (assets/onnx_model.h). Not thread-safe; scorers may share a model. */
#ifndef EK_SCORE_ONNX_SCORER_H
#define EK_SCORE_ONNX_SCORER_H

#include "assets/onnx_model.h"
#include "lists/list.h"

struct ek_onnx_scorer;

/* Create a scorer. The model must be bound to a manifest and outlive it. Return 0 or EK_ENOMEM. */
int ek_onnx_scorer_new(struct ek_onnx_scorer **out, const struct ek_onnx_model *m);
void ek_onnx_scorer_free(struct ek_onnx_scorer *s);
/* Compute scores [n] of a list. x [n, F]: values of its items in place of those of the list; NULL:
 * the list's. Return 0, EK_ESTATE with the message of the runtime, or EK_ENOMEM. */
int ek_onnx_scorer_score(struct ek_onnx_scorer *s, const struct ek_list *q, const double *x,
                         double *scores, struct ek_error *e);

#endif
