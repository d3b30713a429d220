#include "offline/select/nfs_chance.h"

#include <math.h>

/* ln C(n, k), 0 <= k <= n */
static double ln_choose(uint64_t n, uint64_t k)
{
    int sign;
    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign);
}

double ek_nfs_ln_probability(uint64_t features, uint64_t size, double threshold)
{
    if (size < 1 || size >= features)
        return -INFINITY;
    return ln_choose(features - 2, size - 1) + (double)(size - 1) * log1p(-threshold) +
           (double)(features - 1 - size) * log(threshold) - ln_choose(features, size);
}

/* Terms of a binomial from k on, away from the mode, as a multiple of the first. */
static double sum_up(double n, double k, double odds)
{
    double term = 1, sum = 1;
    for (; k < n && term > 1e-18 * sum; k++) {
        term *= (n - k) / (k + 1) * odds;
        sum += term;
    }
    return sum;
}

static double sum_down(double n, double k, double odds)
{
    double term = 1, sum = 1;
    for (; k > 0 && term > 1e-18 * sum; k--) {
        term *= k / (n - k + 1) / odds;
        sum += term;
    }
    return sum;
}

static double ln_term(uint64_t n, uint64_t k, double ln_p, double ln_q)
{
    return ln_choose(n, k) + (double)k * ln_p + (double)(n - k) * ln_q;
}

double ek_ln_binomial_tail(uint64_t n, double ln_p, uint64_t c)
{
    if (!c)
        return 0;
    if (c > n || ln_p == -INFINITY)
        return -INFINITY;
    double p = exp(ln_p), ln_q = log1p(-p), odds = p / (1 - p);
    if (p >= 1)
        return 0;
    if ((double)c > (double)n * p)
        return ln_term(n, c, ln_p, ln_q) + log(sum_up((double)n, (double)c, odds));
    double below = exp(ln_term(n, c - 1, ln_p, ln_q)) * sum_down((double)n, (double)(c - 1), odds);
    return log1p(-fmin(below, 1));
}

double ek_nfs_chance(uint64_t features, uint64_t size, double threshold, uint64_t maps,
                     uint64_t seen)
{
    double ln_p = ek_nfs_ln_probability(features, size, threshold);
    if (ln_p == -INFINITY)
        return seen ? 0 : 1;
    return exp(fmin(690, ln_choose(features, size) + ek_ln_binomial_tail(maps, ln_p, seen)));
}
