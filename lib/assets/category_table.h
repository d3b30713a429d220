/* The values of a category feature in training: how much of a list each takes, on average.
 *
 * A value is a code: what is equal is the same, nothing is near or far. -0 is 0; infinities are
 * values like others; NaN is missing and never a value. Shares are of a list's present items,
 * averaged over lists, by stratum as the levels are: a list is one observation, however many items
 * it has, as its items are alike. The EK_CATEGORIES_MAX heaviest values are kept, fewer where
 * values times strata would pass EK_CATEGORY_CELLS_MAX; all others are unknown.
 * Owner: the profile.
 */
#ifndef EK_DATA_CATEGORY_TABLE_H
#define EK_DATA_CATEGORY_TABLE_H

#include "base/error.h"

#include <stddef.h>

enum { EK_CATEGORIES_MAX = 1024, EK_CATEGORY_CELLS_MAX = 1 << 20 };

struct ek_category_table {
    int count, strata; /* V, S; strata 0: not a category */
    float *value;      /* [V] rising */
    float *share;      /* [V, S] */
    float *unknown; /* [S] share of values that are not in the table: what was left out of it, and
                     * what a list brings that no other list has (Good 1953) */
};

int ek_category_table_init(struct ek_category_table *t, int count, int strata);
void ek_category_table_release(struct ek_category_table *t);
/* Number of a value, -1 when training did not have it. */
int ek_category_find(const struct ek_category_table *t, float value);

#endif
