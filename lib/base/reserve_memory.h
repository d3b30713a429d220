/* Lazily committed zeroed memory for sparse tables: only touched pages use memory.
 *
 * Pages are small; huge pages would make a sparse table dense. An address-space limit may reject a
 * reservation that would hardly be touched.
 */
#ifndef EK_BASE_RESERVE_MEMORY_H
#define EK_BASE_RESERVE_MEMORY_H

#include <stddef.h>

/* Reserve page-aligned zeroed memory; free it with ek_reserve_memory_free. Return NULL if out of
 * memory or address space. */
void *ek_reserve_memory_new(size_t bytes);
/* Free memory with the size of its reservation; NULL is allowed. */
void ek_reserve_memory_free(void *p, size_t bytes);

#endif
