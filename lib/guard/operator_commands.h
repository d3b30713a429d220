/* Operator commands (plan/order.h), accepted levels and pause of a guard. */
#ifndef EK_GUARD_OPERATOR_COMMANDS_H
#define EK_GUARD_OPERATOR_COMMANDS_H

#include "evenkeel.h"
#include "guard/guard_internal.h"
#include "plan/decisions.h"
#include "plan/order.h"
#include "schema/manifest.h"

#include <stdbool.h>

struct ek_guard;

/* Return the number of the cell of a segment, -1: none. `value` NULL: the cell of all other values.
 */
int ek_guard_find_cell(const struct ek_guard *g, const char *segment, const char *value);
/* Validate a command against names and event time without applying it. Return 0, EK_EUSAGE for an
 * unknown name, or EK_ESTATE for an impossible command. */
int ek_guard_check_order(const struct ek_guard *g, const struct ek_order *o, struct ek_error *e);
/* Apply a command as the functions of evenkeel.h do. Set *version, unless NULL, to the version of
 * an accept. Return 0, EK_EUSAGE for an unknown name, EK_ESTATE for an impossible command or in a
 * fleet, EK_ELIMIT for too many pins or accepts, all with the guard unchanged, or EK_ENOMEM: the
 * command may be applied. */
int ek_guard_carry_out(struct ek_guard *g, const struct ek_order *o, uint64_t *version,
                       struct ek_error *e);

/* Add the accepted levels of a list under this plan to the treatments and repairs in its context,
 * so that the model gets values at the training scale. */
void ek_guard_treat_accepted(const struct ek_guard *g, struct ek_context *c,
                             const struct ek_plan *plan, const int16_t *cells, int count);
/* Return the treatment of an otherwise untreated list: its accepted levels, or NULL without any.
 * Valid until the next use of the context, which owns it. */
const struct ek_treatment *ek_guard_base_treatment(const struct ek_guard *g, struct ek_context *c,
                                                   const struct ek_plan *plan, const int16_t *cells,
                                                   int count);

/* Return whether the guard is paused. If so, set *since to the decision of the pause as far as
 * known; its strings are valid until the next decision. */
bool ek_guard_paused(const struct ek_guard *g, struct ek_decision_record *since);
/* End the pause without an event, because a new guard continues it. */
void ek_guard_clear_pause(struct ek_guard *g);
/* Copy the pause of a replaced guard and its decision without an event. No effect if `before` is
 * not paused. Return 0 or EK_ENOMEM. */
int ek_guard_copy_pause(struct ek_guard *g, const struct ek_guard *before, struct ek_error *e);

#endif
