/* Parts of the profile that only its own files see. */
#ifndef EK_ASSETS_PROFILE_INTERNAL_H
#define EK_ASSETS_PROFILE_INTERNAL_H

#include "assets/profile.h"
#include "assets/tensors.h"

bool ek_profile_has_categories(const struct ek_profile *p);

/* What each list said, where the profile keeps that. Reading: EK_ESTATE when the file does not have
 * it, EK_EFORMAT, EK_ENOMEM; p->lists may be there in part then. */
int ek_profile_add_lists(struct ek_tensors *t, const struct ek_profile *p);
int ek_profile_read_lists(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e);

#endif
