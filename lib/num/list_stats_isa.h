/* Kernels of list_stats.h for each instruction set; for dispatch and tests.
 *
 * Every kernel returns the bits of the scalar one. Call a kernel only if ek_isa_has returns 1 for
 * it.
 */
#ifndef EK_NUM_LIST_STATS_ISA_H
#define EK_NUM_LIST_STATS_ISA_H

#include "num/isa.h"
#include "num/list_stats.h"

typedef void ek_list_stats_fn(const struct ek_list_moments *sums, int rows, const float *pivot,
                              struct ek_list_stats *records);

/* Reference kernel, also used for fewer features than lanes. */
ek_list_stats_fn ek_list_stats_scalar;
ek_list_stats_fn ek_list_stats_portable;
#if defined(__x86_64__)
ek_list_stats_fn ek_list_stats_avx2, ek_list_stats_avx512;
#elif defined(__aarch64__)
ek_list_stats_fn ek_list_stats_neon;
#endif

/* Return the kernel for `isa`, or the portable one if this build has none. */
ek_list_stats_fn *ek_list_stats_fn_get(enum ek_isa isa);

#endif
