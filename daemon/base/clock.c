#include "daemon/base/clock.h"

#include "base/portable.h"

#include <time.h>

static int64_t clock_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t ek_now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

uint64_t ek_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int64_t ek_wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

static struct timespec to_timespec(int64_t ms)
{
    return (struct timespec){(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};
}

#if EK_PORTABLE
/* The wall clock ends these waits, and someone may set it back. Short waits bound the delay. */
enum { WAIT_MS_MAX = 1000 };

void ek_cond_init(pthread_cond_t *c)
{
    pthread_cond_init(c, NULL);
}

bool ek_cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ms)
{
    int64_t left = until_ms - ek_now_ms();
    int64_t wait = left < 0 ? 0 : left < WAIT_MS_MAX ? left : WAIT_MS_MAX;
    const struct timespec until = to_timespec(ek_wall_ms() + wait);
    return !pthread_cond_timedwait(c, lock, &until) || ek_now_ms() < until_ms;
}
#else
void ek_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(c, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool ek_cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ms)
{
    const struct timespec until = to_timespec(until_ms);
    return !pthread_cond_timedwait(c, lock, &until);
}
#endif
