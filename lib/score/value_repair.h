/* Repair of single feature values: the inverse of a fault, computed in double.
 *
 * Missing values are NaN and stay missing, except for a fill. Infinite values are missing: they
 * overflowed. Zeros stay zero except under an offset, and signs stay except under a change of sign.
 * A result that is not finite, zero although the value was not (except under an offset), or at
 * most zero for a feature that is positive in training is missing. Pure functions; specification
 * and figures: docs/dev/decisions/exact-repair.md.
 */
#ifndef EK_SCORE_VALUE_REPAIR_H
#define EK_SCORE_VALUE_REPAIR_H

#include <stdbool.h>

/* Number type of the message. JSON numbers are float64. */
enum ek_value_width { EK_VALUE_FLOAT32, EK_VALUE_FLOAT64 };

enum ek_value_repair_kind {
    EK_VALUE_DIVIDE,    /* x * q / p */
    EK_VALUE_POWER,     /* sgn(x) (|x| / factor)^(1 / exponent) */
    EK_VALUE_OFFSET,    /* x - offset; a rest within rounding or 3 errors of zero is zero */
    EK_VALUE_ABSOLUTE,  /* |x| */
    EK_VALUE_NEGATE,    /* -x */
    EK_VALUE_FILL,      /* fill for missing values */
    EK_VALUE_FILL_ZERO, /* fill for missing values and zeros */
    EK_VALUE_FILL_ALL,  /* fill for all values */
    EK_VALUE_BLANK      /* all values become missing */
};

/* Return whether a kind inverts a fault, and does not fill or blank. */
static inline bool ek_value_inverts(enum ek_value_repair_kind kind)
{
    return kind <= EK_VALUE_NEGATE;
}

struct ek_value_repair {
    enum ek_value_repair_kind kind;
    double p, q;             /* DIVIDE: the divisor as a ratio, both positive */
    double factor, exponent; /* POWER, both positive */
    double offset;
    double offset_error; /* standard error, in the unit of the feature */
    double fill;
    bool of_float32;    /* float64 values were float32 (ek_value_origin) */
    bool exact;         /* the parameters are exact: results are not snapped to known values */
    bool positive;      /* training had no zero or negative value */
    bool has_zeros;     /* training had zeros */
    int known_count;    /* fewer than 2: not snapped */
    const float *known; /* [known_count] all values of training, rising; NULL: too many */
};

/* Return the repaired value of x, which has the type `width`; a float32 result is rounded once. */
double ek_value_repair(const struct ek_value_repair *r, double x, enum ek_value_width width);

/* Type in which a float64 was computed. A float32 may have been converted, or printed and parsed:
 * 207.978 times 100 is then 20797.799, and a division must give back 207.978. */
enum ek_value_origin {
    EK_ORIGIN_UNKNOWN, /* too few digits */
    EK_ORIGIN_FLOAT32, /* only a float32, or by chance */
    EK_ORIGIN_FLOAT64
};
/* Return whether x was probably written as float32, from its bits and decimal digits;
 * EK_ORIGIN_UNKNOWN if that does not decide. */
enum ek_value_origin ek_value_origin(double x);

/* Return whether a repair changed a value: a missing value that stays missing has not changed. */
bool ek_value_changed(double before, double after);

/* Return the nearest of known [count] within a tenth of x, else x. */
double ek_value_snap(double x, const float *known, int count);

/* Return whether x is one of known [count], within the rounding of a float32. */
bool ek_value_is_known(double x, const float *known, int count);

/* Set p / q to the ratio of the smallest terms below 2^31 that equals `number`, else to the first
 * one within an ulp, else to number / 1. Units such as 1/60 have no exact double, and x * 60 / 1
 * rounds once. */
void ek_ratio_find(double number, double *p, double *q);

#endif
