/* Test of a limit and its neighbors: sizes up to the limit are accepted. One more is rejected with
 * an error that names the limit and starts with the location. */
#ifndef EK_TESTS_LIMIT_H
#define EK_TESTS_LIMIT_H

#include "base/error.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_BYTES = 400 };

/* Create or read an object of that size. Return the code, and write the user-visible error. */
typedef int limit_take(int size, char said[SAID_BYTES]);

static inline void ck_beyond(limit_take *take, int size, const char *place, const char *says)
{
    char said[SAID_BYTES] = "";
    ck_assert_msg(take(size, said) != EK_OK, "%d was taken", size);
    ck_assert_msg(strstr(said, says) && !strncmp(said, place, strlen(place)),
                  "'%s' does not begin with '%s' or has no '%s'", said, place, says);
}

static inline void ck_limit(limit_take *take, int most, const char *place, const char *says)
{
    char said[SAID_BYTES] = "";
    for (int size = most - 1; size <= most; size++)
        ck_assert_msg(take(size, said) == EK_OK, "%d of %d: %s", size, most, said);
    ck_beyond(take, most + 1, place, says);
}

#endif
