/* How numbers are spread: sums, extremes, moments, quartiles.
 *
 * Shapes: n numbers, none of them NaN. Of no numbers at all everything is NaN. Variances are those
 * of the numbers themselves (divided by n). Quartiles lie between two numbers as numpy has it by
 * default (Hyndman and Fan 1996, type 7). Pure; any thread.
 */
#ifndef EK_TEXT_FEATURES_SUMMARY_STATS_H
#define EK_TEXT_FEATURES_SUMMARY_STATS_H

#include <stddef.h>

struct ek_summary_stats {
    double sum, min, max, mean, variance;
};

struct ek_summary_stats ek_summary_stats_compute(const double *x, size_t n);

struct ek_quartiles {
    double q1, median, q3;
};

/* Changes the order of x. */
struct ek_quartiles ek_quartiles_compute(double *x, size_t n);

/* n / sum(1/x). NaN unless all have one sign: there is no such mean otherwise. */
double ek_harmonic_mean(const double *x, size_t n);
/* exp(mean(ln x)). NaN unless all are above 0. */
double ek_geometric_mean(const double *x, size_t n);

#endif
