/* Feature scalings, fitted on training items and applied to any items.
 *
 * For a value x, with min, max, mean and population sd of the training values and d = x - min:
 *   minmax        d / (max - min)
 *   log           ln(d + 1) / ln(max - min + 1)
 *   log_reversed  the same with d = max - x
 *   arctan        (2 / pi) arctan(d)
 *   zscore        (x - mean) / sd
 *   cdf           fraction of training values strictly below x
 *   log1p         sgn(x) ln(1 + |x|)
 *   merge         minmax, log, arctan: three columns
 *   none          x
 *
 * Scalings extrapolate beyond the training range: linear ones continue, and ln(d + 1) continues for
 * d < 0 as -ln(1 - d). cdf is 0 or 1 there. If a feature is constant or has no value in training,
 * minmax, log, log_reversed and zscore are 0. Results are clamped to +-1e18. cdf is exact for up to
 * EK_SCALING_KNOTS distinct training values. Beyond, it interpolates between that many values, with
 * an error of at most 1 / EK_SCALING_KNOTS plus the fraction of one value. NaN and infinities are
 * missing: fits ignore them, and ek_scaling_apply writes `missing`.
 *
 * Rows of F features become rows of `columns`, in the order of the features; merge adds three.
 * Read-only after fitting, so threads may share it.
 */
#ifndef EK_OFFLINE_SCALE_SCALING_H
#define EK_OFFLINE_SCALE_SCALING_H

#include "lists/dataset.h"
#include "offline/scale/osm.h"
#include "offline/scale/values.h"
#include "schema/enum_names.h"

enum { EK_SCALING_KNOTS = 4096, EK_SCALING_MERGED = 3 };

struct ek_scaling;

/* Create scalings that keep the values of all features unchanged. Return 0 or EK_ENOMEM. */
int ek_scaling_new(struct ek_scaling **out, int features, struct ek_error *e);
void ek_scaling_free(struct ek_scaling *s);
/* Fit one feature and replace its scaling. Return 0, or EK_ENOMEM, which only cdf can cause. */
int ek_scaling_fit(struct ek_scaling *s, int feature, enum ek_transform_kind scale,
                   const struct ek_values *v, struct ek_error *e);
/* Create scalings by scale [F], fitted on the items of `train`, which is not kept. Return 0, or
 * EK_ENOMEM. */
int ek_scaling_get(struct ek_scaling **out, const struct ek_dataset *train,
                   const enum ek_transform_kind *scale, struct ek_error *e);

/* Return the number of columns of all features. */
size_t ek_scaling_columns(const struct ek_scaling *s);
/* Return the number of columns of one feature with this scaling. */
int ek_scale_columns(enum ek_transform_kind scale);
/* Return the scaling of column 0 .. ek_scale_columns - 1 of a feature: minmax, log or arctan for
 * merge, else `scale` itself. */
enum ek_transform_kind ek_scaling_part(enum ek_transform_kind scale, int column);
/* Set the columns of unscaled features in y to 0. Category codes have no meaning for a linear
 * ranker, and unscaled they prevent convergence. scale [F] must be that of the scaling. */
void ek_scaling_clear_unscaled(const struct ek_scaling *s, const enum ek_transform_kind *scale,
                               int features, size_t items, float *y);
/* Scale x [items, F] to y [items, columns]. `missing`, usually 0 or NaN, replaces missing values.
 */
void ek_scaling_apply(const struct ek_scaling *s, const float *x, size_t items, float missing,
                      float *y);
/* Return the scaled value of x by the scaling of a feature. `column` selects a column of merge,
 * else 0. */
double ek_scaling_value(const struct ek_scaling *s, int feature, int column, double x);

/* Method that selects the scaling of every feature: by values (fdm), by trials (osm), or one for
 * all. */
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

/* Return the names [EK_METHOD_COUNT] in options and manifests, a static array. */
const char *const *ek_method_names(void);
/* Return the common scaling of a method; EK_SCALE_NONE for fdm and osm. */
enum ek_transform_kind ek_method_scale(enum ek_method method);
/* Select scale [F] by the lists of `train`; a category (o->category) has none with any method. Only
 * osm uses `vali` and the rest of `o`. Return 0, EK_ENOMEM, or an error of ek_osm. */
int ek_method_scales(enum ek_method method, const struct ek_dataset *train,
                     const struct ek_dataset *vali, const struct ek_osm_options *o,
                     enum ek_transform_kind *scale, struct ek_error *e);

#endif
