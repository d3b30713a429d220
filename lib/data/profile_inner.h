/* Parts of the profile that only its own files see. */
#ifndef EK_DATA_PROFILE_INNER_H
#define EK_DATA_PROFILE_INNER_H

#include "data/profile.h"

/* Name of the first array, in the file's words, that holds what no training gives (not finite, out
 * of range, names out of order); NULL when all is well. The detector divides by some of these and
 * looks names up by halving, so a damaged file must not come that far. */
const char *ek_profile_fault(const struct ek_profile *p);

#endif
