#include "offline/scale/paired_test.h"

#include <math.h>

enum { TERMS_MAX = 100000 };

/* Gamma(a + 1/2) / Gamma(a), without the difference of two large logarithms that would cost half of
 * the digits: moved up to where its expansion in 1/a is exact enough (DLMF 5.11.13). */
static double half_step(double a)
{
    double product = 1;
    for (; a < 64; a++)
        product *= a / (a + 0.5);
    double u = 1 / a;
    double series =
        1 + u * (-1.0 / 8 +
                 u * (1.0 / 128 + u * (5.0 / 1024 + u * (-21.0 / 32768 - u * 399.0 / 262144))));
    return product * sqrt(a) * series;
}

static double not_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method as
 * modified by Thompson and Barnett (1986). It converges quickly for x < (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b)
{
    double upper = 1, lower = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = lower;
    for (int m = 1; m < TERMS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        lower = 1 / not_zero(1 + even * lower);
        upper = not_zero(1 + even / upper);
        value *= lower * upper;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        lower = 1 / not_zero(1 + odd * lower);
        upper = not_zero(1 + odd / upper);
        value *= lower * upper;
        if (fabs(lower * upper - 1) < 1e-15)
            break;
    }
    return value;
}

double ek_student_two_sided(double t, double degrees)
{
    if (isnan(t))
        return NAN;
    if (isinf(t))
        return 0;
    double a = degrees / 2, ratio = t * t / degrees, x = 1 / (1 + ratio),
           rest = ratio / (1 + ratio);
    if (isinf(ratio))
        return 0;
    /* x^a (1-x)^b / B(a, b), b = 1/2 */
    double front = exp(-a * log1p(ratio)) * sqrt(rest) * half_step(a) / sqrt(acos(-1));
    if (x < (a + 1) / (a + 2.5))
        return front * fraction(x, a, 0.5) / a;
    return 1 - front * fraction(rest, 0.5, a) / 0.5;
}

static double mean_of(const double *a, const double *b, size_t n, size_t *pairs)
{
    double sum = 0;
    *pairs = 0;
    for (size_t i = 0; i < n; i++) {
        double d = a[i] - b[i];
        if (isnan(d))
            continue;
        sum += d;
        ++*pairs;
    }
    return sum / (double)*pairs;
}

void ek_paired_test(const double *a, const double *b, size_t n, struct ek_paired_test *out)
{
    struct ek_paired_test r = {.t = NAN, .p = NAN};
    r.mean = mean_of(a, b, n, &r.pairs);
    if (r.pairs > 1) {
        double squares = 0;
        for (size_t i = 0; i < n; i++) {
            double off = a[i] - b[i] - r.mean;
            if (!isnan(off))
                squares += off * off;
        }
        r.degrees = (double)(r.pairs - 1);
        double error = sqrt(squares / r.degrees / (double)r.pairs);
        r.t = r.mean == 0 ? 0 : r.mean / error;
        r.p = ek_student_two_sided(r.t, r.degrees);
    }
    *out = r;
}
