#include "base/hash.h"

#include <xxhash.h>
#include <zlib.h>

uint64_t ek_hash(const void *bytes, size_t length, uint64_t seed)
{
    return XXH64(bytes, length, seed);
}

uint32_t ek_crc32(const void *bytes, size_t length)
{
    return (uint32_t)crc32_z(0, bytes, length);
}
