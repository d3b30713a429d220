/* Training lists to a profile, in one pass over the lists: what each says about each feature is
 * kept in 16 bytes, and fitted at the end.
 *
 * Memory: 16 bytes per list and item feature, plus the sketches.
 * Owner: the caller, ek_profile_fit_free.
 */
#ifndef EK_OFFLINE_FIT_PROFILE_FIT_H
#define EK_OFFLINE_FIT_PROFILE_FIT_H

#include "assets/profile.h"
#include "lists/list.h"

/* Lists that come from profiles have the rounding of those: a merged profile is that of all lists
 * together but for the last digits of levels. */
struct ek_profile_fit;

/* field: baseline field, a segment dimension or query feature; NULL for one stratum. */
int ek_profile_fit_new(struct ek_profile_fit **out, const struct ek_manifest *m, const char *field,
                       struct ek_error *e);
int ek_profile_fit_add(struct ek_profile_fit *fit, const struct ek_list *q, struct ek_error *e);
/* Adds the lists that a profile keeps (p->lists), which was made with the same manifest. EK_ESTATE
 * when it has another baseline field, EK_ELIMIT. */
int ek_profile_fit_merge(struct ek_profile_fit *fit, const struct ek_profile *p,
                         struct ek_error *e);
/* The profile is to keep its lists, so that it can be merged: 16 bytes per list and feature. */
void ek_profile_fit_retain_lists(struct ek_profile_fit *fit);
/* EK_ESTATE when no list was added, or none had the baseline field. */
int ek_profile_fit_finish(struct ek_profile_fit *fit, struct ek_profile **out, struct ek_error *e);
void ek_profile_fit_free(struct ek_profile_fit *fit);

#endif
