/* Profile internals. */
#ifndef EK_ASSETS_PROFILE_INTERNAL_H
#define EK_ASSETS_PROFILE_INTERNAL_H

#include "assets/profile.h"
#include "assets/tensors.h"

/* Return whether any feature is a category. */
bool ek_profile_has_categories(const struct ek_profile *p);

/* Write and read the training lists kept in a profile. Reading returns 0, EK_ESTATE if the file has
 * none, EK_EFORMAT or EK_ENOMEM; on error p->lists may be partially filled. */
int ek_profile_add_lists(struct ek_tensors *t, const struct ek_profile *p);
int ek_profile_read_lists(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e);

#endif
