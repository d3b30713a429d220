/* Scalings of features, fitted on training items and applied to any.
 *
 * Of a value x, with min, max, mean and population sd of the training values, d = x - min:
 *   minmax        d / (max - min)
 *   log           ln(d + 1) / ln(max - min + 1)
 *   log_reversed  the same of d = max - x
 *   arctan        (2 / pi) arctan(d)
 *   zscore        (x - mean) / sd
 *   cdf           the share of training values strictly below x
 *   log1p         sgn(x) ln(1 + |x|)
 *   merge         minmax, log, arctan: three columns
 *   none          x
 * Beyond the training range nothing is cut: lines go on, and ln(d + 1) goes on for d < 0 as
 * -ln(1 - d), its mirror image, so that it neither ends at -1 nor stops rising. cdf is 0 and 1
 * there. A feature that is constant in training, or has no value, has 0 for minmax, log,
 * log_reversed and zscore: how far another value is away cannot be said without a unit. Results are
 * cut at +-1e18. cdf is exact for up to EK_SCALING_KNOTS different training values; of more, that
 * many are kept and the share is linear in between, off by no more than 1 / EK_SCALING_KNOTS and
 * the share of one value.
 * NaN and infinities are missing: left out of fits, and `missing` afterwards.
 *
 * Shapes: rows of F features become rows of `columns`, merge being three of them, in the order of
 * the features. Owner: the caller, ek_scaling_free. Threads: read-only once fitted.
 */
#ifndef EK_OFFLINE_SCALE_SCALING_H
#define EK_OFFLINE_SCALE_SCALING_H

#include "lists/dataset.h"
#include "offline/scale/osm.h"
#include "offline/scale/values.h"
#include "schema/transform_names.h"

enum { EK_SCALING_KNOTS = 4096, EK_SCALING_MERGED = 3 };

struct ek_scaling;

/* All features as they are. EK_ENOMEM. */
int ek_scaling_new(struct ek_scaling **out, int features, struct ek_error *e);
void ek_scaling_free(struct ek_scaling *s);
/* Fits one feature, which had another scale before or none. Memory for cdf only: EK_ENOMEM. */
int ek_scaling_fit(struct ek_scaling *s, int feature, enum ek_transform_kind scale,
                   const struct ek_values *v, struct ek_error *e);
/* All of them on the items of `train`: scale [F]. EK_ENOMEM. */
int ek_scaling_get(struct ek_scaling **out, const struct ek_dataset *train,
                   const enum ek_transform_kind *scale, struct ek_error *e);

size_t ek_scaling_columns(const struct ek_scaling *s);
/* How many columns a feature becomes, and how one of them is made. */
int ek_scale_columns(enum ek_transform_kind scale);
enum ek_transform_kind ek_scaling_part(enum ek_transform_kind scale, int column);
/* Sets columns of y to 0 that come from features left as they are: codes say nothing to a linear
 * ranker, and unscaled it would not settle on them. scale [F] is that of the scaling. */
void ek_scaling_clear_unscaled(const struct ek_scaling *s, const enum ek_transform_kind *scale,
                               int features, size_t items, float *y);
/* x [items, F] to y [items, columns]; missing: what missing values become, 0 or NaN as a rule. */
void ek_scaling_apply(const struct ek_scaling *s, const float *x, size_t items, float missing,
                      float *y);
/* One value of one feature; column: of merge, else 0. */
double ek_scaling_value(const struct ek_scaling *s, int feature, int column, double x);

/* Ways to give every feature its scaling: by its values (fdm), by trying (osm), or one for all.
 *
 * Threads: no state. Owner: the caller.
 */
enum ek_method {
    EK_METHOD_FDM,
    EK_METHOD_OSM,
    EK_METHOD_MINMAX,
    EK_METHOD_LOG,
    EK_METHOD_ARCTAN,
    EK_METHOD_ZSCORE,
    EK_METHOD_CDF,
    EK_METHOD_LOG1P,
    EK_METHOD_MERGE,
    EK_METHOD_COUNT
};

/* [EK_METHOD_COUNT], as options and manifests spell them. */
const char *const *ek_method_names(void);
/* The scaling that a method has for all features; EK_SCALE_NONE of fdm and osm. */
enum ek_transform_kind ek_method_scale(enum ek_method method);
/* scale [F], by the lists of `train`; a category (o->category) has none
 * whatever the method. All else of o, and vali, is looked at by osm only. What ek_osm fails with,
 * or EK_ENOMEM. */
int ek_method_scales(enum ek_method method, const struct ek_dataset *train,
                     const struct ek_dataset *vali, const struct ek_osm_options *o,
                     enum ek_transform_kind *scale, struct ek_error *e);

#endif
