/* Fit of a profile in one pass over the training lists.
 *
 * Memory: 16 bytes per list and item feature, plus the sketches.
 */
#ifndef EK_OFFLINE_FIT_PROFILE_FIT_H
#define EK_OFFLINE_FIT_PROFILE_FIT_H

#include "assets/profile.h"
#include "lists/list.h"

/* Merging profiles equals a fit to all their lists, except for the last digits of levels, because
 * the lists in a profile are rounded. */
struct ek_profile_fit;

/* Create a fit. The manifest must outlive it. field: segment dimension or query feature that
 * defines the strata, copied; NULL: one stratum. Return 0, EK_ENOMEM, or EK_ESTATE for a watched
 * query feature. */
int ek_profile_fit_new(struct ek_profile_fit **out, const struct ek_manifest *m, const char *field,
                       struct ek_error *e);
/* Add a list, which is not kept. Return 0, EK_ESTATE for a list of another manifest, EK_ELIMIT
 * beyond EK_STRATA_MAX strata, or EK_ENOMEM. */
int ek_profile_fit_add(struct ek_profile_fit *fit, const struct ek_list *q, struct ek_error *e);
/* Add the lists of a profile with the same manifest (p->lists). They have no items and segments, so
 * the profile gets no levels of these. Return 0, EK_ESTATE if it has another field of strata,
 * EK_ELIMIT beyond EK_STRATA_MAX strata, or EK_ENOMEM. */
int ek_profile_fit_merge(struct ek_profile_fit *fit, const struct ek_profile *p,
                         struct ek_error *e);
/* Set that ek_profile_fit_finish stores the lists in the profile, so that it can be merged: 16
 * bytes per list and feature. */
void ek_profile_fit_retain_lists(struct ek_profile_fit *fit);
/* Create the profile of the added lists, which the caller frees. The fit can then only be freed.
 * Return 0, EK_ENOMEM, or EK_ESTATE if no list was added or no list had the field of strata. */
int ek_profile_fit_finish(struct ek_profile_fit *fit, struct ek_profile **out, struct ek_error *e);
void ek_profile_fit_free(struct ek_profile_fit *fit);

#endif
