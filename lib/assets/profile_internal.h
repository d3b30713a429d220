/* Parts of a profile's file format that profile.c shares with the reader and writer of training
 * lists: those lists, and a check for category features. */
#ifndef EK_ASSETS_PROFILE_INTERNAL_H
#define EK_ASSETS_PROFILE_INTERNAL_H

#include "assets/profile.h"
#include "assets/tensors.h"

/* Return whether any feature is a category. */
bool ek_profile_has_categories(const struct ek_profile *p);

/* Add the training lists of a profile, if it has any, to a file. Return 0 or EK_ENOMEM. */
int ek_profile_add_lists(struct ek_tensors *t, const struct ek_profile *p);
/* Read the training lists of a file into p->lists. Return 0, EK_ESTATE if the file has none,
 * EK_EFORMAT or EK_ENOMEM; on error p->lists may be partially filled. */
int ek_profile_read_lists(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e);

#endif
