/* Lists that were seen lately: a repeat (a retry, a bot, a page reloaded) is no new evidence, and a
 * relative (the same query features, other items) is little where training says that relatives
 * resemble each other.
 *
 * Remembers keys in 4,096 slots of 12 bytes; a key counts as seen within the last EK_REPEAT_LISTS.
 * A slot that was overwritten is forgotten: a repeat may be missed; a fresh list is taken for one
 * with probability below 1e-6 per list.
 */
#ifndef EK_DETECT_DEDUP_H
#define EK_DETECT_DEDUP_H

#include "base/serialize.h"
#include "lists/list.h"
#include "rules/rules.h"

enum { EK_REPEAT_SLOTS = 4096, EK_REPEAT_LISTS = 1000 };

struct ek_dedup {
    uint32_t tag[EK_REPEAT_SLOTS];
    uint32_t number[EK_REPEAT_SLOTS]; /* of the list that was fresh, plus 1; 0: empty */
    uint32_t seen[EK_REPEAT_SLOTS];
};

/* Key of a list's query features alone. */
uint64_t ek_relative_key(const struct ek_list *q);
/* Key of a list by what counts as the same (of enum ek_same): its query features, its item ids or,
 * where there are no ids, the items' values, in any order. */
uint64_t ek_dedup_key(const struct ek_list *q, unsigned same);
/* How often the key was seen within the last EK_REPEAT_LISTS before list `number`, 0 for a fresh
 * one; remembers it. */
uint32_t ek_dedup_count(struct ek_dedup *r, uint64_t key, uint64_t number);
/* Takes in what others have seen, whose next list is `there` when the next one here is `here`, as
 * if it had been as many lists ago here. Of two keys in one slot the one from here stays. */
void ek_dedup_merge(struct ek_dedup *r, const struct ek_dedup *others, uint64_t here,
                    uint64_t there);
/* The slots that still count for list `number` or a later one. */
void ek_dedup_serialize(struct ek_dedup *r, struct ek_serialize *s, uint64_t number);

/* In which of 10,000 buckets a query is: a canary of P percent acts on those below 100 P
 * (plan/plan.h).
 *
 * The same on every machine, in every instance and in every version, so that a query stays in a
 * canary or out of it over restarts, and growing only adds queries: xxh64 of the bytes of its id
 * with EK_BUCKET_SEED, modulo 10,000. A list without an id, or with an empty one, is known by its
 * query features and its items in any order (ek_dedup_key with both bits), hashed the same way as
 * eight bytes, the lowest first; another manifest may put it elsewhere. One bucket for all
 * features: a query is wholly in a canary or wholly out of it.
 * Pure; any thread. Allocates nothing.
 */
enum { EK_BUCKETS = 10000 };
#define EK_BUCKET_SEED 0x656b63616e617279u /* "ekcanary" */

int ek_canary_bucket(const struct ek_list *q);

#endif
