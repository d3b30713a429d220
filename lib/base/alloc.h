/* Memory allocation; the only file that calls malloc.
 *
 * Sizes that overflow fail as out of memory. A request of 0 bytes returns a valid pointer. Failure
 * returns NULL and never ends the process. No state: tests wrap malloc, calloc and realloc at link
 * time to inject failures. Free all memory with ek_free.
 */
#ifndef EK_BASE_ALLOC_H
#define EK_BASE_ALLOC_H

#include <stddef.h>

/* Return count * size zeroed bytes, or NULL if out of memory. */
void *ek_calloc(size_t count, size_t size);

/* Resize to count * size bytes; added bytes are uninitialized. Return NULL on failure; `p` then
 * stays valid. */
void *ek_realloc(void *p, size_t count, size_t size);

/* Return the array with space for one more than `count` elements of `size` bytes. A full array is
 * reallocated with doubled *capacity. Return NULL on failure; the array then stays valid. */
void *ek_grow(void *array, size_t count, size_t *capacity, size_t size);

/* Return count * size zeroed bytes aligned to 64, for vector kernels, or NULL if out of memory. */
void *ek_calloc_aligned(size_t count, size_t size);

/* Return a nul-terminated copy of `length` bytes, or NULL if out of memory. */
char *ek_strndup(const char *text, size_t length);
/* Return a copy of a nul-terminated string, or NULL if out of memory. */
char *ek_strdup(const char *text);

/* Free memory; NULL is allowed. */
void ek_free(void *p);

/* Return free heap memory of all threads to the system, as far as the C library can. Memory freed
 * by one thread is otherwise unavailable to others. Locks each heap in turn, so call it after a
 * large structure was replaced, not on hot paths. */
void ek_alloc_trim(void);

/* Let the C library keep blocks below 32 MiB in its heaps, so that the buffers of fetched batches
 * are not mapped and unmapped one by one, and at most 8 MiB of free memory at the end of each heap,
 * which ek_alloc_trim does not reclaim. By default glibc raises both thresholds to the largest
 * block freed. All threads share at most four heaps; by default each of some thirty threads has one
 * that keeps pages of its own. Call once at the start of a long-running process. */
void ek_alloc_limit_cache(void);

/* Return the bytes allocated in all heaps; 0 if unknown. Locks each heap in turn. */
size_t ek_alloc_used(void);

/* Lazily committed zeroed memory for sparse tables: only touched pages use memory.
 *
 * Pages are small; huge pages would make a sparse table dense. An address-space limit may reject a
 * reservation that would hardly be touched.
 */

/* Reserve page-aligned zeroed memory; free it with ek_reserve_memory_free. Return NULL if out of
 * memory or address space. */
void *ek_reserve_memory_new(size_t bytes);
/* Free memory with the size of its reservation; NULL is allowed. */
void ek_reserve_memory_free(void *p, size_t bytes);

#endif
