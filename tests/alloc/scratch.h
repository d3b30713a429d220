/* A scratch folder per test process, removed when the process ends. */
#ifndef EK_TESTS_ALLOC_SCRATCH_H
#define EK_TESTS_ALLOC_SCRATCH_H

#include <stddef.h>

enum { EK_SCRATCH_PATH = 300 };

struct ek_scratch {
    char path[EK_SCRATCH_PATH];
};

/* The path of a file in the folder, which is made at the first call. Aborts the test when it cannot
 * be made. */
struct ek_scratch ek_scratch(const char *name);

#endif
