/* Numbers, sizes, times and dates as strings, compared with the C library: strtod in the C locale,
 * strtoull, and timegm. A rejected string leaves the result unchanged. */
#include "base/date.h"
#include "base/error.h"
#include "base/parse.h"
#include "daemon/base/log.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 3000, LONGEST = 400 };

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Valid decimal syntax: signs, digits, a point and an exponent, or one of three words. */
static bool is_decimal(const char *text, size_t length)
{
    bool word = !strcmp(text, "nan") || !strcmp(text, "inf") || !strcmp(text, "-inf");
    char *end;
    if (!word && (!length || strspn(text, "0123456789+-.eE") != length))
        return false;
    strtod(text, &end);
    return end == text + length;
}

static void check_double(const char *text, size_t length)
{
    double got = 42.5;
    int rc = ek_parse_double(text, length, &got);
    bool good = strlen(text) == length && length <= LONGEST && is_decimal(text, length);
    ek_fuzz_require(!rc == good, "a number for one of us and strtod");
    ek_fuzz_require(same(got, rc ? 42.5 : strtod(text, NULL)), "another number than strtod's");
    double finite = 42.5;
    rc = ek_parse_finite(text, length, &finite);
    ek_fuzz_require(!rc == (good && isfinite(got)), "not just the finite ones");
}

/* The fast parser accepts a prefix. */
static void check_decimal(const char *text)
{
    double got = 42.5;
    const char *end = ek_decimal(text, &got);
    if (!end) {
        ek_fuzz_require(got == 42.5, "refused, and yet changed");
        return;
    }
    char number[TEXT_MAX + 1];
    size_t length = (size_t)(end - text);
    memcpy(number, text, length);
    number[length] = 0;
    ek_fuzz_require(is_decimal(number, length), "fast: no number for strtod");
    ek_fuzz_require(same(got, strtod(number, NULL)), "fast: another number than strtod's");
}

static bool all_digits(const char *text, size_t length)
{
    return length && strspn(text, "0123456789") >= length;
}

static void check_integers(const char *text, size_t length)
{
    uint64_t u = 7;
    int64_t i = 7;
    bool negative = text[0] == '-';
    int rc = ek_parse_u64(text, length, &u);
    errno = 0;
    unsigned long long expected = strtoull(text, NULL, 10);
    if (!all_digits(text, length))
        ek_fuzz_require(rc != 0, "u64: not all of it is digits");
    else
        ek_fuzz_require(errno == ERANGE ? rc == EK_ELIMIT : !rc && u == expected, "u64");
    rc = ek_parse_i64(text, length, &i);
    errno = 0;
    long long desired = strtoll(text, NULL, 10);
    if (length <= (size_t)negative || !all_digits(text + negative, length - (size_t)negative))
        ek_fuzz_require(rc != 0, "i64: not all of it is digits");
    else
        ek_fuzz_require(errno == ERANGE ? rc == EK_ELIMIT : !rc && i == desired, "i64");
}

static void check_units(const char *text, size_t length)
{
    static const struct {
        const char *suffix;
        uint64_t factor;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000},     {"h", 3600000},   {"d", 86400000},
                 {"", 1},   {"B", 1},    {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    enum { TIMES = 5, UNITS = sizeof units / sizeof *units };
    size_t digits = strspn(text, "0123456789");
    int64_t ms = -1;
    uint64_t bytes = 1;
    int of_time = ek_parse_duration_ms(text, length, &ms);
    int of_size = ek_parse_bytes(text, length, &bytes);
    bool time = false, size = false;
    for (int i = 0; i < UNITS; i++) {
        if (!digits || digits > length || strcmp(text + digits, units[i].suffix) != 0 ||
            strlen(text) != length)
            continue;
        errno = 0;
        unsigned long long number = strtoull(text, NULL, 10);
        bool fits = !errno && number <= INT64_MAX / units[i].factor;
        uint64_t value = number * units[i].factor;
        *(i < TIMES ? &time : &size) = fits;
        ek_fuzz_require(!fits || (i < TIMES ? ms == (int64_t)value : bytes == value),
                        "another duration or size");
    }
    ek_fuzz_require(!of_time == time && !of_size == size, "a duration or a size that is none");
}

static void check_date(const char *text)
{
    int64_t ms = -5;
    char back[EK_DATE_TEXT];
    struct tm tm = {0};
    if (ek_parse_until_ms(text, &ms)) {
        ek_fuzz_require(ms == -5, "refused, and yet changed");
        return;
    }
    bool day = strlen(text) == 10;
    tm.tm_year = (int)strtol(text, NULL, 10) - 1900;
    tm.tm_mon = (int)strtol(text + 5, NULL, 10) - 1;
    tm.tm_mday = (int)strtol(text + 8, NULL, 10) + day;
    if (!day) {
        tm.tm_hour = (int)strtol(text + 11, NULL, 10);
        tm.tm_min = (int)strtol(text + 14, NULL, 10);
        tm.tm_sec = (int)strtol(text + 17, NULL, 10);
    }
    ek_fuzz_require(ms == (int64_t)timegm(&tm) * 1000, "another time than timegm's");
    if (!day)
        ek_fuzz_require(!strncmp(ek_date_text(ms, back), text, 19), "a date does not come back");
}

/* Check both time formatters for any number. */
static void check_times(const uint8_t *data, size_t size)
{
    char ours[EK_DATE_TEXT], other[EK_RFC3339_BYTES], calendar[40];
    struct tm tm;
    int64_t ms;
    if (size < sizeof ms)
        return;
    memcpy(&ms, data, sizeof ms);
    ek_date_text(ms, ours);
    ek_rfc3339(ms, other);
    time_t seconds = ms / 1000;
    if (ms < 0 || !gmtime_r(&seconds, &tm) || tm.tm_year > 8099) {
        ek_fuzz_require(!strcmp(ours, "none"), "a date out of range");
        return;
    }
    strftime(calendar, sizeof calendar, "%Y-%m-%dT%H:%M:%S", &tm);
    ek_fuzz_require(!strncmp(ours, calendar, strlen(calendar)), "another date than gmtime's");
    ek_fuzz_require(!strncmp(other, calendar, strlen(calendar)), "another time than gmtime's");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1];
    size_t length = size < TEXT_MAX ? size : TEXT_MAX;
    if (length)
        memcpy(text, data, length);
    text[length] = 0;
    check_double(text, length);
    check_decimal(text);
    check_integers(text, length);
    check_units(text, length);
    check_date(text);
    check_times(data, size);
    return 0;
}
