#include "num/gemm.h"

#include "num/gemm_isa.h"

ek_gemm_fn *ek_gemm_fn_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_gemm_avx512;
    case EK_ISA_AVX2:
        return ek_gemm_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return ek_gemm_neon;
#endif
    default:
        return ek_gemm_portable;
    }
}

void ek_gemm(const struct ek_gemm *g)
{
    ek_gemm_fn_get(ek_isa_best())(g);
}
