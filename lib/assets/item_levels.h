/* Levels of items: the mean ln|x| of each item in training, the reference of features whose values
 * belong to the item, such as a price.
 *
 * A list's level relative to those of its own items does not depend on which items were requested,
 * so it varies much less than its level relative to the stratum. Only features for which training
 * showed that are in the table (offline/fit/item_level_fit.h). Items that training did not contain
 * have no level. Immutable after loading; shareable between threads.
 */
#ifndef EK_ASSETS_ITEM_LEVELS_H
#define EK_ASSETS_ITEM_LEVELS_H

#include "assets/tensors.h"
#include "base/text.h"
#include "lists/list.h"
#include "num/list_stats.h"

#include <stdbool.h>

/* Bounds of the table: items, and values of all its features together. */
enum { EK_ITEM_LEVELS_MAX = 1 << 16, EK_ITEM_LEVEL_VALUES_MAX = 1 << 22 };

struct ek_item_levels {
    int features;  /* A */
    int *feature;  /* [A] item features, ascending */
    size_t items;  /* K */
    uint64_t *key; /* [K] hashes of the ids, ascending */
    float *value;  /* [K, A] ln; NaN: the item had too few values in training */
    float *mean;   /* [A] of `value` over the items */
    struct ek_own_spread {
        float mean, sd; /* over lists of training, ln, weighted by degrees of freedom; sd of one
                         * degree; sd 0: unknown */
    } * spread;         /* [A] of the values of a list around the levels of its items */
    bool *gaps;         /* [K] whether a level of the item is NaN */
    uint32_t *slot;     /* [slots] hash table: row + 1, 0: free */
    size_t slots;       /* power of two */
};

/* Return the key of an item id, never 0. */
uint64_t ek_item_key(struct ek_text id);
/* Allocate a table of zeros. The caller fills feature, spread, key and value, then calls
 * ek_item_levels_index. Return 0 or EK_ENOMEM. */
int ek_item_levels_new(struct ek_item_levels **out, size_t items, int features);
/* Free a table. NULL is allowed. */
void ek_item_levels_free(struct ek_item_levels *t);
/* Build the hash table, `mean` and `gaps` from keys and values, in place. Call once. */
void ek_item_levels_index(struct ek_item_levels *t);
/* Return whether a feature is in the table. NULL: false. */
bool ek_item_levels_has(const struct ek_item_levels *t, int feature);
/* Return the usual own spread of a feature; sd 0 without levels by item. NULL is allowed. */
struct ek_own_spread ek_item_levels_spread(const struct ek_item_levels *t, int feature);
/* Return the mean level (ln) of the items in a feature, 0 without levels by item. NULL is
 * allowed. */
float ek_item_levels_mean(const struct ek_item_levels *t, int feature);
/* Return the levels [A] of an item, owned by the table, or NULL if training did not contain it. */
const float *ek_item_levels_find(const struct ek_item_levels *t, struct ek_text id);
/* Return the mean level of the usable values of a list that have one, 0 if the feature is not in
 * the table, NAN if fewer than half have one. NULL: 0. */
double ek_item_levels_of(const struct ek_item_levels *t, const struct ek_list *q, int feature);
/* Return a hash of the table, from `seed`. NULL: seed. */
uint64_t ek_item_levels_hash(const struct ek_item_levels *t, uint64_t seed);

/* Return a variance around the levels of the items as own_spread of num/list_stats.h. */
int16_t ek_item_levels_encode_spread(double variance);
/* Return own_spread in ln. */
static inline double ek_item_levels_decode_spread(int16_t own_spread)
{
    return own_spread / 256.0;
}

/* Return the degrees of freedom of own_spread, for a list with `usable` values; 0 without one. */
static inline double ek_item_levels_spread_weight(int16_t own_spread, int usable)
{
    return !own_spread ? 0 : usable < 2 ? 1 : usable - 1;
}

struct ek_learned_levels;

/* Buffers for one list, reused by the next. */
struct ek_item_levels_scratch {
    float *x;                          /* rows of the known items */
    const float **level;               /* of each known item */
    bool *gaps;                        /* of each known item: whether a level is NaN */
    int *row;                          /* of each known item */
    bool all;                          /* whether all items of the last list have all levels */
    size_t items;                      /* capacity */
    double *sum, *ln, *away, *squares; /* [A], one allocation */
    struct ek_list_stats *record;      /* [F] */
};

/* Free the memory of the scratch; it starts as {0} and is so again. */
void ek_item_levels_scratch_release(struct ek_item_levels_scratch *s);
/* Make r of the table's features in record [F] relative to the levels of the items: the mean over
 * the items that have one, in the table or learned (NULL: none). A list in which fewer than half of
 * the usable values are of such items has no level and no spread afterwards. Also sets own_spread
 * of lists with three such values. `moments` is scratch; it and pivot are those that computed the
 * records. Return 0, or EK_ENOMEM with the records unchanged. */
int ek_item_levels_apply(const struct ek_item_levels *t, const struct ek_learned_levels *learned,
                         const struct ek_list *q, struct ek_item_levels_scratch *s,
                         struct ek_list_moments *moments, const float *pivot,
                         struct ek_list_stats *record);

/* Append the table to a profile file. NULL: nothing. Return 0 or EK_ENOMEM. */
int ek_item_levels_write(const struct ek_item_levels *t, struct ek_tensors *file);
/* Read the table of a profile of `features` item features; the caller frees *out, which is NULL if
 * the file has none. Return 0, EK_ENOMEM, or EK_EFORMAT for keys or features out of order and
 * levels that are not finite. */
int ek_item_levels_read(struct ek_item_levels **out, const struct ek_tensors *file, int features,
                        struct ek_error *e);

#endif
