#include "num/list_stats.h"

#include "num/list_stats_isa.h"
#include "num/ln.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
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

void ek_list_stats_compute_value(float x, struct ek_list_stats *record)
{
    bool missing = isnan(x), zero = fabsf(x) < FLT_MIN, usable = isnormal(x);
    double ln = usable ? fabs((double)x) : 1;
    ek_ln_compute(&ln, &ln, 1);
    *record = (struct ek_list_stats){
        .r = usable ? (float)ln : NAN,
        .spread = NAN,
        .share = {missing ? EK_SHARE_WHOLE : 0,
                  missing ? EK_SHARE_UNKNOWN
                  : zero  ? EK_SHARE_WHOLE
                          : 0,
                  !usable ? EK_SHARE_UNKNOWN
                  : x < 0 ? EK_SHARE_WHOLE
                          : 0,
                  EK_SHARE_UNKNOWN},
        .usable = usable,
    };
}

void ek_list_stats_compute_category(struct ek_list_stats *record)
{
    uint8_t missing = record->share[EK_SHARE_MISSING];
    *record = (struct ek_list_stats){.r = NAN, .spread = NAN};
    memset(record->share, EK_SHARE_UNKNOWN, sizeof record->share);
    record->share[EK_SHARE_MISSING] = missing;
}
