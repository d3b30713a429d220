/* Monotonic and wall clocks of the program, and waits until a monotonic time. Threads: any. */
#ifndef EK_DAEMON_BASE_CLOCK_H
#define EK_DAEMON_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Return the monotonic time in milliseconds, from an unspecified start. */
int64_t ek_now_ms(void);
/* Return the monotonic time in nanoseconds, from the same start. */
uint64_t ek_now_ns(void);
/* Return the time since 1970-01-01 UTC in milliseconds. It jumps when the clock is set. */
int64_t ek_wall_ms(void);

/* Initialize a condition variable for ek_cond_wait_until; release it as any other. */
void ek_cond_init(pthread_cond_t *c);
/* Wait for the condition variable under its lock until `until_ms` of ek_now_ms. Return false at
 * that time; else true, perhaps without a signal. */
bool ek_cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ms);

#endif
