/* Kernels of list_moments.h for each instruction set; for dispatch and tests.
 *
 * Every kernel returns the bits of the scalar one. Call a kernel only if ek_isa_has returns 1 for
 * it.
 */
#ifndef EK_NUM_LIST_MOMENTS_ISA_H
#define EK_NUM_LIST_MOMENTS_ISA_H

#include "num/isa.h"
#include "num/list_moments.h"

#include <stdint.h>

typedef void ek_list_moments_fn(struct ek_list_moments *s, const float *x, int rows,
                                const float *pivot);

/* Reference kernel, also used for fewer features than lanes. */
ek_list_moments_fn ek_list_moments_scalar;
ek_list_moments_fn ek_list_moments_portable;
#if defined(__x86_64__)
ek_list_moments_fn ek_list_moments_avx2, ek_list_moments_avx512;
#elif defined(__aarch64__)
ek_list_moments_fn ek_list_moments_neon;
#endif

/* Set s->pick to the rows whose pairs are compared for `tied`: all, or EK_PICKS_MAX of a longer
 * list. The choice does not depend on the order of the rows. */
void ek_list_moments_pick(struct ek_list_moments *s, const float *x, int rows);

/* Return the kernel for `isa`, or the portable one if this build has none. */
ek_list_moments_fn *ek_list_moments_fn_get(enum ek_isa isa);

/* ln m for m in [sqrt(1/2), sqrt(2)) as t + t^2 Q(t), t = m - 1. Minimax polynomial, |error| <
 * 3e-7. */
#define EK_LN_C2 -0.500014842f
#define EK_LN_C3 0.333155453f
#define EK_LN_C4 -0.248977661f
#define EK_LN_C5 0.204925686f
#define EK_LN_C6 -0.187617198f
#define EK_LN_C7 0.119864091f

/* ln 2 in two parts; the product of the high part and an exponent is exact. */
#define EK_LN2_HIGH 0.693359375f
#define EK_LN2_LOW  -2.12194440e-4f

enum {
    EK_BITS_MAGNITUDE = 0x7fffffff,
    EK_BITS_MANTISSA = 0x007fffff,
    EK_BITS_NORMAL = 0x00800000, /* smallest normal magnitude */
    EK_BITS_INF = 0x7f800000,
    EK_BITS_SQRT_HALF = 0x3f3504f3, /* bits of sqrt(1/2) */
};

#endif
