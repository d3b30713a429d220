/* What a guard is told of the lists it has given a plan to: how they ranked both ways, and what
 * became of those that the plan acts on. Guardrails and canaries follow from it (plan/rollout.h),
 * and pages are written of it.
 *
 * None of it is kept over a restart: the figures of the present step begin anew then.
 * Threads: those of the guard.
 */
#ifndef EK_GUARD_GUARD_TRIALS_H
#define EK_GUARD_GUARD_TRIALS_H

#include "evenkeel.h"
#include "serve/comparison_sums.h"

/* EK_ENOMEM: the rest did not count. */
int ek_guard_add_comparisons(struct ek_guard *g, const struct ek_comparison *trial, size_t count,
                             struct ek_error *e);
int ek_guard_add_route_stats(struct ek_guard *g, const struct ek_route_stats *acts,
                             struct ek_error *e);
/* Before each tick. */
void ek_guard_set_output_counts(struct ek_guard *g, const struct ek_output_counts *load);
/* For who has one thread only: tries the list that ek_guard_score was last called for, where one is
 * wanted, and tells the guard. *says: there is a trial, in *out. */
int ek_guard_compare(struct ek_guard *g, struct ek_comparison *out, bool *says, struct ek_error *e);
/* The same for a list that was prepared, taken and scored in `c`; its scores are no longer good. */
int ek_guard_compare_in(struct ek_guard *g, struct ek_context *c, struct ek_comparison *out,
                        bool *says, struct ek_error *e);

/* A list that came item by item, and is whole now: of those that want a trial, one in
 * EK_WHOLES_APART has one, for it is the guard's own time. */
enum { EK_WHOLES_APART = 32 };
int ek_guard_compare_full(struct ek_guard *g, struct ek_context *c, struct ek_error *e);

/* Whether the model no longer ranks as its upstream. */
bool ek_guard_has_drifted(const struct ek_guard *g);
/* As struct ek_controller_callbacks wants them; context: the guard. */
bool ek_guard_stats_get(void *context, int feature, int cell, struct ek_rollout_stats *out);
void ek_guard_stats_reset(void *context, int feature, int cell);

/* What is known of a route. */
struct ek_impact_view {
    const char *feature;
    const char *dimension, *value; /* NULL: all traffic; value NULL: (other) */
    const struct ek_plan_entry *entry;
    enum ek_mode mode;      /* observe where it was withdrawn */
    bool withdrawn;         /* by the rail; else that is what it would be, or is about to be */
    enum ek_guardrail rail; /* none: no rail is hit */
    double figure, limit;   /* of it */
    const struct ek_comparison_sums *sums;
    struct ek_rollout_stats figures; /* in shadow, those of would be */
};
/* The next one, from *at on, which starts as 0, of those of the plan that something is known of,
 * and of those that were withdrawn; false: no more. Views are valid until the next call that
 * changes the guard. */
bool ek_guard_impact(const struct ek_guard *g, int *at, struct ek_impact_view *out);
/* Trials that came after their plan. */
uint64_t ek_guard_stale_comparisons(const struct ek_guard *g);

#endif
