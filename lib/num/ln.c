#include "num/ln.h"

#include "num/ln_isa.h"

const struct ek_ln_kernels *ek_ln_kernels_of(enum ek_isa isa)
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

void ek_ln_of(const double *x, double *y, size_t count)
{
    ek_ln_kernels_of(ek_isa_best())->of(x, y, count);
}

void ek_signed_ln(const double *x, const double *mean, const double *scale, float *y, size_t count)
{
    ek_ln_kernels_of(ek_isa_best())->signed_ln(x, mean, scale, y, count);
}

void ek_ln_take(const double *x, const struct ek_ln_row *row, size_t count)
{
    ek_ln_kernels_of(ek_isa_best())->take(x, row, count);
}

void ek_ln_mean(const struct ek_ln_sums *sums, double *mean, size_t count)
{
    ek_ln_kernels_of(ek_isa_best())->mean(sums, mean, count);
}

void ek_ln_centre(const double *octave, const double *mean, const double *scale, float *z,
                  size_t count)
{
    ek_ln_kernels_of(ek_isa_best())->centre(octave, mean, scale, z, count);
}

double ek_ln_to_octaves(double ln)
{
    return ln * (1 / EK_LN_2) + EK_LN_GRID - EK_LN_GRID;
}

double ek_ln_of_octaves(double octaves)
{
    return octaves * EK_LN_2;
}
