/* What of accepted levels a guard minds when it scores; accepting itself is in evenkeel.h. */
#ifndef EK_GUARD_GUARD_ACCEPT_H
#define EK_GUARD_GUARD_ACCEPT_H

#include "guard/guard_internal.h"

/* Accepted levels are those that belong to the plan of the list. */

/* Adds to what a plan has for the list of the context what brings its accepted levels back to the
 * scale that the model was trained on: to the treatments, and to what would undo its faults. */
void ek_guard_treat_accepted(const struct ek_guard *g, struct ek_context *c,
                             const struct ek_plan *plan, const int16_t *cells, int count);
/* The treatment of a list that nothing is done to: NULL, or in the context what brings its accepted
 * levels back to the scale that the model was trained on. */
const struct ek_treatment *ek_guard_untreated(const struct ek_guard *g, struct ek_context *c,
                                              const struct ek_plan *plan, const int16_t *cells,
                                              int count);

#endif
