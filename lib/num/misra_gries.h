/* Heavy hitters: how much each of very many keys weighs, in bounded memory.
 *
 * Exact, whatever the order of additions, while there are no more than `most` different keys.
 * Beyond, the median weight is taken off every key and those without any left are forgotten (Misra
 * and Gries 1982, in batches as Anderson et al. 2017): a key's weight is short by at most
 * total / (most / 2), so whatever weighs more is there. Weights are integers: sums are exact.
 * Owner: the caller, ek_heavy_free. Memory: 24 bytes per slot, at most 2 slots per key.
 */
#ifndef EK_NUM_MISRA_GRIES_H
#define EK_NUM_MISRA_GRIES_H

#include <stddef.h>
#include <stdint.h>

struct ek_heavy_key {
    uint64_t key, weight;
    uint64_t times; /* it was added since it was last forgotten; 0: an empty slot */
};

struct ek_heavy;

/* most: a power of two, at least 32. */
int ek_heavy_new(struct ek_heavy **out, size_t most);
void ek_heavy_free(struct ek_heavy *h);
/* EK_ENOMEM leaves it as it was. A weight of 0 is nothing. */
int ek_heavy_add(struct ek_heavy *h, uint64_t key, uint64_t weight);
/* The same for what weighs so much after so many additions, as another table lists it. */
int ek_heavy_put(struct ek_heavy *h, const struct ek_heavy_key *key);
size_t ek_heavy_count(const struct ek_heavy *h);
/* Writes all keys [count] to `out`, by rising key. */
void ek_heavy_list(const struct ek_heavy *h, struct ek_heavy_key *out);

#endif
