/* Fit of a category table from training lists in one pass with bounded memory.
 *
 * Weights are counted by stratum and value (num/misra_gries.h). Counts are exact up to
 * EK_CATEGORY_PAIRS_MAX pairs. Beyond, light values are removed and their weight counts as unknown.
 */
#ifndef EK_OFFLINE_FIT_CATEGORY_FIT_H
#define EK_OFFLINE_FIT_CATEGORY_FIT_H

#include "assets/profile.h"
#include "assets/profile_lists.h"
#include "detect/category.h"

enum { EK_CATEGORY_PAIRS_MAX = 1 << 16 };

struct ek_category_fit;

/* Create an empty fit. Return 0, or EK_ENOMEM. */
int ek_category_fit_new(struct ek_category_fit **out);
void ek_category_fit_free(struct ek_category_fit *fit);
/* Add the values of a list of `stratum`, 0 .. EK_STRATA_MAX-1. Return 0, or EK_ENOMEM; part of its
 * values may then count. */
int ek_category_fit_add(struct ek_category_fit *fit, const struct ek_category_list *l, int stratum);
/* Add the counts of another fit; number [strata] maps its strata to those of `fit`. Return 0, or
 * EK_ENOMEM; a part is then added. */
int ek_category_fit_merge(struct ek_category_fit *fit, const struct ek_category_counts *c,
                          const int *number, int strata);
/* Set *out, which must be zero, to the counts by stratum of the profile. The arrays `pair` and
 * `lists` are allocated and belong to the caller, also after an error. number [strata] maps strata
 * of lists to strata of the profile. The fit stays unchanged. Return 0, or EK_ENOMEM with `pairs`
 * 0. */
int ek_category_fit_counts(const struct ek_category_fit *fit, const int *number, int strata,
                           struct ek_category_counts *out);
/* Set *out to the category table, which the caller frees; number [strata] maps strata of lists to
 * strata of the profile. The fit stays unchanged. Return 0, or EK_ENOMEM with an empty table. */
int ek_category_fit_finish(const struct ek_category_fit *fit, const int *number, int strata,
                           struct ek_category_table *out);

#endif
