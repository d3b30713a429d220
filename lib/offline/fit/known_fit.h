/* Known values of a profile: all distinct values of each feature that has at most
 * EK_KNOWN_VALUES_MAX, such as stars. Infinite and missing values do not count. */
#ifndef EK_OFFLINE_FIT_KNOWN_FIT_H
#define EK_OFFLINE_FIT_KNOWN_FIT_H

#include "assets/profile.h"
#include "lists/list.h"

struct ek_known_fit;

/* Create an empty set for the watched features of a manifest, without its categories. The manifest
 * must outlive it. Return 0, or EK_ENOMEM. */
int ek_known_fit_new(struct ek_known_fit **out, const struct ek_manifest *m);
void ek_known_fit_free(struct ek_known_fit *k);
/* Add the values of a list, which are copied. */
void ek_known_fit_add(struct ek_known_fit *k, const struct ek_list *q);
/* Add the values of a profile, which stays unchanged; features without known values have none
 * afterwards. */
void ek_known_fit_merge(struct ek_known_fit *k, const struct ek_profile *p);
/* Store the known values in a profile of the same features; `k` stays unchanged. */
void ek_known_fit_finish(const struct ek_known_fit *k, struct ek_profile *p);

#endif
