/* Sweep of allocation failures over every allocation of a scenario.
 *
 * The program is linked with malloc, calloc, realloc, aligned_alloc and free wrapped, for the
 * objects of this project and their inlined code, and with operator new. Allocations inside other C
 * libraries do not fail (tests/alloc/whole.c covers them).
 *
 * A scenario runs one complete operation and cleans up. It runs with its first allocation failing,
 * then its second, until a run does not reach the failing one. It then runs again with all
 * allocations from the n-th on failing. Each failed run must return EK_ENOMEM with a message and
 * leave no allocation behind. Single-threaded. Use no ck_assert in a scenario: Check allocates too.
 */
#ifndef EK_TESTS_ALLOC_SWEEP_H
#define EK_TESTS_ALLOC_SWEEP_H

#include "base/error.h"

/* Return 0, or the code that is also in the error. */
typedef int ek_scenario(struct ek_error *e);

enum { EK_SWEEP_TEXT = 1000 };

/* Return NULL, or a description of the failure (possibly in `fault`). */
const char *ek_sweep_fault(ek_scenario *scenario, char fault[EK_SWEEP_TEXT]);
/* Fail the Check test on a sweep failure. */
void ek_sweep(ek_scenario *scenario);
/* Make the n-th allocation from now fail once; 0: none. For tests that continue after a failure. */
void ek_sweep_fail(long n);
/* Return the number of allocation calls so far. */
long ek_sweep_calls(void);

#endif
