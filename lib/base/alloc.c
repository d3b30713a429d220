#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <string.h>

enum { ALIGNMENT = 64, FIRST_CAPACITY = 16 };
enum { MAPPED_LEAST = 32 << 20, FREE_MOST = 8 << 20, HEAPS_MOST = 4 };

void *ek_calloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1);
}

void *ek_realloc(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return realloc(p, bytes ? bytes : 1);
}

void *ek_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    size_t larger = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    void *grown = ek_realloc(array, larger, size);
    if (grown)
        *capacity = larger;
    return grown;
}

void *ek_calloc_aligned(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* at least one cache line */
    void *p = aligned_alloc(ALIGNMENT, bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

char *ek_strndup(const char *text, size_t length)
{
    char *copy = ek_calloc(length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *ek_strdup(const char *text)
{
    return ek_strndup(text, strlen(text));
}

void ek_free(void *p)
{
    free(p);
}

void ek_alloc_trim(void)
{
#if defined(__GLIBC__)
    (void)malloc_trim(0); /* returns 0 if no memory was released */
#endif
}

void ek_alloc_limit_cache(void)
{
#if defined(__GLIBC__)
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_LEAST); /* returns 0 on failure, without effect */
    (void)mallopt(M_TRIM_THRESHOLD, FREE_MOST);
    (void)mallopt(M_ARENA_MAX, HEAPS_MOST);
#endif
}

size_t ek_alloc_used(void)
{
#if defined(__GLIBC__)
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
#else
    return 0;
#endif
}

void *ek_reserve_memory_new(size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
#ifdef MADV_NOHUGEPAGE
    (void)madvise(p, bytes, MADV_NOHUGEPAGE); /* fails without huge page support, which is fine */
#endif
    return p;
}

void ek_reserve_memory_free(void *p, size_t bytes)
{
    if (p)
        (void)munmap(p, bytes ? bytes : 1);
}
