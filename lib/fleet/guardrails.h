/* What all instances of a fleet have tried, as the guardrails of the decider want it.
 *
 * The newest record of an instance (guard/fleet_trials.h) says all that it has tried in the present
 * turn of a route; sums of all are added, so neither order nor repetition of records matters. What
 * an earlier start of an instance tried stays in the sum; so does what one tried that was gone when
 * all places were taken, and should that come back, it counts twice. The evidence of harm moves
 * when it is asked for, by what has come since (guard/mean_bets.h).
 * Owner: the caller. One thread at a time. Memory: 2 KiB per route and instance, of at most
 * EK_FLEET_COMPARED_MAX of these; what is beyond does not count.
 */
#ifndef EK_FLEET_GUARDRAILS_H
#define EK_FLEET_GUARDRAILS_H

#include "fleet/comparison_record.h"
#include "plan/plan.h"
#include "plan/rollout.h"

enum { EK_FLEET_COMPARED_MAX = 16384 };

struct ek_fleet_guardrails;

int ek_fleet_guardrails_new(struct ek_fleet_guardrails **out,
                            const struct ek_manifest *m); /* EK_ENOMEM */
void ek_fleet_guardrails_free(struct ek_fleet_guardrails *r);
/* Takes a record. place_of: the number of a cell by its names, -1: none. One that is older than the
 * newest of its instance counts for nothing. EK_EFORMAT, EK_ESTATE for another manifest or profile;
 * EK_ENOMEM: a part of it counts. */
int ek_fleet_guardrails_receive(struct ek_fleet_guardrails *r, const void *bytes, size_t length,
                                uint64_t profile, int64_t clock_ms,
                                int (*place_of)(void *context, const struct ek_fleet_cell *cell,
                                                int *place),
                                void *context, struct ek_error *e);
/* Of an entry of the plan in force, its cell a place. False: nobody has tried it. */
bool ek_fleet_guardrails_stats(struct ek_fleet_guardrails *r, const struct ek_plan_entry *entry,
                               int64_t clock_ms, struct ek_rollout_stats *out);
/* Times are those of the next step from here on. */
void ek_fleet_guardrails_begin(struct ek_fleet_guardrails *r);

#endif
