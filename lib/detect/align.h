/* Alignment: by how much, and in what share of the lists, residuals have moved against training.
 *
 * Maximises over the shift s (ln), the share q and the error b of the level before the change
 *   sum ln((1 - q) g(r - b) + q g(r - b - s)) - b^2 / (2 sigma^2),
 * g the training density of the residual and sigma how well that level is known. Residuals are
 * counted in the bins of the density first, so the cost hardly grows with the lists.
 *
 * All traffic moves a little now and then; a part of the lists moving by much is rarer. So a shift
 * of all lists by at most `whole_ln` is preferred (q = 1, b = 0) unless a share explains the lists
 * e^6 times as well.
 *
 * The interval is that of the profile likelihood: all s whose best (q, b) loses at most 1.92 of the
 * ln likelihood (Venzon and Moolgavkar 1988), so that it knows what is not known about share and
 * level; it need not be symmetrical.
 */
#ifndef EK_DETECT_ALIGN_H
#define EK_DETECT_ALIGN_H

#include "assets/residual_grid.h"

/* Residuals as counts per bin of the density. */
struct ek_residuals {
    int lists, bins;
    int at[EK_DENSITY_BINS];       /* [bins] occupied bins, ascending */
    double count[EK_DENSITY_BINS]; /* [bins] */
};

/* r [count], finite. */
void ek_residuals_get(struct ek_residuals *h, const float *r, int count);

/* What is known beside the residuals. */
struct ek_align_known {
    double level_error; /* sigma, standard error of the level taken off the residuals; 0: exact */
    double repetition;  /* lists that say the same as one independent list (design effect); >= 1 */
    double whole_ln;    /* all lists move together by that much at times; 0: not known */
};

struct ek_alignment {
    double shift_ln, share;
    double gain_ln;         /* ln likelihood ratio against no shift */
    double low_ln, high_ln; /* 95% interval of the shift */
    double error_ln;        /* standard error of the shift: of an interval that long */
};

/* density [EK_DENSITY_BINS]. Without a likely shift all but error_ln, low_ln and high_ln is 0. */
struct ek_alignment ek_align(const float *density, const struct ek_residuals *h,
                             const struct ek_align_known *known);

/* The ln likelihood above, against that of b = s = 0. */
double ek_align_gain(const float *density, const struct ek_residuals *h, double shift_ln,
                     double share, double level_ln, double level_error);

/* Level of lists in which nothing has shifted, relative to what was taken off their residuals:
 * the most likely b, given that it is 0 +- level_error. *error: its standard error. */
double ek_align_level(const float *density, const struct ek_residuals *h, double level_error,
                      double *error);

/* The same with the shift of each list known up to nothing: offsets [count] (ln) are what a query
 * feature would have multiplied. Returns the ln likelihood ratio against no shift. */
double ek_align_by_list(const float *density, const float *r, const float *offset, int count);

#endif
