/* Gregorian dates in UTC as milliseconds since 1970. */
#ifndef EK_BASE_DATE_H
#define EK_BASE_DATE_H

#include <stddef.h>
#include <stdint.h>

/* Parse `2027-01-31` (end of that day) or `2027-01-31T12:00:00Z`, years 1970 .. 9999. Return 0, or
 * EK_EFORMAT with *out_ms unchanged. */
int ek_parse_until_ms(const char *text, int64_t *out_ms);

/* Parse a time of ISO 8601 or RFC 3339, `2027-01-31T12:00:00.25+01:00`, also with a space for the
 * T, without seconds, with a shorter offset (`+0100`, `+01`), or without one for UTC; years 1970 ..
 * 9999. Fractions of milliseconds are cut. Return 0, or EK_EFORMAT with *out_ms unchanged. */
int ek_parse_time_ms(const char *text, size_t length, int64_t *out_ms);

enum { EK_DATE_TEXT = 32 };
/* Format a time as `2027-01-31T12:00:00.250Z`, or "none" if negative or after the year 9999. Return
 * `text`. */
const char *ek_date_text(int64_t ms, char text[EK_DATE_TEXT]);

#endif
