/* One body for every vector width: the including file sets EK_LANES, a power of two, and EK_KERNEL,
 * the name.
 *
 * x = 2^e m with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1): ln x = e ln 2 + 2 atanh s. The
 * series of atanh ends after s^19: what is left out is below 3e-17 of it.
 */
#include "num/ln_isa.h"

#include <stdint.h>
#include <string.h>

typedef double lanes_d __attribute__((vector_size(EK_LANES * 8)));
typedef uint64_t lanes_u __attribute__((vector_size(EK_LANES * 8)));

#define MANTISSA  0x000fffffffffffffu
#define ONE       0x3ff0000000000000u
#define SQRT_HALF 0x3fe6a09e667f3bcdu /* bits of sqrt(1/2) */
#define TWO_52    0x4330000000000000u /* bits of 2^52: an integer below it goes into the mantissa */
#define LN2_HIGH  0x1.62e42fefap-1    /* an exponent times it is exact */
#define LN2_LOW   0x1.cf79abc9e3b39p-40

static inline __attribute__((always_inline)) lanes_d ln_lanes(lanes_d x)
{
    /* Offset so that the mantissa wraps at sqrt(2); the bias keeps the shift unsigned. */
    lanes_u bits = (lanes_u)x + (ONE - SQRT_HALF);
    lanes_d e = (lanes_d)((bits >> 52) | TWO_52) - (0x1p52 + 1023);
    lanes_d m = (lanes_d)((bits & MANTISSA) + SQRT_HALF);
    lanes_d s = (m - 1) / (m + 1), s2 = s * s;
    lanes_d p = s2 * (1.0 / 19) + 1.0 / 17;
    p = p * s2 + 1.0 / 15;
    p = p * s2 + 1.0 / 13;
    p = p * s2 + 1.0 / 11;
    p = p * s2 + 1.0 / 9;
    p = p * s2 + 1.0 / 7;
    p = p * s2 + 1.0 / 5;
    p = p * s2 + 1.0 / 3;
    lanes_d twice = s + s;
    return e * LN2_HIGH + (twice + (twice * s2 * p + e * LN2_LOW));
}

void EK_KERNEL(const double *x, double *y, size_t count)
{
    lanes_d v;
    size_t i = 0;
    for (; i + EK_LANES <= count; i += EK_LANES) {
        memcpy(&v, x + i, sizeof v);
        v = ln_lanes(v);
        memcpy(y + i, &v, sizeof v);
    }
    if (i == count)
        return;
    double rest[EK_LANES];
    for (size_t j = 0; j < EK_LANES; j++)
        rest[j] = i + j < count ? x[i + j] : 1;
    memcpy(&v, rest, sizeof v);
    v = ln_lanes(v);
    memcpy(y + i, &v, (count - i) * sizeof *y);
}
