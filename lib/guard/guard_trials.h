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
int ek_guard_tried(struct ek_guard *g, const struct ek_trial *trial, size_t count,
                   struct ek_error *e);
int ek_guard_acted(struct ek_guard *g, const struct ek_acts *acts, struct ek_error *e);
/* Before each tick. */
void ek_guard_load_is(struct ek_guard *g, const struct ek_guard_load *load);
/* For who has one thread only: tries the list that ek_guard_score was last called for, where one is
 * wanted, and tells the guard. *says: there is a trial, in *out. */
int ek_guard_try(struct ek_guard *g, struct ek_trial *out, bool *says, struct ek_error *e);
/* The same for a list that was prepared, taken and scored in `c`; its scores are no longer good. */
int ek_guard_try_in(struct ek_guard *g, struct ek_context *c, struct ek_trial *out, bool *says,
                    struct ek_error *e);

/* A list that came item by item, and is whole now: of those that want a trial, one in
 * EK_WHOLES_APART has one, for it is the guard's own time. */
enum { EK_WHOLES_APART = 32 };
int ek_guard_try_whole(struct ek_guard *g, struct ek_context *c, struct ek_error *e);

/* Whether the model no longer ranks as its upstream. */
bool ek_guard_has_drifted(const struct ek_guard *g);
/* As struct ek_control_hears wants them; context: the guard. */
bool ek_guard_figures_of(void *context, int feature, int cell, struct ek_rollout_figures *out);
void ek_guard_figures_begin(void *context, int feature, int cell);

/* What is known of a route. */
struct ek_ranks_view {
    const char *feature;
    const char *dimension, *value; /* NULL: all traffic; value NULL: (other) */
    const struct ek_plan_entry *entry;
    enum ek_mode mode;    /* observe where it was withdrawn */
    bool withdrawn;       /* by the rail; else that is what it would be, or is about to be */
    enum ek_rail rail;    /* none: no rail is hit */
    double figure, limit; /* of it */
    const struct ek_trial_sums *sums;
    struct ek_rollout_figures figures; /* in shadow, those of would be */
};
/* The next one, from *at on, which starts as 0, of those of the plan that something is known of,
 * and of those that were withdrawn; false: no more. Views are valid until the next call that
 * changes the guard. */
bool ek_guard_ranks(const struct ek_guard *g, int *at, struct ek_ranks_view *out);
/* Trials that came after their plan. */
uint64_t ek_guard_trials_late(const struct ek_guard *g);

#endif
