/* Makes memory run out at every place once.
 *
 * The program is linked with malloc, calloc, realloc, aligned_alloc and free wrapped, for our own
 * objects and what they inline, and so is what C++ libraries get by `new`; memory that other C
 * libraries ask for is not touched (tests/alloc/whole.c does that).
 *
 * A scenario does something whole and cleans up after itself. It is run with its first allocation
 * failing, then its second, ... until it gets by without reaching the failing one; and again with
 * all allocations from the n-th on failing. Each failed run must return EK_ENOMEM with a message
 * and leave nothing allocated. Not for threads. No ck_assert inside: Check allocates too.
 */
#ifndef EK_TESTS_ALLOC_SWEEP_H
#define EK_TESTS_ALLOC_SWEEP_H

#include "base/error.h"

/* Returns 0 or the code it also stored in the error. */
typedef int ek_scenario(struct ek_error *e);

enum { EK_SWEEP_TEXT = 1000 };

/* NULL, or what is wrong (maybe in `fault`). */
const char *ek_sweep_fault(ek_scenario *scenario, char fault[EK_SWEEP_TEXT]);
/* Asserts with Check that nothing is wrong. */
void ek_sweep(ek_scenario *scenario);
/* From now on the n-th allocation fails, once; 0: none. For tests that go on after a failure. */
void ek_sweep_fail(long n);
/* How often memory was asked for so far. */
long ek_sweep_calls(void);

#endif
