#include "base/hash.h"

#include <xxhash.h>

uint64_t ek_hash(const void *bytes, size_t length, uint64_t seed)
{
    return XXH64(bytes, length, seed);
}
