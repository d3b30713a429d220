#include "base/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void ek_rng_seed(struct ek_rng *r, uint64_t seed)
{
    ek_rng_seed_stream(r, seed, 0);
}

void ek_rng_seed_stream(struct ek_rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t mix = stream, state = seed ^ splitmix(&mix);
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&state);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t ek_rng_u64(struct ek_rng *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double ek_rng_uniform(struct ek_rng *r)
{
    return (double)(ek_rng_u64(r) >> 11) * 0x1p-53;
}

uint64_t ek_rng_uniform_int(struct ek_rng *r, uint64_t n)
{
    uint64_t reject = (0 - n) % n, x;
    do
        x = ek_rng_u64(r);
    while (x < reject);
    return x % n;
}

double ek_rng_normal(struct ek_rng *r)
{
    double u, v, s;
    do {
        u = 2 * ek_rng_uniform(r) - 1;
        v = 2 * ek_rng_uniform(r) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

double ek_rng_exponential(struct ek_rng *r)
{
    return -log1p(-ek_rng_uniform(r));
}

double ek_rng_gumbel(struct ek_rng *r)
{
    double e;
    do
        e = ek_rng_exponential(r);
    while (e == 0);
    return -log(e);
}

double ek_rng_gamma(struct ek_rng *r, double a)
{
    double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = ek_rng_normal(r), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log1p(-ek_rng_uniform(r)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

void ek_rng_shuffle(struct ek_rng *r, int *values, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)ek_rng_uniform_int(r, i);
        int held = values[i - 1];
        values[i - 1] = values[j];
        values[j] = held;
    }
}
