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
    bool missing = !isfinite(x), zero = fabsf(x) < FLT_MIN, usable = isnormal(x);
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

/* Reference kernel in plain C, one feature at a time. All other kernels must return the same bits.
 */

/* Return the ln of a positive normal number, |error| below 1e-5: exponent plus the series of 2
 * artanh((m - 1) / (m + 1)) for the mantissa m in [sqrt(1/2), sqrt(2)). */
static float ln_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 23) - 127;
    bits = (bits & 0x7fffffu) | 0x3f800000u;
    float m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.41421356f) {
        m *= 0.5f;
        exponent++;
    }
    float t = (m - 1) / (m + 1), t2 = t * t;
    float series = 1 + t2 * (1 / 3.0f + t2 * (0.2f + t2 * (1 / 7.0f + t2 * (1 / 9.0f))));
    return (float)exponent * 0.69314718f + 2 * t * series;
}

static uint8_t share_of(float part, float whole)
{
    return whole > 0 ? (uint8_t)(EK_SHARE_WHOLE * part / whole) : EK_SHARE_UNKNOWN;
}

static float spread_of(float sum, float squares, float k)
{
    if (k < 2)
        return NAN;
    float variance = (squares - sum * sum / k) / (k - 1);
    return variance > EK_VARIANCE_MIN ? 0.5f * ln_of(variance) : EK_SPREAD_MIN;
}

void ek_list_stats_scalar(const struct ek_list_moments *sums, int rows, const float *pivot,
                          struct ek_list_stats *records)
{
    for (int f = 0; f < sums->features; f++) {
        float k = sums->usable[f], present = (float)rows - sums->missing[f];
        records[f] = (struct ek_list_stats){
            .r = k > 0 ? sums->ln[f] / k + pivot[f] : NAN,
            .spread = spread_of(sums->ln[f], sums->ln2[f], k),
            .share = {share_of(sums->missing[f], (float)rows), share_of(sums->zero[f], present),
                      share_of(sums->negative[f], k), share_of(sums->tied[f], present - 1)},
            .usable = (uint16_t)(k < 65535 ? k : 65535),
        };
    }
}
