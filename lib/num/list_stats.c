#include "num/list_stats.h"

#include "num/list_stats_isa.h"

#include <math.h>
#include <string.h>

ek_list_stats_fn *ek_list_stats_fn_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_list_stats_avx512;
    case EK_ISA_AVX2:
        return ek_list_stats_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return ek_list_stats_neon;
#endif
    default:
        return ek_list_stats_portable;
    }
}

void ek_list_stats_compute(const struct ek_list_moments *sums, int rows, const float *pivot,
                           struct ek_list_stats *records)
{
    ek_list_stats_fn_get(ek_isa_best())(sums, rows, pivot, records);
}

void ek_list_stats_compute_category(struct ek_list_stats *record)
{
    uint8_t missing = record->share[EK_SHARE_MISSING];
    *record = (struct ek_list_stats){.r = NAN, .spread = NAN};
    memset(record->share, EK_SHARE_UNKNOWN, sizeof record->share);
    record->share[EK_SHARE_MISSING] = missing;
}
