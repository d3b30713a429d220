/* xxh64 (libxxhash) for manifest identity, repeated lists and canary buckets; CRC-32 (zlib) for
 * portable checksums. */
#ifndef EK_BASE_HASH_H
#define EK_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Return xxh64 of the bytes. Where untrusted input selects the keys of a table, use a secret seed
 * to prevent collision attacks. */
uint64_t ek_hash(const void *bytes, size_t length, uint64_t seed);
/* Return the CRC-32 of zlib and gzip. */
uint32_t ek_crc32(const void *bytes, size_t length);

#endif
