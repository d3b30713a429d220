/* What chance alone makes of groups of features; the null model of choose/nfs.h.
 *
 * A random map: the saliencies of F features are independent and of one continuous law, say
 * uniform, and min-max normalised. The highest is 1 and the lowest 0, the other F - 2 are then
 * independent and uniform on [0, 1]. So the number of features above a threshold t is 1 + a
 * binomial of F - 2 and 1 - t, every set of that size is as likely as any other, and a set of g is
 * the group with probability
 *
 *   p(g) = C(F - 2, g - 1) (1 - t)^(g - 1) t^(F - 1 - g) / C(F, g),   1 <= g < F
 *
 * Among n random maps that set is the group a binomial number of times, of n and p(g). A set that
 * was seen c times is one of C(F, g) that might have been; large F has so many that some large set
 * is always seen once. Hence the expected number of sets of that size that are seen as often:
 *
 *   C(F, g) P(Binomial(n, p(g)) >= c)
 *
 * which is at least the probability that chance shows any of them so often. Threads: no state.
 */
#ifndef EK_CHOOSE_NFS_CHANCE_H
#define EK_CHOOSE_NFS_CHANCE_H

#include <stdint.h>

/* p(g) as a logarithm; -INFINITY for g < 1 and g >= F. 0 < threshold < 1. */
double ek_nfs_ln_probability(uint64_t features, uint64_t size, double threshold);
/* ln P(Binomial(n, p) >= c), to about 1e-10 relative. */
double ek_ln_binomial_tail(uint64_t n, double ln_p, uint64_t c);
/* The expected number above, at most 1e300. */
double ek_nfs_chance(uint64_t features, uint64_t size, double threshold, uint64_t maps,
                     uint64_t seen);

#endif
