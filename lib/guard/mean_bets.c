#include "guard/mean_bets.h"

/* Of the largest stake there is, 1 / bound: the larger a move and the less the values scatter, the
 * more a large one gains. */
static const double STAKE[EK_MEAN_BETS] = {1. / 16, 1. / 8, 1. / 4, 1. / 2, 7. / 8};

void ek_mean_bets_start(struct ek_mean_bets *b, double bound)
{
    *b = (struct ek_mean_bets){.bound = bound};
}

void ek_mean_bets_take(struct ek_mean_bets *b, double x, uint64_t number)
{
    for (int i = 0; i < EK_MEAN_BETS; i++) {
        double e = 1 + STAKE[i] * (x / b->bound - 1);
        if (b->run[i] <= 1) {
            b->run[i] = 1;
            b->since[i] = number;
        }
        b->run[i] *= e;
        b->r[i] = (b->r[i] + 1) * e;
    }
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
