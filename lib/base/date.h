/* Calendar dates of the Gregorian calendar in UTC as milliseconds since 1970. */
#ifndef EK_BASE_DATE_H
#define EK_BASE_DATE_H

#include <stdint.h>

/* `2027-01-31` (the end of that day) or `2027-01-31T12:00:00Z` (that second). Years 1970 .. 9999.
 * EK_EFORMAT for anything else, *out_ms is then untouched. */
int ek_parse_until_ms(const char *text, int64_t *out_ms);

enum { EK_DATE_TEXT = 32 };
/* Writes `2027-01-31T12:00:00.250Z` and returns `text`; "none" for times that are negative or
 * beyond the year 9999. */
const char *ek_date_text(int64_t ms, char text[EK_DATE_TEXT]);

#endif
