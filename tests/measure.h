/* Process measurements for tests and benchmarks. Both end the program on failure. */
#ifndef EK_TESTS_MEASURE_H
#define EK_TESTS_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Return the seconds of a monotonic clock. */
static inline double ek_measure_seconds(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t))
        abort();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
