/* The instruction sets behind list_stats.h, for the choice at run time and for tests; internal.
 *
 * Every function does what ek_list_stats_compute promises, with the bits of the scalar one. It may
 * be called only where ek_isa_has says so.
 */
#ifndef EK_NUM_LIST_STATS_ISA_H
#define EK_NUM_LIST_STATS_ISA_H

#include "num/isa.h"
#include "num/list_stats.h"

typedef void ek_list_stats_fn(const struct ek_list_sums *sums, int rows, const float *pivot,
                              struct ek_list_stats *records);

/* The reference, and what does fewer features than lanes. */
ek_list_stats_fn ek_list_stats_scalar;
ek_list_stats_fn ek_list_stats_portable;
#if defined(__x86_64__)
ek_list_stats_fn ek_list_stats_avx2, ek_list_stats_avx512;
#elif defined(__aarch64__)
ek_list_stats_fn ek_list_stats_neon;
#endif

/* The kernel for `isa`; the portable one where this program has none. */
ek_list_stats_fn *ek_list_stats_fn_get(enum ek_isa isa);

/* Smallest variance that has a spread: below, all values are equal but for rounding. */
#define EK_VARIANCE_MIN 6.2e-6f
#define EK_SPREAD_MIN   -6.0f

#endif
