/* xxh64 (libxxhash) for manifest identity, repeated lists and canary buckets; CRC-32 (zlib) for
 * portable checksums; set of hashes. */
#ifndef EK_BASE_HASH_H
#define EK_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return xxh64 of the bytes. Where untrusted input selects the keys of a table, use a secret seed
 * to prevent collision attacks. */
uint64_t ek_hash(const void *bytes, size_t length, uint64_t seed);
/* Return the CRC-32 of zlib and gzip. */
uint32_t ek_crc32(const void *bytes, size_t length);

/* Set of 64-bit hashes. Load factor at most 1/2; a hash of 0 is stored as 1. */

struct ek_hash_set {
    uint64_t *slots;
    size_t count, capacity;
};

/* Initialize an empty set, without allocating. */
void ek_hash_set_init(struct ek_hash_set *s);
/* Free the memory and empty the set. */
void ek_hash_set_release(struct ek_hash_set *s);
/* Add a hash; *added is false if present. Return 0, or EK_ENOMEM with the set unchanged. */
int ek_hash_set_add(struct ek_hash_set *s, uint64_t hash, bool *added);

#endif
