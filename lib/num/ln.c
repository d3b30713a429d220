#include "num/ln.h"

#include "num/ln_isa.h"

const struct ek_ln_kernels *ek_ln_kernels_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return &ek_ln_avx512;
    case EK_ISA_AVX2:
        return &ek_ln_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return &ek_ln_neon;
#endif
    default:
        return &ek_ln_portable;
    }
}

void ek_ln_compute(const double *x, double *y, size_t count)
{
    ek_ln_kernels_get(ek_isa_best())->of(x, y, count);
}

void ek_signed_ln(const struct ek_ln_rows *rows, const double *mean, const double *scale)
{
    ek_ln_kernels_get(ek_isa_best())->signed_ln(rows, mean, scale);
}

bool ek_ln_center(const struct ek_ln_list *list)
{
    return ek_ln_kernels_get(ek_isa_best())->center(list);
}

double ek_ln_to_octaves(double ln)
{
    return ln * (1 / EK_LN_2) + EK_LN_GRID - EK_LN_GRID;
}

double ek_ln_from_octaves(double octaves)
{
    return octaves * EK_LN_2;
}
