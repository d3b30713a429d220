/* Loaded before the C library (LD_PRELOAD), lets the wall clock jump: it is ahead by as many
 * seconds as the file CLOCK_AHEAD says (8 bytes, of this machine). Monotonic clocks stay. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t ahead(void)
{
    static const volatile int64_t *seconds;
    if (!seconds) {
        const char *path = getenv("CLOCK_AHEAD");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *seconds, PROT_READ, MAP_SHARED, fd, 0);
        static const int64_t none;
        if (fd >= 0)
            close(fd);
        seconds = map == MAP_FAILED ? &none : map;
    }
    return *seconds;
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
        now->tv_sec += ahead();
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
