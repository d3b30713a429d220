/* Levels of items that training did not contain, learned from the lists that show them.
 *
 * An item gets a level of a feature after EK_LEARNED_LISTS lists: the mean of its ln|x| there, less
 * what the items of each list have in common. They are at least EK_LEARNED_GAP lists apart, as the
 * lists of one search are alike. A value far from the mean starts it again, since the values before
 * may have been those of a fault that was not known yet. The level then stays, like one of
 * training. A new item replaces the one of its set that was not seen for longest, so memory is
 * bounded. Not thread-safe.
 */
#ifndef EK_ASSETS_LEARNED_LEVELS_H
#define EK_ASSETS_LEARNED_LEVELS_H

#include "base/serialize.h"
#include "base/text.h"

/* Items, and the sets and blocks that they are in. */
enum {
    EK_LEARNED_ITEMS = 1 << 15,
    EK_LEARNED_WAYS = 4,
    EK_LEARNED_BLOCK = 512,
    EK_LEARNED_BLOCKS = EK_LEARNED_ITEMS / EK_LEARNED_BLOCK
};
enum { EK_LEARNED_LISTS = 8, EK_LEARNED_GAP = 32 };

struct ek_learned_levels;

/* Create a table without items. far [features]: distance (ln) from the mean at which it starts
 * again; copied. About 12 + 9 * features bytes per item, touched as items arrive. Return 0 or
 * EK_ENOMEM. */
int ek_learned_levels_new(struct ek_learned_levels **out, const float *far, int features);
/* Free a table. NULL is allowed. */
void ek_learned_levels_free(struct ek_learned_levels *t);
/* Return whether the table has items. NULL: false. */
bool ek_learned_levels_has_items(const struct ek_learned_levels *t);
/* Return the levels [features] of an item, NaN for those that are not learned yet; NULL for an
 * unknown item. The table owns them, until the next call that changes it. NULL is allowed. */
const float *ek_learned_levels_find(const struct ek_learned_levels *t, struct ek_text id);
/* Add one item of a list: ln [features] of its values less what the list has in common, NaN for
 * values to ignore. `list` is the number of the list. */
void ek_learned_levels_add(struct ek_learned_levels *t, struct ek_text id, const float *ln,
                           uint64_t list);
/* Add the items of another table of as many features that this one lacks. */
void ek_learned_levels_merge(struct ek_learned_levels *t, const struct ek_learned_levels *other);
/* Return a mark that changes whenever the items of a block or their levels do; 0: the block has no
 * items. */
uint64_t ek_learned_levels_mark(const struct ek_learned_levels *t, int block);
/* Read or write the items of a block. Errors are in s->rc. */
void ek_learned_levels_serialize(struct ek_learned_levels *t, int block, struct ek_serialize *s);

#endif
