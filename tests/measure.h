/* What tests and benchmarks read off the machine. Both end the program when it does not tell. */
#ifndef EK_TESTS_MEASURE_H
#define EK_TESTS_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Seconds of a clock that only goes forward. */
static inline double ek_measure_seconds(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t))
        abort();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes of this process that are in memory. */
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
