/* Transform of item features for the deep part, before routing (docs/format/model.md).
 *
 *   raw      x
 *   zscore   (x - raw_mean) / raw_sd
 *   cdf      fraction of training values below x: 0 up to the first knot, 1 above the last, linear
 *            in between
 *   log1p    (sgn(x) ln(1 + |x|) - item_mean) / item_sd
 *   mixture  weighted sum of these four, with weights per feature
 *
 * raw and zscore are clamped to +-1e18, so that a network with sane weights cannot overflow.
 * Missing values and infinities become 0. Each part is rounded to float, and their sum is computed
 * in double and rounded once, so training and scoring get identical bits. Not thread-safe.
 */
#ifndef EK_SCORE_TRANSFORM_H
#define EK_SCORE_TRANSFORM_H

#include "assets/model.h"

struct ek_transformer {
    const struct ek_model *model;
    double *log_mean, *log_scale; /* [F] item_mean and 1 / item_sd */
    float *part;                  /* [F] of log1p, then [F, EK_TRANSFORM_PARTS]; scratch */
};

/* Initialize a transformer. The model must outlive it. Return 0 or EK_ENOMEM. */
int ek_transformer_init(struct ek_transformer *t, const struct ek_model *m);
/* Free the memory of the transformer. */
void ek_transformer_release(struct ek_transformer *t);
/* Transform x [items, F] to rows of y, `stride` floats apart. Floats between rows of y stay
 * unchanged. */
void ek_transform(struct ek_transformer *t, const float *x, size_t items, float *y, size_t stride);
/* Compute part [F, EK_TRANSFORM_PARTS], the transforms of one item x [F] before weighting. The
 * model must be a mixture. */
void ek_transform_parts(struct ek_transformer *t, const float *x, float *part);
/* Return the weighted sum of part [EK_TRANSFORM_PARTS] with the weights share
 * [EK_TRANSFORM_PARTS]. */
float ek_transform_mix(const float *part, const float *share);

#endif
