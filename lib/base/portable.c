#include "base/portable.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#if EK_PORTABLE
/* qsort passes no context, and qsort_r of macOS has another order of arguments. */
static _Thread_local struct order {
    ek_compare *compare;
    void *context;
} current;

static int by_current(const void *a, const void *b)
{
    return current.compare(a, b, current.context);
}

void ek_sort_with(void *base, size_t count, size_t size, ek_compare *compare, void *context)
{
    const struct order outer = current; /* `compare` may sort, too */
    current = (struct order){compare, context};
    qsort(base, count, size, by_current);
    current = outer;
}

const char *ek_find_last(const char *text, char byte, size_t length)
{
    while (length && text[length - 1] != byte)
        length--;
    return length ? text + length - 1 : NULL;
}

void ek_erase(void *p, size_t size)
{
    volatile unsigned char *byte = p;
    while (size)
        byte[--size] = 0;
}

bool ek_random_bytes(void *out, size_t size, bool waits)
{
    (void)waits; /* such a system has random bytes from its start */
    return !getentropy(out, size);
}
#else
void ek_sort_with(void *base, size_t count, size_t size, ek_compare *compare, void *context)
{
    qsort_r(base, count, size, compare, context);
}

const char *ek_find_last(const char *text, char byte, size_t length)
{
    return memrchr(text, byte, length);
}

void ek_erase(void *p, size_t size)
{
    explicit_bzero(p, size);
}

bool ek_random_bytes(void *out, size_t size, bool waits)
{
    return getrandom(out, size, waits ? 0 : GRND_NONBLOCK) == (ssize_t)size;
}
#endif

#ifdef __APPLE__
struct timespec ek_change_time(const struct stat *s)
{
    return s->st_mtimespec;
}

bool ek_program_path(char *path, size_t size)
{
    uint32_t room = (uint32_t)size;
    char *real = _NSGetExecutablePath(path, &room) ? NULL : realpath(path, NULL);
    bool fits = real && strlen(real) < size;
    if (fits)
        memcpy(path, real, strlen(real) + 1);
    else if (real || room > size)
        errno = ENAMETOOLONG;
    ek_free(real);
    return fits;
}
#else
struct timespec ek_change_time(const struct stat *s)
{
    return s->st_mtim;
}

bool ek_program_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length == (ssize_t)size)
        errno = ENAMETOOLONG;
    if (length < 0 || length == (ssize_t)size)
        return false;
    path[length] = '\0';
    return true;
}
#endif
