/* Fit of item levels (assets/item_levels.h), and the choice of the features that use them.
 *
 * Each list is measured against the means of its items in the lists before it, so that its level is
 * as far off as that of a future list. An item counts after EK_ITEM_LISTS_MIN lists. A random half
 * of the items of each list is left out, as many as may be new later, but for features with fewer
 * than four values in the list. A feature
 * uses item levels if its later lists vary at most half as much as relative to their strata, nearly
 * all have items with a level, block means wander little or as without item levels, and the items
 * do not age.
 */
#ifndef EK_OFFLINE_FIT_ITEM_LEVEL_FIT_H
#define EK_OFFLINE_FIT_ITEM_LEVEL_FIT_H

#include "assets/item_levels.h"
#include "assets/profile.h"
#include "offline/fit/query_slope_fit.h"

enum { EK_ITEM_LISTS_MIN = 4 };

struct ek_item_level_fit;

/* Create an empty fit for the item features of a manifest, without its categories. The manifest is
 * not kept. Return 0 or EK_ENOMEM. */
int ek_item_level_fit_new(struct ek_item_level_fit **out, const struct ek_manifest *m);
/* Free a fit. NULL is allowed. */
void ek_item_level_fit_free(struct ek_item_level_fit *fit);
/* Add the next list of training, which is not kept. Return 0 or EK_ENOMEM. */
int ek_item_level_fit_add(struct ek_item_level_fit *fit, const struct ek_list *q);
/* Set *out to the table of the chosen features, which the caller frees, NULL if there is none, and
 * make r of these features relative to it in record [queries, features], in order of training;
 * lists without a level have no usable value then. stratum [queries] is below `strata`. Lists are
 * compared after the effect of their queries, by `slopes` of the same lists, is removed. Return 0
 * or EK_ENOMEM. */
int ek_item_level_fit_finish(struct ek_item_level_fit *fit, struct ek_query_slope_fit *slopes,
                             struct ek_list_stats *record, const int *stratum, int strata,
                             struct ek_item_levels **out);

#endif
