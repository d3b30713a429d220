/* The exponential function without a call, in double: what a compiler can put into vectors.
 *
 * e^x = 2^n e^r with n the nearest integer to x / ln 2: the series of e^r ends after r^13 / 13!,
 * what is left out is below 1e-17. Relative error below 4e-16 for x in [-708, 709]; below that the
 * value at -708, above that the value at 709; NaN gives a number without meaning. Every machine
 * gives the same bits: nothing is fused. Threads: no state.
 */
#ifndef EK_NUM_EXP_H
#define EK_NUM_EXP_H

#include <stdint.h>
#include <string.h>

#define EK_EXP_LOG2E    0x1.71547652b82fep+0
#define EK_EXP_LN2_HIGH 0x1.62e42fefap-1 /* an integer below 2^11 times it is exact */
#define EK_EXP_LN2_LOW  0x1.cf79abc9e3b39p-40
#define EK_EXP_INTEGER  0x1.8p52 /* added and taken away again: rounds to an integer */

static inline double ek_exp(double x)
{
    x = x > -708 ? x : -708;
    x = x < 709 ? x : 709;
    double shifted = x * EK_EXP_LOG2E + EK_EXP_INTEGER, n = shifted - EK_EXP_INTEGER;
    double r = x - n * EK_EXP_LN2_HIGH - n * EK_EXP_LN2_LOW;
    double p = r * (1.0 / 6227020800) + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + .5;
    p = p * (r * r) + r + 1;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

#endif
