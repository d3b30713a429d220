/* Process measurements for tests and benchmarks. All end the program on failure. */
#ifndef EK_TESTS_MEASURE_H
#define EK_TESTS_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static inline double ek_measure_clock(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t))
        abort();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Return the seconds of a monotonic clock. */
static inline double ek_measure_seconds(void)
{
    return ek_measure_clock(CLOCK_MONOTONIC);
}

/* Return the processor seconds of this process, without those in which others run. */
static inline double ek_measure_processor(void)
{
    return ek_measure_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Return the resident bytes of this process. */
static inline double ek_measure_resident(void)
{
    long total, resident;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &total, &resident) != 2)
        abort();
    fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

#endif
