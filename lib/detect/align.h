/* Maximum likelihood fit of the shift of residuals against training, and of the fraction of lists
 * that shifted.
 *
 * Maximizes over the shift s (ln), the fraction q and the error b of the level before the change
 *   sum ln((1 - q) g(r - b) + q g(r - b - s)) - b^2 / (2 sigma^2),
 * where g is the training density of the residual and sigma the standard error of that level.
 * Residuals are binned first, so the cost hardly depends on the number of lists.
 *
 * Small shifts of all traffic are more common than large shifts of a fraction. A shift of all lists
 * by at most `whole_ln` (q = 1, b = 0) is therefore preferred, unless a fraction explains the lists
 * e^6 times as well.
 *
 * The interval is the profile likelihood interval (Venzon and Moolgavkar 1988): all s at which the
 * best (q, b) loses at most 1.92 ln likelihood. It includes the uncertainty of q and b and may be
 * asymmetric.
 */
#ifndef EK_DETECT_ALIGN_H
#define EK_DETECT_ALIGN_H

#include "assets/residual_grid.h"

/* Residuals as counts per density bin. */
struct ek_residuals {
    int lists, bins;
    int at[EK_DENSITY_BINS];       /* [bins] occupied bins, ascending */
    double count[EK_DENSITY_BINS]; /* [bins] */
};

/* Set *h to the counts of the residuals r [count], all finite, per bin. */
void ek_residuals_get(struct ek_residuals *h, const float *r, int count);

/* Prior knowledge about the lists. */
struct ek_align_known {
    double level_error; /* sigma, standard error of the level subtracted from the residuals; 0:
                         * exact */
    double repetition;  /* design effect: lists that carry the information of one independent list;
                         * >= 1 */
    double whole_ln;    /* ln, size of shifts that all lists show at times; 0: unknown */
};

struct ek_alignment {
    double shift_ln, share;
    double gain_ln;         /* ln likelihood ratio against no shift */
    double low_ln, high_ln; /* 95% interval of the shift */
    double error_ln;        /* half the interval over 1.96 */
};

/* Return the fit under density [EK_DENSITY_BINS]. Without a likely shift, every field is 0 except
 * error_ln, low_ln and high_ln. */
struct ek_alignment ek_align(const float *density, const struct ek_residuals *h,
                             const struct ek_align_known *known);

/* Return the ln likelihood above (see the header) for shift s, fraction q = share and level b,
 * relative to b = s = 0. */
double ek_align_gain(const float *density, const struct ek_residuals *h, double shift_ln,
                     double share, double level_ln, double level_error);

/* Return the level of lists without a shift: the maximum of b under the prior 0 +- level_error. Set
 * *error to its standard error. */
double ek_align_level(const float *density, const struct ek_residuals *h, double level_error,
                      double *error);

/* Return the ln likelihood ratio against no shift when each list has a known shift, such as the ln
 * of a query feature. offset [count] holds these shifts, in ln. */
double ek_align_by_list(const float *density, const float *r, const float *offset, int count);

#endif
