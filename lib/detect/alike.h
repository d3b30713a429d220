/* Whether two descriptions of lists (classify.h) say the same as far as chance goes, so that what
 * explains the one explains the other.
 */
#ifndef EK_DECIDE_ALIKE_H
#define EK_DECIDE_ALIKE_H

#include "detect/classify.h"

/* now: as ek_describe leaves it. Levels and shares of lists are compared where `then` is EK_SCALE;
 * both are to be measured on about `measured` lists. */
int ek_diagnosis_alike(const struct ek_diagnosis *then, const struct ek_diagnosis *now,
                       int measured);

#endif
