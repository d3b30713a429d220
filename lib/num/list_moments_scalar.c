#include "num/list_moments_isa.h"

#include <string.h>

/* Reference kernel in plain C, one feature at a time. All other kernels must return the same bits.
 */

struct sums {
    float ln, ln2;
    int zero, missing, infinite, negative;
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

static int32_t bits_at(const struct ek_list_moments *s, const float *x, int row, int feature)
{
    int32_t bits;
    memcpy(&bits, x + (size_t)row * (size_t)s->features + feature, sizeof bits);
    return bits;
}

static float ties_of(const struct ek_list_moments *s, const float *x, int feature, int present)
{
    int pairs = 0, picked = 0;
    for (int a = 0; a < s->picks; a++) {
        int32_t bits = bits_at(s, x, s->pick[a], feature);
        if ((bits & EK_BITS_MAGNITUDE) > EK_BITS_INF)
            continue;
        picked++;
        for (int b = 0; b < a; b++)
            pairs += bits == bits_at(s, x, s->pick[b], feature);
    }
    return picked > 1 ? (float)pairs * (float)(present - 1) / (float)(picked * (picked - 1) / 2)
                      : 0;
}

void ek_list_moments_scalar(struct ek_list_moments *to, const float *x, int rows,
                            const float *pivot)
{
    ek_list_moments_pick(to, x, rows);
    for (int f = 0; f < to->features; f++) {
        struct sums s = {0};
        for (int r = 0; r < rows; r++)
            add_value(&s, bits_at(to, x, r, f), pivot[f]);
        to->ln[f] = s.ln;
        to->ln2[f] = s.ln2;
        to->usable[f] = (float)(rows - s.zero - s.missing - s.infinite);
        to->zero[f] = (float)s.zero;
        to->missing[f] = (float)s.missing;
        to->negative[f] = (float)s.negative;
        to->infinite[f] = (float)s.infinite;
        to->tied[f] = ties_of(to, x, f, rows - s.missing);
    }
}
