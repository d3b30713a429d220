/* Reproducible random numbers for a seed (xoshiro256**, public domain algorithm of Blackman and
 * Vigna, seeded by splitmix64). Not cryptographic. No call allocates or fails. */
#ifndef EK_BASE_RNG_H
#define EK_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct ek_rng {
    uint64_t s[4];
};

/* Seed the generator. */
void ek_rng_seed(struct ek_rng *r, uint64_t seed);
/* Seed the generator with a stream that is independent for each pair (seed, stream). */
void ek_rng_seed_stream(struct ek_rng *r, uint64_t seed, uint64_t stream);
/* Return 64 random bits. */
uint64_t ek_rng_u64(struct ek_rng *r);
/* Return a uniform number in [0, 1), 53 bits. */
double ek_rng_uniform(struct ek_rng *r);
/* Return a uniform integer in 0 .. n-1, unbiased; n > 0. */
uint64_t ek_rng_uniform_int(struct ek_rng *r, uint64_t n);
/* Return a normal number with mean 0 and sd 1 (Marsaglia's polar method). */
double ek_rng_normal(struct ek_rng *r);
/* Return an exponential number with mean 1. */
double ek_rng_exponential(struct ek_rng *r);
/* Return a standard Gumbel number: -ln(-ln U). */
double ek_rng_gumbel(struct ek_rng *r);
/* Return a gamma number with shape a >= 1, scale 1 (Marsaglia and Tsang 2000). */
double ek_rng_gamma(struct ek_rng *r, double a);
/* Shuffle values[0 .. count-1] uniformly (Fisher and Yates). */
void ek_rng_shuffle(struct ek_rng *r, int *values, size_t count);

#endif
