/* The table of a category feature from training lists, one pass, bounded memory.
 *
 * Counts shares by stratum and value (num/misra_gries.h): exact up to EK_CATEGORY_PAIRS_MAX pairs;
 * with more, light values are forgotten, and what they had counts as unknown.
 */
#ifndef EK_OFFLINE_FIT_CATEGORY_FIT_H
#define EK_OFFLINE_FIT_CATEGORY_FIT_H

#include "assets/profile.h"
#include "assets/profile_lists.h"
#include "detect/category.h"

enum { EK_CATEGORY_PAIRS_MAX = 1 << 16 };

struct ek_category_fit;

int ek_category_fit_new(struct ek_category_fit **out);
void ek_category_fit_free(struct ek_category_fit *fit);
/* stratum: 0 .. EK_STRATA_MAX-1. EK_ENOMEM. */
int ek_category_fit_add(struct ek_category_fit *fit, const struct ek_category_list *l, int stratum);
/* Adds what another fit had counted; number [strata]: the stratum here that one of its strata is.
 * EK_ENOMEM. */
int ek_category_fit_merge(struct ek_category_fit *fit, const struct ek_category_counts *c,
                          const int *number, int strata);
/* What was counted, by stratum of the profile (number as below), to be released by the profile.
 * EK_ENOMEM. */
int ek_category_fit_counts(const struct ek_category_fit *fit, const int *number, int strata,
                           struct ek_category_counts *out);
/* Fills the table. number [strata]: the stratum of the profile that a stratum of the lists has
 * become. EK_ENOMEM, the table is empty then. */
int ek_category_fit_finish(const struct ek_category_fit *fit, const int *number, int strata,
                           struct ek_category_table *out);

#endif
