/* Heavy hitters: how much each of very many keys weighs, in bounded memory.
 *
 * Exact, whatever the order of additions, while there are no more than `most` different keys.
 * Beyond, the median weight is taken off every key and those without any left are forgotten (Misra
 * and Gries 1982, in batches as Anderson et al. 2017): a key's weight is short by at most
 * total / (most / 2), so whatever weighs more is there. Weights are integers: sums are exact.
 * Owner: the caller, ek_misra_gries_free. Memory: 24 bytes per slot, at most 2 slots per key.
 */
#ifndef EK_NUM_MISRA_GRIES_H
#define EK_NUM_MISRA_GRIES_H

#include <stddef.h>
#include <stdint.h>

struct ek_misra_gries_key {
    uint64_t key, weight;
    uint64_t times; /* it was added since it was last forgotten; 0: an empty slot */
};

struct ek_misra_gries;

/* most: a power of two, at least 32. */
int ek_misra_gries_new(struct ek_misra_gries **out, size_t most);
void ek_misra_gries_free(struct ek_misra_gries *h);
/* EK_ENOMEM leaves it as it was. A weight of 0 is nothing. */
int ek_misra_gries_add(struct ek_misra_gries *h, uint64_t key, uint64_t weight);
/* The same for what weighs so much after so many additions, as another table lists it. */
int ek_misra_gries_add_weight(struct ek_misra_gries *h, const struct ek_misra_gries_key *key);
size_t ek_misra_gries_count(const struct ek_misra_gries *h);
/* Writes all keys [count] to `out`, by rising key. */
void ek_misra_gries_list(const struct ek_misra_gries *h, struct ek_misra_gries_key *out);

#endif
