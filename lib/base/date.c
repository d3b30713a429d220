#include "base/date.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DAY_MS = 86400000, FIRST_YEAR = 1970, LAST_YEAR = 9999 };

/* Return true if `text` matches `pattern`, where 0 matches any digit. */
static bool has_shape(const char *text, const char *pattern)
{
    if (strlen(text) != strlen(pattern))
        return false;
    for (; *pattern; text++, pattern++)
        if (*pattern == '0' ? *text < '0' || *text > '9' : *text != *pattern)
            return false;
    return true;
}

static int number(const char *digits, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++)
        value = value * 10 + (digits[i] - '0');
    return value;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

static int64_t days_since_1970(int year, int month, int day)
{
    int64_t days = day - 1;
    for (int y = FIRST_YEAR; y < year; y++)
        days += 365 + is_leap(y);
    for (int m = 1; m < month; m++)
        days += days_of_month(year, m);
    return days;
}

int ek_parse_until_ms(const char *text, int64_t *out_ms)
{
    bool whole_day = has_shape(text, "0000-00-00");
    if (!whole_day && !has_shape(text, "0000-00-00T00:00:00Z"))
        return EK_EFORMAT;
    int year = number(text, 4), month = number(text + 5, 2), day = number(text + 8, 2);
    if (year < FIRST_YEAR || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return EK_EFORMAT;
    int64_t ms = days_since_1970(year, month, day) * DAY_MS;
    if (whole_day) {
        *out_ms = ms + DAY_MS;
        return EK_OK;
    }
    int hours = number(text + 11, 2), minutes = number(text + 14, 2),
        seconds = number(text + 17, 2);
    if (hours > 23 || minutes > 59 || seconds > 59)
        return EK_EFORMAT;
    *out_ms = ms + ((hours * 60 + minutes) * 60 + seconds) * (int64_t)1000;
    return EK_OK;
}

/* Text to parse, with the position of the next byte. */
struct scan {
    const char *p, *end;
};

/* Move past one of the characters and return true if it is next. */
static bool take(struct scan *s, const char *any)
{
    bool found = s->p < s->end && *s->p && strchr(any, *s->p);
    s->p += found;
    return found;
}

/* Read exactly `digits` digits into *out. */
static bool take_number(struct scan *s, int digits, int low, int high, int *out)
{
    const char *p = s->p;
    for (int i = 0; i < digits; i++)
        if (s->end - p <= i || p[i] < '0' || p[i] > '9')
            return false;
    s->p += digits;
    *out = number(p, digits);
    return *out >= low && *out <= high;
}

/* Read digits after the point as milliseconds. */
static bool take_fraction(struct scan *s, int *ms)
{
    const char *first = s->p;
    int weight = 100;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++, weight /= 10)
        *ms += weight * (*s->p - '0');
    return s->p > first;
}

/* Read Z, an offset or nothing. */
static bool take_offset(struct scan *s, int *minutes)
{
    int hours = 0, rest = 0;
    *minutes = 0;
    if (s->p == s->end || take(s, "Zz"))
        return true;
    int sign = s->p < s->end && *s->p == '-' ? -1 : 1;
    if (!take(s, "+-") || !take_number(s, 2, 0, 23, &hours))
        return false;
    if (s->p < s->end && (take(s, ":"), !take_number(s, 2, 0, 59, &rest)))
        return false;
    *minutes = sign * (hours * 60 + rest);
    return true;
}

int ek_parse_time_ms(const char *text, size_t length, int64_t *out_ms)
{
    enum { MINUTE_MS = 60000 };
    struct scan s = {text, text + length};
    int year, month, day, hours, minutes, seconds = 0, ms = 0, offset;
    if (!take_number(&s, 4, FIRST_YEAR, LAST_YEAR, &year) || !take(&s, "-") ||
        !take_number(&s, 2, 1, 12, &month) || !take(&s, "-") ||
        !take_number(&s, 2, 1, days_of_month(year, month), &day) || !take(&s, "Tt ") ||
        !take_number(&s, 2, 0, 23, &hours) || !take(&s, ":") ||
        !take_number(&s, 2, 0, 59, &minutes))
        return EK_EFORMAT;
    if (take(&s, ":") &&
        (!take_number(&s, 2, 0, 60, &seconds) || (take(&s, ".,") && !take_fraction(&s, &ms))))
        return EK_EFORMAT;
    if (!take_offset(&s, &offset) || s.p != s.end)
        return EK_EFORMAT;
    int64_t value = days_since_1970(year, month, day) * DAY_MS + seconds * 1000 + ms +
                    ((int64_t)hours * 60 + minutes - offset) * MINUTE_MS;
    if (value < 0)
        return EK_EFORMAT;
    *out_ms = value;
    return EK_OK;
}

const char *ek_date_text(int64_t ms, char text[EK_DATE_TEXT])
{
    int64_t days = ms / DAY_MS;
    int year = FIRST_YEAR, month = 1, of_day = (int)(ms % DAY_MS);
    while (year <= LAST_YEAR && days >= 365 + is_leap(year))
        days -= 365 + is_leap(year++);
    if (ms < 0 || year > LAST_YEAR) {
        snprintf(text, EK_DATE_TEXT, "none");
        return text;
    }
    while (days >= days_of_month(year, month))
        days -= days_of_month(year, month++);
    snprintf(text, EK_DATE_TEXT, "%04d-%02d-%02uT%02d:%02d:%02d.%03dZ", year, month,
             (unsigned)(days + 1) % 32, of_day / 3600000, of_day / 60000 % 60, of_day / 1000 % 60,
             of_day % 1000);
    return text;
}
