/* Makes the list of num/bet_steps.h for the features of a profile.
 *
 * Owner: the caller. Memory: about 1.9 KiB per feature.
 */
#ifndef EK_DECIDE_LIST_BETS_H
#define EK_DECIDE_LIST_BETS_H

#include "detect/bets.h"

#include <stdbool.h>

/* bets and baseline [features]; tables and bets must outlive it. EK_ENOMEM. */
int ek_list_bets_new(struct ek_bet_list **out, const struct ek_bet_tables *tables,
                     const struct ek_feature_bets *bets, const struct ek_baseline *baseline,
                     int features);
/* Another list of the same features, which must outlive it: what is of training is shared. */
int ek_list_bets_beside(struct ek_bet_list **out, const struct ek_bet_list *with);
void ek_list_bets_free(struct ek_bet_list *l);

#endif
