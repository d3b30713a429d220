/* xxh64 of bytes (libxxhash): manifest identity, repeated lists, canary buckets. CRC-32 (zlib):
 * checksums that any language can verify. */
#ifndef EK_BASE_HASH_H
#define EK_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A seed of 0 is known to everybody: where others choose what is looked up, so that they could make
 * it fall in one place, hash with a seed that nobody knows. */
uint64_t ek_hash(const void *bytes, size_t length, uint64_t seed);
/* As zlib and gzip have it. */
uint32_t ek_crc32(const void *bytes, size_t length);

#endif
