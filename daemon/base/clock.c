#include "daemon/base/clock.h"

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
