#include "num/ln.h"

#include "num/ln_isa.h"

ek_ln_fn *ek_ln_fn_of(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_ln_avx512;
    case EK_ISA_AVX2:
        return ek_ln_avx2;
#endif
    default:
        return ek_ln_portable;
    }
}

void ek_ln_of(const double *x, double *y, size_t count)
{
    ek_ln_fn_of(ek_isa_best())(x, y, count);
}
