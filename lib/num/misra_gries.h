/* Misra-Gries heavy-hitter counter: the weight of each of very many keys in bounded memory.
 *
 * Weights are exact, in any order of additions, up to `most` distinct keys. Beyond, the median
 * weight is subtracted from every key, and keys without weight are removed (Misra and Gries 1982,
 * in batches as Anderson et al. 2017). A weight is then too small by at most total / (most / 2), so
 * every heavier key is present. Memory: 24 bytes per slot, at most 2 slots per key.
 */
#ifndef EK_NUM_MISRA_GRIES_H
#define EK_NUM_MISRA_GRIES_H

#include <stddef.h>
#include <stdint.h>

struct ek_misra_gries_key {
    uint64_t key, weight;
    uint64_t times; /* additions since the last removal; 0: empty slot */
};

struct ek_misra_gries;

/* Create an empty counter for `most` keys, a power of two of at least 32. Return 0, or EK_ENOMEM.
 */
int ek_misra_gries_new(struct ek_misra_gries **out, size_t most);
void ek_misra_gries_free(struct ek_misra_gries *h);
/* Add `weight` to a key; a weight of 0 has no effect. Return 0, or EK_ENOMEM without a change. */
int ek_misra_gries_add(struct ek_misra_gries *h, uint64_t key, uint64_t weight);
/* Add the weight and the number of additions of an entry listed by another counter. Return 0, or
 * EK_ENOMEM without a change. */
int ek_misra_gries_add_weight(struct ek_misra_gries *h, const struct ek_misra_gries_key *key);
/* Return the number of keys. */
size_t ek_misra_gries_count(const struct ek_misra_gries *h);
/* Write all keys to out [count] in ascending order. */
void ek_misra_gries_list(const struct ek_misra_gries *h, struct ek_misra_gries_key *out);

#endif
