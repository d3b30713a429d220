/* Exponential function in double, inline so that compilers can vectorize it.
 *
 * e^x = 2^n e^r, where n is the integer nearest to x / ln 2. The series of e^r ends with r^13 /
 * 13!; the remainder is below 1e-17. The relative error is below 4e-16 for x in [-708, 709].
 * Smaller x return the value at -708, larger x that at 709, and NaN an arbitrary number. Every
 * machine returns the same bits: no operation is fused.
 */
#ifndef EK_NUM_EXP_H
#define EK_NUM_EXP_H

#include <stdint.h>
#include <string.h>

#define EK_EXP_LOG2E    0x1.71547652b82fep+0
#define EK_EXP_LN2_HIGH 0x1.62e42fefap-1 /* exact when multiplied by an integer below 2^11 */
#define EK_EXP_LN2_LOW  0x1.cf79abc9e3b39p-40
#define EK_EXP_INTEGER  0x1.8p52 /* adding and subtracting it rounds to an integer */

/* Return e^x. */
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
