#include "base/parse.h"

#include "base/error.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
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

enum { LONGEST_NUMBER = 400, LONGEST_WORD = 63, HASH_DIGITS = 16 };

static int is_special(const char *text)
{
    return !strcmp(text, "nan") || !strcmp(text, "inf") || !strcmp(text, "-inf");
}

int ek_parse_double(const char *text, size_t length, double *out)
{
    char copy[LONGEST_NUMBER + 1];
    if (length == EK_WHOLE)
        length = strlen(text);
    if (!length || length > LONGEST_NUMBER)
        return EK_EFORMAT;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (strspn(copy, "0123456789+-.eE") != length && !is_special(copy))
        return EK_EFORMAT; /* hexadecimal, spaces, embedded zeros */
    char *end;
    double value = strtod(copy, &end);
    if (end != copy + length)
        return EK_EFORMAT;
    *out = value;
    return EK_OK;
}

int ek_parse_finite(const char *text, size_t length, double *out)
{
    double value;
    int rc = ek_parse_double(text, length, &value);
    if (rc)
        return rc;
    if (!isfinite(value))
        return EK_ELIMIT;
    *out = value;
    return EK_OK;
}

/* Return the value of a hexadecimal digit, or 16. */
static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

int ek_parse_hash(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;
    if (length == EK_WHOLE)
        length = strlen(text);
    if (length != HASH_DIGITS)
        return EK_EFORMAT;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = hex_digit(text[i]);
        if (digit > 15)
            return EK_EFORMAT;
        value = value << 4 | digit;
    }
    *out = value;
    return EK_OK;
}

int ek_parse_u64(const char *text, size_t length, uint64_t *out)
{
    if (length == EK_WHOLE)
        length = strlen(text);
    if (!length)
        return EK_EFORMAT;
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return EK_EFORMAT;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return EK_ELIMIT;
    }
    *out = value;
    return EK_OK;
}

int ek_parse_i64(const char *text, size_t length, int64_t *out)
{
    if (length == EK_WHOLE)
        length = strlen(text);
    int negative = length && text[0] == '-';
    uint64_t size;
    int rc = ek_parse_u64(text + negative, length - (size_t)negative, &size);
    if (rc)
        return rc;
    if (size > (uint64_t)INT64_MAX + (uint64_t)negative)
        return EK_ELIMIT;
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    return EK_OK;
}

struct suffix {
    const char *name;
    uint64_t factor;
};

static int parse_with_suffix(const char *text, size_t length, const struct suffix *suffixes,
                             size_t count, uint64_t *out)
{
    if (length == EK_WHOLE)
        length = strlen(text);
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    uint64_t number;
    int rc = ek_parse_u64(text, digits, &number);
    if (rc && rc != EK_ELIMIT)
        return rc;
    for (size_t i = 0; i < count; i++) {
        if (strlen(suffixes[i].name) != length - digits ||
            memcmp(suffixes[i].name, text + digits, length - digits) != 0)
            continue;
        if (rc || __builtin_mul_overflow(number, suffixes[i].factor, &number) || number > INT64_MAX)
            return EK_ELIMIT;
        *out = number;
        return EK_OK;
    }
    return EK_EFORMAT;
}

int ek_parse_duration_ms(const char *text, size_t length, int64_t *out)
{
    static const struct suffix units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    uint64_t value;
    int rc = parse_with_suffix(text, length, units, sizeof units / sizeof *units, &value);
    if (!rc)
        *out = (int64_t)value;
    return rc;
}

int ek_parse_bytes(const char *text, size_t length, uint64_t *out)
{
    static const struct suffix units[] = {
        {"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    return parse_with_suffix(text, length, units, sizeof units / sizeof *units, out);
}

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[LONGEST_WORD + 1], n = strlen(a), m = strlen(b);
    if (n > LONGEST_WORD || m > LONGEST_WORD)
        return LONGEST_WORD;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t cost = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t best = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
            row[j] = cost < best ? cost : best;
        }
    }
    return row[m];
}

const char *ek_nearest_name(const char *word, const char *const *candidates, size_t count)
{
    size_t limit = strlen(word) / 3 + 1, best = limit + 1;
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t d = edit_distance(word, candidates[i]);
        if (d < best) {
            best = d;
            found = candidates[i];
        }
    }
    return found;
}
