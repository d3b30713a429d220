/* A limit and its neighbours: one below and at the limit something is taken, one above it is
 * refused with an error that names the limit and begins with its place.
 */
#ifndef EK_TESTS_LIMIT_H
#define EK_TESTS_LIMIT_H

#include "base/error.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_BYTES = 400 };

/* Makes or reads something of that size; the code, and the error as people see it. */
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
