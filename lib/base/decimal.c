#include "base/decimal.h"

#include "base/parse.h"

#include <stdint.h>
#include <string.h>

enum { DIGITS_MAX = 18, POWER_MAX = 22, EXPONENT_MAX = 1000 };

/* Mantissa and power are exact in a double, so one operation rounds once (Clinger 1990). */
static const uint64_t MANTISSA_MAX = (uint64_t)1 << 53;
static const double POWERS[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                             1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const char WORD_CHARACTERS[] =
    "0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static const char *decimal_slowly(const char *text, double *out)
{
    size_t length = strspn(text, WORD_CHARACTERS);
    return ek_parse_double(text, length, out) ? NULL : text + length;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int ends_number(char c)
{
    return !is_digit(c) && c != '.' && c != '+' && c != '-' && (unsigned)(c | 32) - 'a' > 25;
}

struct digits {
    uint64_t mantissa;
    int significant, seen, power;
};

static const char *read_digits(const char *p, struct digits *d, int power)
{
    for (; is_digit(*p); p++) {
        d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
        d->significant += d->mantissa != 0;
        d->power += power;
        d->seen++;
        if (d->significant > DIGITS_MAX)
            return NULL;
    }
    return p;
}

static const char *read_exponent(const char *p, int *power)
{
    int negative = *p == '-', value = 0;
    p += negative || *p == '+';
    if (!is_digit(*p))
        return NULL;
    for (; is_digit(*p); p++)
        value = value < EXPONENT_MAX ? value * 10 + (*p - '0') : value;
    if (value >= EXPONENT_MAX) /* the exponent is clamped, and leading zeros of the mantissa could
                                * compensate it */
        return NULL;
    *power += negative ? -value : value;
    return p;
}

const char *ek_decimal(const char *text, double *out)
{
    struct digits d = {0, 0, 0, 0};
    int negative = *text == '-';
    const char *p = read_digits(text + (negative || *text == '+'), &d, 0);
    if (p && *p == '.')
        p = read_digits(p + 1, &d, -1);
    if (p && d.seen && (*p | 32) == 'e')
        p = read_exponent(p + 1, &d.power);
    if (!p || !d.seen || d.mantissa > MANTISSA_MAX || d.power > POWER_MAX || d.power < -POWER_MAX ||
        !ends_number(*p))
        return decimal_slowly(text, out);
    double value = (double)d.mantissa;
    value = d.power < 0 ? value / POWERS[-d.power] : value * POWERS[d.power];
    *out = negative ? -value : value;
    return p;
}
