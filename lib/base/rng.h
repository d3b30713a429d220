/* Random numbers that are the same on every machine for a seed (xoshiro256**, public domain
 * algorithm of Blackman and Vigna, seeded by splitmix64).
 *
 * Owner: the caller. Not for secrets. No call allocates or fails.
 */
#ifndef EK_BASE_RNG_H
#define EK_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct ek_rng {
    uint64_t s[4];
};

void ek_rng_seed(struct ek_rng *r, uint64_t seed);
/* An independent stream for (seed, stream): parts that draw separately do not disturb each other.
 */
void ek_rng_seed_stream(struct ek_rng *r, uint64_t seed, uint64_t stream);
uint64_t ek_rng_u64(struct ek_rng *r);
/* Uniform in [0, 1), 53 bits. */
double ek_rng_uniform(struct ek_rng *r);
/* Uniform in 0 .. n-1, without bias; n > 0. */
uint64_t ek_rng_uniform_int(struct ek_rng *r, uint64_t n);
/* Normal with mean 0, sd 1 (Marsaglia's polar method). */
double ek_rng_normal(struct ek_rng *r);
/* Exponential with mean 1. */
double ek_rng_exponential(struct ek_rng *r);
/* Standard Gumbel: -ln(-ln U). */
double ek_rng_gumbel(struct ek_rng *r);
/* Gamma with shape a >= 1, scale 1 (Marsaglia and Tsang 2000). */
double ek_rng_gamma(struct ek_rng *r, double a);
/* Uniformly random order of values[0 .. count-1] (Fisher and Yates). */
void ek_rng_shuffle(struct ek_rng *r, int *values, size_t count);

#endif
