/* A set of 64-bit hashes: what was seen before.
 *
 * Invariants: at most half of the slots are taken; a hash of 0 is kept as 1. Owner: whoever called
 * ek_hash_set_init; memory goes back with ek_hash_set_release.
 */
#ifndef EK_BASE_HASH_SET_H
#define EK_BASE_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_hash_set {
    uint64_t *slots;
    size_t count, capacity;
};

void ek_hash_set_init(struct ek_hash_set *s);
void ek_hash_set_release(struct ek_hash_set *s);
/* *added tells whether it was new. EK_ENOMEM leaves the set as it was. */
int ek_hash_set_add(struct ek_hash_set *s, uint64_t hash, bool *added);

#endif
