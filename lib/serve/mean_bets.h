/* Bets that the mean of values in 0 .. 1 lies above a bound.
 *
 * A bet multiplies its money by e = 1 + stake (x - bound), with stakes below 1 / bound, so e is
 * never negative. While each value expects at most `bound`, given those before it, e expects at
 * most 1, whatever the law of the values (Waudby-Smith and Ramdas 2024). The evidence is
 * Shiryaev-Roberts', R <- (R + 1) e, the mean over bets with stakes of several sizes: then R - n is
 * a supermartingale, the mean time until R reaches A is at least A values, and the chance that it
 * does within n values at most n / A.
 * Value type, no memory of its own. No time, no randomness.
 */
#ifndef EK_GUARD_MEAN_BETS_H
#define EK_GUARD_MEAN_BETS_H

#include <stdint.h>

enum { EK_MEAN_BETS = 5, EK_MEAN_UNITS = 20 };

struct ek_mean_bets {
    double bound;
    double r[EK_MEAN_BETS];
    /* Product of e since the value from which on it is largest (Page 1954), and the number of that.
     */
    double run[EK_MEAN_BETS];
    uint64_t since[EK_MEAN_BETS];
};

/* bound: above 0, below 1. */
void ek_mean_bets_start(struct ek_mean_bets *b, double bound);
/* Takes value x, which has that number. */
void ek_mean_bets_take(struct ek_mean_bets *b, double x, uint64_t number);
/* Values that came elsewhere, summed, in any order: adds ln e of a value, rounded down to units of
 * 2^-EK_MEAN_UNITS, to sum [EK_MEAN_BETS]; */
void ek_mean_bets_sum(int64_t *sum, double bound, double x);
/* and takes the sums of so many values at once: R <- (R + n) exp(sum). R - n is a supermartingale
 * still. Which value came first is not known of them. */
void ek_mean_bets_take_sums(struct ek_mean_bets *b, const int64_t *sum, uint64_t n);
double ek_mean_bets_evidence(const struct ek_mean_bets *b);
/* Where the values began that made the bet with the most evidence win, and in *most its evidence.
 */
uint64_t ek_mean_bets_since(const struct ek_mean_bets *b, double *most);

#endif
