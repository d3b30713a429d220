/* What traffic looks like beside training: the figures of one feature in one cell over one span.
 *
 * Counts and shares are of items. Quantiles and moments leave out what has none (see
 * num/sketch.h); a figure is NaN, and null in JSON, where nothing came that it could be of.
 * Plain values, no ownership.
 */
#ifndef EK_GUARD_VIEW_H
#define EK_GUARD_VIEW_H

#include "base/buf.h"
#include "num/divergence.h"

#include <stdbool.h>

enum { EK_QUANTILES = 7 };
/* Rising; 0.01 .. 0.99, the middle one is the median. */
extern const double ek_quantile_share[EK_QUANTILES];
enum { EK_MEDIAN = EK_QUANTILES / 2 };

/* Of live traffic or of training. */
struct ek_values {
    uint64_t items;
    double missing, zero, negative, infinite; /* shares of the items */
    double log_mean, log_sd;                  /* of ln|x| over finite non-zero values */
    double quantile[EK_QUANTILES];            /* of x over finite values */
};

/* What was said to be normal in the cell, beside what was trained. */
struct ek_accepted_view {
    double factor; /* of the scale; 1: as trained */
    bool in_part;  /* other scales are normal for some of its lists, as for lists of a segment */
};

struct ek_feature_view {
    uint64_t lists;
    struct ek_values values;
    double
        scale_ratio; /* geometric mean of |x| over what is normal: that of training, or accepted */
    struct ek_divergence divergence;
    struct ek_accepted_view accepted;
};

void ek_values_of(const struct ek_sketch *s, struct ek_values *out);
void ek_feature_view_of(const struct ek_sketch *s, uint64_t lists, const struct ek_bins *bins,
                        const struct ek_sketch *reference, const struct ek_values *training,
                        struct ek_feature_view *out);
/* How far psi is above what chance makes of that many items; -inf without items. For sorting. */
double ek_feature_view_moved(const struct ek_feature_view *v);
/* Appends a JSON object. EK_ENOMEM. */
int ek_values_json(struct ek_buf *out, const struct ek_values *v);
int ek_feature_view_json(struct ek_buf *out, const struct ek_feature_view *v);

#endif
