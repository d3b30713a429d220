#include "num/list_moments_isa.h"

#include <string.h>

/* Reference kernel in plain C, one feature at a time. All other kernels must return the same bits.
 */

struct sums {
    float ln, ln2;
    int zero, missing, infinite, negative, lows, highs;
    int32_t low, high; /* extremes, as keys that are ordered as the values are */
};

static float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float ln_about(int32_t magnitude, float pivot)
{
    int32_t x = magnitude - EK_BITS_SQRT_HALF;
    float exponent = (float)(x >> 23);
    float t = float_of((x & EK_BITS_MANTISSA) + EK_BITS_SQRT_HALF) - 1.f;
    float q = t * EK_LN_C7 + EK_LN_C6;
    q = q * t + EK_LN_C5;
    q = q * t + EK_LN_C4;
    q = q * t + EK_LN_C3;
    q = q * t + EK_LN_C2;
    float small = (q * t) * t + (exponent * EK_LN2_LOW + t);
    return (exponent * EK_LN2_HIGH - pivot) + small;
}

static void add_value(struct sums *s, int32_t bits, float pivot)
{
    int32_t magnitude = bits & EK_BITS_MAGNITUDE;
    if (magnitude > EK_BITS_INF) {
        s->missing++;
        return;
    }
    int32_t key = bits ^ ((bits >> 31) & EK_BITS_MAGNITUDE);
    s->lows = key < s->low ? 1 : s->lows + (key == s->low);
    s->highs = key > s->high ? 1 : s->highs + (key == s->high);
    s->low = key < s->low ? key : s->low;
    s->high = key > s->high ? key : s->high;
    if (magnitude < EK_BITS_NORMAL) {
        s->zero++;
    } else if (magnitude == EK_BITS_INF) {
        s->infinite++;
    } else {
        float ln = ln_about(magnitude, pivot);
        s->ln += ln;
        s->ln2 += ln * ln;
        s->negative += bits < 0;
    }
}

void ek_list_moments_scalar(struct ek_list_moments *to, const float *x, int rows,
                            const float *pivot)
{
    for (int f = 0; f < to->features; f++) {
        struct sums s = {.low = INT32_MAX, .high = INT32_MIN};
        for (int r = 0; r < rows; r++) {
            int32_t bits;
            memcpy(&bits, x + (size_t)r * (size_t)to->features + f, sizeof bits);
            add_value(&s, bits, pivot[f]);
        }
        to->ln[f] = s.ln;
        to->ln2[f] = s.ln2;
        to->usable[f] = (float)(rows - s.zero - s.missing - s.infinite);
        to->zero[f] = (float)s.zero;
        to->missing[f] = (float)s.missing;
        to->negative[f] = (float)s.negative;
        to->infinite[f] = (float)s.infinite;
        int ties = s.lows > s.highs ? s.lows : s.highs;
        to->tied[f] = (float)(ties > 0 ? ties - 1 : 0);
    }
}
