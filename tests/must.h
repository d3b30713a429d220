/* Fatal checks for programs without Check. */
#ifndef EK_TESTS_MUST_H
#define EK_TESTS_MUST_H

#include <stdlib.h>

/* End the program unless a call returned 0. */
static inline void must(int rc)
{
    if (rc)
        abort();
}

#endif
