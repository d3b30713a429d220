/* Times as people and other systems read them. Threads: any. */
#ifndef EK_DAEMON_RFC3339_H
#define EK_DAEMON_RFC3339_H

#include <stdint.h>

enum { EK_RFC3339_BYTES = 40 };

/* Milliseconds since 1970 as "2026-11-22T14:02:05.250Z"; times beyond the years 0 to 9999 as their
 * nearest end. Returns `out`. */
char *ek_rfc3339(int64_t time_ms, char out[EK_RFC3339_BYTES]);

#endif
