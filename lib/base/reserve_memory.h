/* Large zeroed memory of which only the touched pages cost anything: for sparse tables.
 *
 * Invariants: every page reads as zero until written; pages are small (no huge pages, which would
 * make a sparse table dense). Units: bytes. Owner: the caller, who gives it back with the size it
 * asked for. A process with an address-space limit may be refused what would hardly be touched.
 */
#ifndef EK_BASE_RESERVE_MEMORY_H
#define EK_BASE_RESERVE_MEMORY_H

#include <stddef.h>

/* NULL on failure. Aligned to a page. */
void *ek_reserve_memory_new(size_t bytes);
/* NULL is allowed. */
void ek_reserve_memory_free(void *p, size_t bytes);

#endif
