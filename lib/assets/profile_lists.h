/* What each training list said, kept in a profile so that it can be merged with others
 * (docs/format/profile.md).
 *
 * A profile has quantiles and ranks of all lists, which no two profiles add up to; with these it is
 * fitted anew. 16 bytes per list and item feature. Owner: the profile. Threads: read-only.
 */
#ifndef EK_ASSETS_PROFILE_LISTS_H
#define EK_ASSETS_PROFILE_LISTS_H

#include "num/misra_gries.h"
#include "num/list_stats.h"

/* Of one category feature: shares by stratum and value, and each stratum's lists with a value. */
struct ek_category_counts {
    struct ek_misra_gries_key
        *pair; /* [pairs], rising; stratum in the upper half, the value's bits */
    size_t pairs;
    uint32_t *lists; /* [strata]; NULL where the feature is no category */
};

struct ek_profile_lists {
    size_t queries;
    int features;
    struct ek_list_stats *record;        /* [queries, features] */
    uint64_t *relative;                  /* [queries] key of the query features */
    int *stratum;                        /* [queries] of the profile */
    struct ek_category_counts *category; /* [features] */
};

/* Empty, without records; NULL without memory. */
struct ek_profile_lists *ek_profile_lists_new(int features);
void ek_profile_lists_free(struct ek_profile_lists *l);

#endif
