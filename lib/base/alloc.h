/* Memory: the only place that calls malloc.
 *
 * Invariants: sizes that would overflow fail like an exhausted heap; a request of 0 bytes gives a
 * valid pointer. Failure is NULL and never ends the process. Tests make allocation fail by wrapping
 * malloc, calloc and realloc at link time, so nothing here keeps state.
 * Owner: the caller, who gives everything back with ek_free.
 */
#ifndef EK_BASE_ALLOC_H
#define EK_BASE_ALLOC_H

#include <stddef.h>

/* count * size bytes, zeroed. NULL on failure. */
void *ek_calloc(size_t count, size_t size);

/* Resizes to count * size bytes; what is new is not initialised. NULL on failure, `p` then stays.
 */
void *ek_realloc(void *p, size_t count, size_t size);

/* Return the array with room for one more than `count` elements of `size` bytes: it moves, and
 * *capacity doubles, when it is full. NULL on failure, the array then stays. */
void *ek_grow(void *array, size_t count, size_t *capacity, size_t size);

/* count * size bytes aligned to 64, zeroed; for vector kernels. NULL on failure. */
void *ek_calloc_aligned(size_t count, size_t size);

/* Copy of `length` bytes plus a terminating zero. NULL on failure. */
char *ek_strndup(const char *text, size_t length);
char *ek_strdup(const char *text);

/* Gives memory back; NULL is allowed. */
void ek_free(void *p);

/* Gives the system back what is free in the heaps of all threads, as far as the C library can: what
 * one thread has freed is not there for the next, and a process keeps the largest that each ever
 * had. It looks at all heaps and holds them meanwhile: for after a guard has taken the place of
 * another, not for hot paths. */
void ek_alloc_trim(void);

/* Has the C library keep no more than a mebibyte free at the end of each heap, and map what is as
 * large by itself, so that it goes back when it is freed. Left alone glibc takes the largest block
 * ever freed, up to 32 MiB, as the measure of both, for each heap, and `ek_alloc_trim` reaches only
 * what lies between blocks. Once, at the start of a process that runs for long. */
void ek_alloc_limit_cache(void);

/* Bytes that are in use, of all heaps; 0 where nobody can say. Looks at all heaps, too. */
size_t ek_alloc_used(void);

#endif
