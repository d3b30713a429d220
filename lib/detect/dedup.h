/* Recently seen lists, to detect repeats and related lists, and the canary bucket of a list.
 *
 * A repeat (a retry, a bot, a reloaded page) is no new evidence. A related list (same query
 * features, other items) is little evidence if related lists resembled each other in training.
 *
 * Stores keys in 4,096 slots of 12 bytes; a key counts as seen for EK_REPEAT_LISTS lists. A
 * collision overwrites a slot, so a repeat may be missed. The probability that a new list is taken
 * for a repeat is below 1e-6.
 */
#ifndef EK_DETECT_DEDUP_H
#define EK_DETECT_DEDUP_H

#include "base/serialize.h"
#include "lists/list.h"
#include "rules/rules.h"

enum { EK_REPEAT_SLOTS = 4096, EK_REPEAT_LISTS = 1000 };

struct ek_dedup {
    uint32_t tag[EK_REPEAT_SLOTS];
    uint32_t number[EK_REPEAT_SLOTS]; /* of the first list with this key, plus 1; 0: empty */
    uint32_t seen[EK_REPEAT_SLOTS];
};

/* Return the key of a list by the bits of enum ek_same: its query features and its item ids, in any
 * order. Without ids, the values of the items replace them. */
uint64_t ek_dedup_key(const struct ek_list *q, unsigned same);
/* Return how often the key was seen in the EK_REPEAT_LISTS lists before list `number`, 0 for a new
 * list, and count it as seen. */
uint32_t ek_dedup_count(struct ek_dedup *r, uint64_t key, uint64_t number);
/* Merge the keys of another instance, preserving their ages. `there` is the number of its next
 * list, `here` that of r. On a collision the local key stays. */
void ek_dedup_merge(struct ek_dedup *r, const struct ek_dedup *others, uint64_t here,
                    uint64_t there);
/* Read or write the slots that still count for list `number`. Errors are in s->rc. */
void ek_dedup_serialize(struct ek_dedup *r, struct ek_serialize *s, uint64_t number);

/* Canary buckets of lists, 0 .. EK_BUCKETS - 1. A canary of P percent acts on buckets below 100 P
 * (plan/plan.h).
 *
 * The bucket is xxh64 of the id with EK_BUCKET_SEED, modulo 10,000. It is the same on every
 * machine, instance and version, so a list keeps its treatment over restarts and a growing canary
 * only adds lists. A list without an id uses ek_dedup_key with both bits, hashed as eight
 * little-endian bytes; that bucket depends on the manifest. All features share the bucket.
 * Thread-safe.
 */
enum { EK_BUCKETS = 10000 };
#define EK_BUCKET_SEED 0x656b63616e617279u /* "ekcanary" */

/* Return the canary bucket of a list, 0 .. EK_BUCKETS - 1, from a hash of its id. */
int ek_canary_bucket(const struct ek_list *q);

#endif
