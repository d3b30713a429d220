#include "score/value_repair.h"

#include "base/decimal.h"
#include "lists/codec_json.h"

#include <math.h>
#include <string.h>

/* Relative rounding of one multiplication and one division. */
static const double NOISE32 = 0x1p-23, NOISE64 = 0x1p-51;
enum { DIGITS32 = 6, DIGITS64 = 14 };

/* Replace *x by the shortest decimal within the noise. Return false if there is none. */
static bool shorten(double *x, enum ek_value_width width)
{
    double noise = width == EK_VALUE_FLOAT32 ? NOISE32 : NOISE64;
    int most = width == EK_VALUE_FLOAT32 ? DIGITS32 : DIGITS64;
    if (!isfinite(*x) || *x == 0)
        return false;
    int places = -(int)floor(log10(fabs(*x)));
    for (int i = 0; i < most; i++) {
        double short_form = ek_round_places(*x, places + i);
        if (fabs(short_form - *x) <= noise * fabs(*x)) {
            *x = short_form;
            return true;
        }
    }
    return false;
}

/* Return the shortest decimal of at most 6 (float32) or 14 (float64) digits within 2^-23 or 2^-51
 * of x, relative; x if there is none. It removes the rounding of a multiplication and a division,
 * so that trees see their training values. */
static double tidy_value(double x, enum ek_value_width width)
{
    shorten(&x, width);
    return width == EK_VALUE_FLOAT32 ? (double)(float)x : x;
}

/* Return the number of significant digits of a number in text. */
static int digits_of(const char *text, size_t length)
{
    int digits = 0, zeros = 0;
    for (size_t i = 0; i < length && text[i] != 'e'; i++) {
        bool zero = text[i] == '0';
        if (text[i] < '0' || text[i] > '9' || (zero && !digits))
            continue;
        zeros = zero ? zeros + 1 : 0;
        digits++;
    }
    return digits - zeros;
}

/* Return whether the shortest decimals of x as float32 and as float64 are equal, with the number of
 * their digits. */
static bool is_printed(double x, int *digits)
{
    char wide[EK_JSON_NUMBER_BYTES], narrow[EK_JSON_NUMBER_BYTES];
    size_t n = ek_json_double(wide, x), m = ek_json_float(narrow, (float)x);
    *digits = digits_of(wide, n);
    return n == m && !memcmp(wide, narrow, n);
}

enum ek_value_origin ek_value_origin(double x)
{
    enum { DIGITS_PRINTED = 8 }; /* of most float32; fewer are common in decimals, too */
    int digits;
    if (!isfinite((float)x) || x == 0)
        return EK_ORIGIN_UNKNOWN;
    if (is_printed(x, &digits))
        return digits >= DIGITS_PRINTED ? EK_ORIGIN_FLOAT32 : EK_ORIGIN_UNKNOWN;
    return (double)(float)x == x ? EK_ORIGIN_FLOAT32 : EK_ORIGIN_FLOAT64;
}

/* Set *y to the value of a float32 in a float64 before the division. Return false unless a short
 * decimal gives exactly x under the fault in float32 arithmetic. */
static bool divide_float32(const struct ek_value_repair *r, double x, double *y)
{
    int digits;
    float is = (float)x;
    double short_form = (double)is * r->q / r->p, ratio = r->p / r->q;
    bool printed = is_printed(x, &digits);
    if (!shorten(&short_form, EK_VALUE_FLOAT32))
        return false;
    float before = (float)short_form;
    if ((float)((double)before * ratio) != is && before * (float)ratio != is)
        return false;
    *y = printed ? short_form : (double)before;
    return true;
}

/* Return the nearest of known [count], NaN without any. */
static double find_nearest(double x, const float *known, int count)
{
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (((double)known[middle] + (double)known[middle + 1]) / 2 < x)
            low = middle + 1;
        else
            high = middle;
    }
    return count > 0 ? (double)known[low] : (double)NAN;
}

double ek_value_snap(double x, const float *known, int count)
{
    static const double WITHIN = .1;
    double near = isfinite(x) ? find_nearest(x, known, count) : (double)NAN;
    return fabs(near - x) <= WITHIN * fabs(near) ? near : x;
}

bool ek_value_is_known(double x, const float *known, int count)
{
    return fabs(find_nearest(x, known, count) - x) <= 2 * NOISE32 * fabs(x);
}

void ek_ratio_find(double number, double *p, double *q)
{
    static const double TERM_MAX = 0x1p31, ULP = 0x1p-52;
    double rest = number, p0 = 1, q0 = 0, p1 = floor(number), q1 = 1;
    bool found = false;
    *p = number;
    *q = 1;
    while (p1 < TERM_MAX && q1 < TERM_MAX) {
        double ratio = p1 / q1;
        if (p1 > 0 && (ratio == number || (!found && fabs(ratio - number) <= ULP * number))) {
            *p = p1;
            *q = q1;
            found = true;
        }
        if (ratio == number)
            return;
        rest = 1 / (rest - floor(rest));
        if (!(rest < TERM_MAX))
            return;
        double p2 = floor(rest) * p1 + p0, q2 = floor(rest) * q1 + q0;
        p0 = p1;
        q0 = q1;
        p1 = p2;
        q1 = q2;
    }
}

/* Return x - offset, and zero for a rest that only rounding or the error of the offset explains. */
static double take_off(const struct ek_value_repair *r, double x)
{
    static const double ROUNDING = 0x1p-22, ERRORS = 3;
    double rest = ROUNDING * fmax(fabs(x), fabs(r->offset)), y = x - r->offset;
    if (r->has_zeros)
        rest = fmax(rest, ERRORS * r->offset_error);
    return fabs(y) <= rest ? 0 : y;
}

static double invert(const struct ek_value_repair *r, double x)
{
    switch (r->kind) {
    case EK_VALUE_DIVIDE:
        return x * r->q / r->p;
    case EK_VALUE_POWER:
        return x == 0 ? x : copysign(pow(fabs(x) / r->factor, 1 / r->exponent), x);
    case EK_VALUE_OFFSET:
        return take_off(r, x);
    case EK_VALUE_ABSOLUTE:
        return fabs(x);
    default:
        return -x;
    }
}

/* Return whether a kind fills the value x. */
static bool is_lost(enum ek_value_repair_kind kind, double x)
{
    return !isfinite(x) || kind == EK_VALUE_FILL_ALL || (kind == EK_VALUE_FILL_ZERO && x == 0);
}

static bool snap(const struct ek_value_repair *r, double *y)
{
    double near = ek_value_snap(*y, r->known, r->known_count);
    bool snapped = near != *y;
    *y = near;
    return snapped;
}

double ek_value_repair(const struct ek_value_repair *r, double x, enum ek_value_width width)
{
    if (r->kind == EK_VALUE_BLANK)
        return NAN;
    if (!ek_value_inverts(r->kind)) {
        double y = is_lost(r->kind, x) ? r->fill : x;
        return width == EK_VALUE_FLOAT32 ? (double)(float)y : y;
    }
    if (!isfinite(x))
        return NAN;
    double y = invert(r, x);
    bool of_float32 = width == EK_VALUE_FLOAT64 && r->of_float32 && r->kind == EK_VALUE_DIVIDE;
    bool tidy = of_float32 && divide_float32(r, x, &y);
    if (r->known && r->known_count > 1 && !r->exact && snap(r, &y))
        shorten(&y, EK_VALUE_FLOAT32); /* known values are float32 */
    else if (!tidy)
        y = tidy_value(y, width);
    y = width == EK_VALUE_FLOAT32 ? (double)(float)y : y;
    bool lost = !isfinite(y) || (y == 0 && x != 0 && r->kind != EK_VALUE_OFFSET) ||
                (r->positive && y <= 0 && x > 0);
    return lost ? (double)NAN : y;
}

bool ek_value_changed(double before, double after)
{
    return !(before == after || (isnan(before) && isnan(after)));
}
