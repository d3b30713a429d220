/* What of Jansson must not run out of memory in tests: the buffer in which it keeps a token, which
 * doubles from 16 bytes on. Jansson 2.14 does not look whether it could, and reads and writes
 * beyond it (docs/limits.md). */
#ifndef EK_TESTS_ALLOC_JSON_TOKEN_H
#define EK_TESTS_ALLOC_JSON_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

static inline bool json_grows_token(size_t size)
{
    return size > 16 && (size & (size - 1)) == 0;
}

#endif
