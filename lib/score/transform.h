/* What the deep part sees of item features, before routing (docs/format/model.md).
 *
 *   raw     x
 *   zscore  (x - raw_mean) / raw_sd
 *   cdf     the share of training values strictly below x: 0 up to the first knot, 1 above the
 * last, linear in between log1p   (sgn(x) ln(1 + |x|) - item_mean) / item_sd mixture the weighted
 * sum of these four, with a feature's own weights
 *
 * Raw and zscore are cut at +-1e18, so that a network of sane weights cannot overflow. Missing
 * values and infinities give 0. Each part is rounded to float32, their sum is taken in double and
 * rounded once: training and scoring get the same bits. Owner: the caller. Threads: one each.
 */
#ifndef EK_SCORE_TRANSFORM_H
#define EK_SCORE_TRANSFORM_H

#include "assets/model.h"

struct ek_transformer {
    const struct ek_model *model;
    double *log_mean, *log_scale; /* [F] item_mean and 1 / item_sd */
    float *part;                  /* [F] by log1p, then [F, EK_TRANSFORM_PARTS]; scratch */
};

/* The model must outlive it. EK_ENOMEM. */
int ek_transformer_init(struct ek_transformer *t, const struct ek_model *m);
void ek_transformer_release(struct ek_transformer *t);
/* Items x [items, F] to rows of y, `stride` floats apart. */
void ek_transform(struct ek_transformer *t, const float *x, size_t items, float *y, size_t stride);
/* All parts of a mixture of one item: part [F, EK_TRANSFORM_PARTS]. The model must be of that kind.
 */
void ek_transform_parts(struct ek_transformer *t, const float *x, float *part);
/* part and share [EK_TRANSFORM_PARTS]. */
float ek_transform_mix(const float *part, const float *share);

#endif
