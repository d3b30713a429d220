/* Operator's orders (plan/order.h) to a guard, its accepted levels, and its pause. */
#ifndef EK_GUARD_OPERATOR_COMMANDS_H
#define EK_GUARD_OPERATOR_COMMANDS_H

#include "evenkeel.h"
#include "guard/guard_internal.h"
#include "plan/decisions.h"
#include "plan/order.h"
#include "schema/manifest.h"

#include <stdbool.h>

struct ek_guard;

/* Return the cell of a segment, value NULL: the one that values share; -1: it has none. */
int ek_guard_find_cell(const struct ek_guard *g, const char *segment, const char *value);
/* Check an order by the names and the time that the guard knows, without carrying it out. */
int ek_guard_check_order(const struct ek_guard *g, const struct ek_order *o, struct ek_error *e);
/* Carry out an order of an operator, as the functions of evenkeel.h do. *version: of an accept;
 * may be NULL. */
int ek_guard_carry_out(struct ek_guard *g, const struct ek_order *o, uint64_t *version,
                       struct ek_error *e);

/* What of accepted levels a guard minds when it scores; accepting itself is in evenkeel.h. */
/* Accepted levels are those that belong to the plan of the list. */

/* Adds to what a plan has for the list of the context what brings its accepted levels back to the
 * scale that the model was trained on: to the treatments, and to what would undo its faults. */
void ek_guard_treat_accepted(const struct ek_guard *g, struct ek_context *c,
                             const struct ek_plan *plan, const int16_t *cells, int count);
/* The treatment of a list that nothing is done to: NULL, or in the context what brings its accepted
 * levels back to the scale that the model was trained on. */
const struct ek_treatment *ek_guard_base_treatment(const struct ek_guard *g, struct ek_context *c,
                                                   const struct ek_plan *plan, const int16_t *cells,
                                                   int count);

/* The pause of a guard, for who has to follow it; what people order is in evenkeel.h. */

/* Whether it is paused; then *since is who said so, when and why, as far as it is known. Its texts
 * are good until the next decision. */
bool ek_guard_paused(const struct ek_guard *g, struct ek_decision_record *since);
/* Pauses a guard that knows no more of it than its history. */
void ek_guard_restore_pause(struct ek_guard *g);
/* Ends it untold, for a guard whose pause another has taken over. */
void ek_guard_clear_pause(struct ek_guard *g);
/* A guard takes the place of one that may be paused: then it is, too, by the same word, which is
 * not told again. EK_ENOMEM. */
int ek_guard_copy_pause(struct ek_guard *g, const struct ek_guard *before, struct ek_error *e);

#endif
