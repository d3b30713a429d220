/* Statistics of each training list, kept in a profile so that profiles can be merged
 * (docs/dev/formats/profile.md).
 *
 * Quantiles and ranks of two profiles cannot be combined; the merged profile is fitted to these
 * lists. Memory: 16 bytes per list and item feature. Read-only.
 */
#ifndef EK_ASSETS_PROFILE_LISTS_H
#define EK_ASSETS_PROFILE_LISTS_H

#include "num/misra_gries.h"
#include "num/list_stats.h"

/* Counts of one category feature: shares by stratum and value, and lists with a value by
 * stratum. */
struct ek_category_counts {
    struct ek_misra_gries_key *pair; /* [pairs] ascending; key: stratum in the upper half, bits of
                                      * the value in the lower */
    size_t pairs;
    uint32_t *lists; /* [strata]; NULL if not a category */
};

struct ek_profile_lists {
    size_t queries;
    int features;
    struct ek_list_stats *record;        /* [queries, features] */
    int64_t *time_ms;                    /* [queries] -1: unknown */
    int *stratum;                        /* [queries] index in the profile */
    struct ek_category_counts *category; /* [features] */
};

/* Return an empty object without records, or NULL if out of memory. */
struct ek_profile_lists *ek_profile_lists_new(int features);
void ek_profile_lists_free(struct ek_profile_lists *l);

#endif
