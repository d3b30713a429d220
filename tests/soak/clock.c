/* LD_PRELOAD library that shifts the wall clock ahead by the seconds in the file CLOCK_AHEAD;
 * monotonic clocks are unchanged. When the second word of the file changes, it trims the heap, so
 * that resident memory equals used memory, and writes the bytes in use into the third word. Words
 * are 8 bytes in native byte order. */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct wishes {
    volatile int64_t ahead, trims, in_use;
};

static struct wishes *wishes(void)
{
    static struct wishes *known;
    if (!known) {
        const char *path = getenv("CLOCK_AHEAD");
        int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
        void *map = fd < 0 ? MAP_FAILED
                           : mmap(NULL, sizeof *known, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        static struct wishes none;
        if (fd >= 0)
            close(fd);
        known = map == MAP_FAILED ? &none : map;
    }
    return known;
}

static void trim_when_asked(void)
{
    static atomic_long done;
    long desired = (long)wishes()->trims, before = atomic_load(&done);
    if (desired == before || !atomic_compare_exchange_strong(&done, &before, desired))
        return;
    malloc_trim(0);
    struct mallinfo2 now = mallinfo2();
    wishes()->in_use = (int64_t)(now.uordblks + now.hblkhd);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    typedef int call(clockid_t, struct timespec *);
    static union {
        void *symbol;
        call *is;
    } real;
    if (!real.symbol)
        real.symbol = dlsym(RTLD_NEXT, "clock_gettime");
    int rc = real.is(clock, now);
    if (!rc && clock == CLOCK_REALTIME)
        now->tv_sec += wishes()->ahead;
    trim_when_asked();
    return rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (out)
        *out = exact.tv_sec;
    return exact.tv_sec;
}
