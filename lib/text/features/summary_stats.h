/* Summary statistics: sums, extremes, moments, quartiles.
 *
 * Inputs are n numbers without NaN. For n = 0 all results are NaN. Variance divides by n. Quartiles
 * interpolate like numpy's default (Hyndman and Fan 1996, type 7). Thread-safe.
 */
#ifndef EK_TEXT_FEATURES_SUMMARY_STATS_H
#define EK_TEXT_FEATURES_SUMMARY_STATS_H

#include <stddef.h>

struct ek_summary_stats {
    double sum, min, max, mean, variance;
};

/* Return the statistics of x [n]. */
struct ek_summary_stats ek_summary_stats_compute(const double *x, size_t n);

struct ek_quartiles {
    double q1, median, q3;
};

/* Return the quartiles of x [n], which is reordered. */
struct ek_quartiles ek_quartiles_compute(double *x, size_t n);

/* Return n / sum(1/x), or NAN unless all values have the same sign. */
double ek_harmonic_mean(const double *x, size_t n);
/* Return exp(mean(ln x)), or NAN unless all values are positive. */
double ek_geometric_mean(const double *x, size_t n);

#endif
