#include "num/isa.h"

/* The build can exclude wider instruction sets (make ISA=...). */
#ifndef EK_ISA_WIDEST
#define EK_ISA_WIDEST (EK_ISAS - 1)
#endif

int ek_isa_has(enum ek_isa isa)
{
    switch (isa) {
    case EK_ISA_PORTABLE:
        return 1;
#if defined(__aarch64__)
    case EK_ISA_NEON:
        return 1;
#elif defined(__x86_64__)
    case EK_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case EK_ISA_AVX512:
        return ek_isa_has(EK_ISA_AVX2) && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl");
#endif
    default:
        return 0;
    }
}

enum ek_isa ek_isa_best(void)
{
    enum ek_isa isa = EK_ISA_WIDEST;
    while (!ek_isa_has(isa))
        isa--;
    return isa;
}

const char *ek_isa_name(enum ek_isa isa)
{
    static const char *const names[EK_ISAS] = {"portable", "neon", "avx2", "avx512"};
    return names[isa];
}
