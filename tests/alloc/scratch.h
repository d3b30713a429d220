/* Scratch folder per test process, removed at exit. */
#ifndef EK_TESTS_ALLOC_SCRATCH_H
#define EK_TESTS_ALLOC_SCRATCH_H

#include <stddef.h>

enum { EK_SCRATCH_PATH = 300 };

struct ek_scratch {
    char path[EK_SCRATCH_PATH];
};

/* Return the path of a file in the folder, which the first call creates. Aborts the test on
 * failure. */
struct ek_scratch ek_scratch(const char *name);

#endif
