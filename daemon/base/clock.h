/* Monotonic and wall clocks of the program. Threads: any. */
#ifndef EK_DAEMON_BASE_CLOCK_H
#define EK_DAEMON_BASE_CLOCK_H

#include <stdint.h>

/* Return the monotonic time in milliseconds, from an unspecified start. */
int64_t ek_now_ms(void);
/* Return the monotonic time in nanoseconds, from the same start. */
uint64_t ek_now_ns(void);
/* Return the time since 1970-01-01 UTC in milliseconds. It jumps when the clock is set. */
int64_t ek_wall_ms(void);

#endif
