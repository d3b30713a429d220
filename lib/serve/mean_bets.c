#include "serve/mean_bets.h"

#include <math.h>

/* Of the largest stake there is, 1 / bound: the larger a move and the less the values scatter, the
 * more a large one gains. */
static const double STAKE[EK_MEAN_BETS] = {1. / 16, 1. / 8, 1. / 4, 1. / 2, 7. / 8};

void ek_mean_bets_start(struct ek_mean_bets *b, double bound)
{
    *b = (struct ek_mean_bets){.bound = bound};
}

static double gain(int bet, double bound, double x)
{
    return 1 + STAKE[bet] * (x / bound - 1);
}

void ek_mean_bets_take(struct ek_mean_bets *b, double x, uint64_t number)
{
    for (int i = 0; i < EK_MEAN_BETS; i++) {
        double e = gain(i, b->bound, x);
        if (b->run[i] <= 1) {
            b->run[i] = 1;
            b->since[i] = number;
        }
        b->run[i] *= e;
        b->r[i] = (b->r[i] + 1) * e;
    }
}

void ek_mean_bets_sum(int64_t *sum, double bound, double x)
{
    for (int i = 0; i < EK_MEAN_BETS; i++)
        sum[i] += (int64_t)floor(ldexp(log(gain(i, bound, x)), EK_MEAN_UNITS));
}

void ek_mean_bets_take_sums(struct ek_mean_bets *b, const int64_t *sum, uint64_t n)
{
    for (int i = 0; i < EK_MEAN_BETS; i++)
        b->r[i] = (b->r[i] + (double)n) * exp(ldexp((double)sum[i], -EK_MEAN_UNITS));
}

double ek_mean_bets_evidence(const struct ek_mean_bets *b)
{
    double sum = 0;
    for (int i = 0; i < EK_MEAN_BETS; i++)
        sum += b->r[i];
    return sum / EK_MEAN_BETS;
}

uint64_t ek_mean_bets_since(const struct ek_mean_bets *b, double *most)
{
    int best = 0;
    for (int i = 1; i < EK_MEAN_BETS; i++)
        if (b->r[i] > b->r[best])
            best = i;
    *most = b->r[best];
    return b->since[best];
}
