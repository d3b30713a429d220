#include "daemon/base/rfc3339.h"

#include <stdio.h>
#include <time.h>

static const int64_t FIRST_MS = -62167219200000, LAST_MS = 253402300799999;

char *ek_rfc3339(int64_t time_ms, char out[EK_RFC3339_BYTES])
{
    struct tm utc;
    int64_t ms = time_ms < FIRST_MS ? FIRST_MS : time_ms > LAST_MS ? LAST_MS : time_ms;
    int rest = (int)(((ms % 1000) + 1000) % 1000);
    time_t seconds = (time_t)((ms - rest) / 1000);
    gmtime_r(&seconds, &utc);
    snprintf(out, EK_RFC3339_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
             (utc.tm_year + 1900) % 10000, (utc.tm_mon + 1) % 100, utc.tm_mday % 100,
             utc.tm_hour % 100, utc.tm_min % 100, utc.tm_sec % 100, rest);
    return out;
}
