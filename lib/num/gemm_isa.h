/* Kernels of gemm.h for each instruction set; for dispatch and tests. */
#ifndef EK_NUM_GEMM_ISA_H
#define EK_NUM_GEMM_ISA_H

#include "num/gemm.h"
#include "num/isa.h"

typedef void ek_gemm_fn(const struct ek_gemm *g);

ek_gemm_fn ek_gemm_portable;
#if defined(__x86_64__)
ek_gemm_fn ek_gemm_avx2, ek_gemm_avx512;
#elif defined(__aarch64__)
ek_gemm_fn ek_gemm_neon;
#endif

/* Return the kernel for `isa`, or the portable one if this build has none. */
ek_gemm_fn *ek_gemm_fn_get(enum ek_isa isa);

#endif
