/* What has to work in programs without Check: where it does not, they end. */
#ifndef EK_TESTS_MUST_H
#define EK_TESTS_MUST_H

#include <stdlib.h>

/* Takes what calls return, 0 for good. */
static inline void must(int rc)
{
    if (rc)
        abort();
}

#endif
