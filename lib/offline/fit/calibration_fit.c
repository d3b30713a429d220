#include "offline/fit/calibration_fit.h"

#include <math.h>
#include <string.h>

enum { LISTS_FOR_CALIBRATION = 30 };

/* Sums and sums of squares of the bets, by stratum. */
static void add_up(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                   const float *level)
{
    struct ek_feature_bets bets;
    ek_feature_bets_fill(&bets, fit->tables, b);
    memset(fit->count, 0, (size_t)fit->strata * sizeof *fit->count);
    memset(fit->moments, 0, (size_t)fit->strata * 2 * EK_BETS * sizeof *fit->moments);
    for (size_t q = 0; q < fit->queries; q++) {
        double *sum = fit->moments + (size_t)fit->stratum[q] * 2 * EK_BETS;
        float e[EK_BETS];
        ek_bets_of(fit->tables, &bets, b, &fit->record[q],
                   (float)ek_baseline_fit_residual(fit, level, q), e);
        for (int i = 0; i < EK_BETS; i++) {
            sum[i] += e[i];
            sum[EK_BETS + i] += (double)e[i] * e[i];
        }
        fit->count[fit->stratum[q]]++;
    }
}

static double shrunk(double sum, double squares, double count)
{
    if (count < LISTS_FOR_CALIBRATION)
        return 1;
    double mean = sum / count, excess = mean - 1;
    double variance = fmax(squares / count - mean * mean, 0) / (count - 1);
    return excess > 0 ? 1 + fmax(excess - variance / excess, 0) : 1;
}

void ek_calibration_fit(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                        const float *level, const double *least, float *calibration)
{
    add_up(fit, b, level);
    for (int s = 0; s < fit->strata; s++) {
        const double *sum = fit->moments + (size_t)s * 2 * EK_BETS;
        for (int i = 0; i < EK_BETS; i++)
            calibration[s * EK_CALIBRATED + i] =
                (float)fmax(shrunk(sum[i], sum[EK_BETS + i], fit->count[s]), least[i]);
    }
}
