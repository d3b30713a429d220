/* Parts of the profile that only its own files see. */
#ifndef EK_DATA_PROFILE_INNER_H
#define EK_DATA_PROFILE_INNER_H

#include "assets/profile.h"
#include "assets/tensors.h"

/* Name of the first array, in the file's words, that holds what no training gives (not finite, out
 * of range, names out of order); NULL when all is well. The detector divides by some of these and
 * looks names up by halving, so a damaged file must not come that far. */
const char *ek_profile_fault(const struct ek_profile *p);

bool ek_profile_has_categories(const struct ek_profile *p);
/* The tables of category features; nothing where there is none. EK_ENOMEM, and when reading
 * EK_EFORMAT. */
int ek_profile_add_categories(struct ek_tensors *t, const struct ek_profile *p);
int ek_profile_read_categories(const struct ek_tensors *t, struct ek_profile *p,
                               struct ek_error *e);

/* What each list said, where the profile keeps that. Reading: EK_ESTATE when the file does not have
 * it, EK_EFORMAT, EK_ENOMEM; p->lists may be there in part then. */
int ek_profile_add_lists(struct ek_tensors *t, const struct ek_profile *p);
int ek_profile_read_lists(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e);

#endif
