/* Lists that were seen lately: a repeat (a retry, a bot, a page reloaded) is no new evidence.
 *
 * Remembers keys in 4,096 slots of 8 bytes; a key counts as seen within the last EK_REPEAT_LISTS.
 * A slot that was overwritten is forgotten: a repeat may be missed; a fresh list is taken for one
 * with probability below 1e-6 per list.
 */
#ifndef EK_DECIDE_REPEATS_H
#define EK_DECIDE_REPEATS_H

#include "data/query.h"

enum { EK_REPEAT_SLOTS = 4096, EK_REPEAT_LISTS = 1000 };

struct ek_repeats {
    uint32_t tag[EK_REPEAT_SLOTS];
    uint32_t number[EK_REPEAT_SLOTS]; /* of the list, plus 1; 0: empty */
};

/* Key of a list: its query features and item ids, or the items' values where there are no ids. */
uint64_t ek_repeat_key(const struct ek_query *q);
/* Whether list `number` repeats one seen lately; remembers it. */
int ek_repeat_seen(struct ek_repeats *r, uint64_t key, uint64_t number);

#endif
