/* Empty temporary file for a test; the caller unlinks it. */
#ifndef EK_TESTS_TEMPORARY_H
#define EK_TESTS_TEMPORARY_H

#include <stdlib.h>
#include <unistd.h>

struct temporary {
    char path[32];
};

static inline struct temporary temporary_file(void)
{
    struct temporary f = {"/tmp/ek-test-XXXXXX"};
    close(mkstemp(f.path));
    return f;
}

#endif
