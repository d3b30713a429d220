/* Guardrail statistics of a fleet: sums of the comparison records (fleet/comparison_record.h) of
 * all instances.
 *
 * The last record of an instance covers the current start of a route, so order and repetition of
 * records do not matter. Comparisons of an instance's earlier runs stay in the sum. Those of an
 * instance that was evicted while away stay too, and count twice if it returns. The evidence of
 * harm (ek_mean_evalues) is updated on request by the sums since the last request. Memory: 2 KiB
 * per route and instance, at most EK_FLEET_COMPARED_MAX; more are ignored.
 */
#ifndef EK_FLEET_GUARDRAILS_H
#define EK_FLEET_GUARDRAILS_H

#include "fleet/comparison_record.h"
#include "plan/plan.h"
#include "plan/rollout.h"

enum { EK_FLEET_COMPARED_MAX = 16384 };

struct ek_fleet_guardrails;

/* Create empty sums. The manifest must outlive them. Return 0 or EK_ENOMEM. */
int ek_fleet_guardrails_new(struct ek_fleet_guardrails **out, const struct ek_manifest *m);
void ek_fleet_guardrails_free(struct ek_fleet_guardrails *r);
/* Add a record, which is not kept. `place_of` sets *place to the cell of a name, -1: none. An
 * outdated record is ignored. Return 0, EK_EFORMAT, EK_ESTATE for another manifest or profile, or
 * EK_ENOMEM; a part may then count. */
int ek_fleet_guardrails_receive(struct ek_fleet_guardrails *r, const void *bytes, size_t length,
                                uint64_t profile, int64_t clock_ms,
                                int (*place_of)(void *context, const struct ek_fleet_cell *cell,
                                                int *place),
                                void *context, struct ek_error *e);
/* Set *out to the statistics of an entry of the current plan; its cell is a cell of the pool.
 * Return false without comparisons; *out is then unchanged. The evidence of harm advances with each
 * call. */
bool ek_fleet_guardrails_stats(struct ek_fleet_guardrails *r, const struct ek_plan_entry *entry,
                               int64_t clock_ms, struct ek_rollout_stats *out);
/* Start a new latency window for the next canary step. */
void ek_fleet_guardrails_begin(struct ek_fleet_guardrails *r);

#endif
