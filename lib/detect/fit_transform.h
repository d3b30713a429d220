/* Transformations that explain a change of spread, scored by likelihood.
 *
 * Each explanation undoes its transformation on the level and spread of a list. Its worth is the ln
 * likelihood of the result under training, relative to the unchanged lists. The likelihood is the
 * residual density times a normal distribution of the spread by list size. Both include a small
 * uniform part, so that no single list decides.
 *
 * A power shifts a list in proportion to its level. An offset shifts a list less the higher its
 * level is. A change of shape does not shift it. A factor on some items is independent of the
 * stratum. The penalty is half a ln(lists) per free parameter (Schwarz 1978).
 */
#ifndef EK_DETECT_FIT_TRANSFORM_H
#define EK_DETECT_FIT_TRANSFORM_H

#include "assets/residual_grid.h"
#include "num/list_stats.h"

enum { EK_EXPLAIN_LISTS = 192 };

/* The most recent lists. Arrays hold `lists` entries. */
struct ek_fit_target {
    const float *density;
    int lists;
    double level[EK_EXPLAIN_LISTS];   /* ln, as received */
    double usual[EK_EXPLAIN_LISTS];   /* ln, expected by training */
    double move[EK_EXPLAIN_LISTS];    /* ln spread relative to training; NaN: unknown */
    double sd[EK_EXPLAIN_LISTS];      /* of `move` in training */
    double spread[EK_EXPLAIN_LISTS];  /* sd of the ln values; the typical one if unknown */
    double typical[EK_EXPLAIN_LISTS]; /* spread in training */
    int items[EK_EXPLAIN_LISTS];      /* usable values */
    double inv_sd[EK_EXPLAIN_LISTS];  /* 1 / sd */
    double peak[EK_EXPLAIN_LISTS];    /* of the spread density */
    double normal[EK_EXPLAIN_LISTS];  /* training density of the list as received */
};

struct ek_explanation {
    double worth; /* ln likelihood ratio minus the penalty */
    double value; /* exponent, factor, offset, ratio of spreads or fraction of items */
    double share; /* fraction of lists */
};

/* Compute the members `inv_sd`, `peak` and `normal` of *t from its other members. Call before the
 * functions below. */
void ek_fit_target_prepare(struct ek_fit_target *t);

/* Return the best fit of one factor near exp(about_ln). */
struct ek_explanation ek_explain_scale(const struct ek_fit_target *t, double about_ln);
/* Return the best fit of an exponent. */
struct ek_explanation ek_explain_power(const struct ek_fit_target *t);
/* Return the best fit of an offset. */
struct ek_explanation ek_explain_offset(const struct ek_fit_target *t);
/* Return the best fit of an unspecific change of shape, of lists with levels shifted by shift_ln,
 * usually 0. */
struct ek_explanation ek_explain_shape(const struct ek_fit_target *t, double shift_ln);
/* Return the best fit of items multiplied by one factor, each with the same probability (`value`).
 * Lists of one size and baseline must have the same `typical` and `sd`. */
struct ek_explanation ek_explain_items(const struct ek_fit_target *t);

/* Distribution of the spread: normal, plus a uniform part. */
#define EK_UNEXPLAINED  .02 /* uniform part, as a fraction of lists */
#define EK_SPREAD_RANGE 8.  /* ln, width of the uniform part */
#define EK_SPREAD_PEAK  ((1 - EK_UNEXPLAINED) * .39894228040143268) /* multiply by 1 / sd */

#endif
