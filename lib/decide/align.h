/* Alignment: by how much, and in what share of the lists, residuals have moved against training.
 *
 * Maximises sum ln((1 - q) g(r) + q g(r - s)) over the shift s (ln) and the share q, g the training
 * density of the residual: a coarse grid over both, then expectation-maximisation on q with a local
 * search on s. The standard error comes from the curvature at the top.
 */
#ifndef EK_DECIDE_ALIGN_H
#define EK_DECIDE_ALIGN_H

#include "data/residual.h"

struct ek_alignment {
    double shift_ln, share;
    double gain_ln;  /* ln likelihood ratio against no shift */
    double error_ln; /* standard error of the shift; 9 when there is no curvature */
};

/* density [EK_DENSITY_BINS]; r [count] residuals, tracked level removed, finite. */
struct ek_alignment ek_align(const float *density, const float *r, int count);

/* The same with the shift of each list known up to nothing: offsets [count] (ln) are what a query
 * feature would have multiplied. Returns the ln likelihood ratio against no shift. */
double ek_align_known(const float *density, const float *r, const float *offset, int count);

/* Share of lists that moved by shift_ln, from r alone (expectation-maximisation). */
double ek_align_share(const float *density, const float *r, int count, double shift_ln);

#endif
