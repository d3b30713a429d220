/* Rank comparisons and statistics of routed lists, as input of guardrails and canaries
 * (plan/rollout.h) and of the impact view. Not in checkpoints: the statistics restart with the
 * process. */
#ifndef EK_GUARD_GUARD_TRIALS_H
#define EK_GUARD_GUARD_TRIALS_H

#include "evenkeel.h"
#include "serve/comparison_sums.h"

/* Add copies of `count` comparisons to the statistics; those under an outdated plan are only
 * counted. Return 0, or EK_ENOMEM; the remaining ones are then ignored. */
int ek_guard_add_comparisons(struct ek_guard *g, const struct ek_comparison *trial, size_t count,
                             struct ek_error *e);
/* Add statistics of routed lists. Return 0, or EK_ENOMEM; they may then not count. */
int ek_guard_add_route_stats(struct ek_guard *g, const struct ek_route_stats *acts,
                             struct ek_error *e);
/* Add output counts; call before each ek_guard_advance. */
void ek_guard_add_output_counts(struct ek_guard *g, const struct ek_output_counts *load);
/* As ek_guard_observe, for a recorded message. One without a time has that of its record, by
 * which the season of the day applies; now_ms of ek_guard_observe may be of any clock. record_ms:
 * -1: unknown; event time is then the number of the message. */
int ek_guard_observe_record(struct ek_guard *g, const void *message, size_t length,
                            int64_t record_ms, uint64_t number, struct ek_error *e);
/* Return the context of the last observed message, which the guard owns. */
const struct ek_context *ek_guard_context(const struct ek_guard *g);
/* Compare the list of the last ek_guard_score if it is due, and add the result. For callers with
 * one thread. If *valid is false *out is unchanged. Return 0, EK_ESTATE for a list of another
 * manifest, or EK_ENOMEM. */
int ek_guard_compare(struct ek_guard *g, struct ek_comparison *out, bool *valid,
                     struct ek_error *e);
/* Compare a list that was processed in `c` if it is due, and add the result. If *valid is false
 * *out is unchanged. The scores in `c` are then invalid. Return 0, EK_ESTATE for a list of another
 * manifest, or EK_ENOMEM. */
int ek_guard_compare_in(struct ek_guard *g, struct ek_context *c, struct ek_comparison *out,
                        bool *valid, struct ek_error *e);

enum { EK_WHOLES_APART = 32 };
/* Compare an assembled list in `c` that is due, one in EK_WHOLES_APART because the comparison takes
 * time of the guard, and add the result. Return 0, also if it is not due, EK_ESTATE for a list of
 * another manifest, or EK_ENOMEM.
 */
int ek_guard_compare_full(struct ek_guard *g, struct ek_context *c, struct ek_error *e);

/* Return whether the model no longer agrees with upstream. */
bool ek_guard_has_drifted(const struct ek_guard *g);
/* Callback get_stats of struct ek_controller_callbacks; context: the guard. Set *out to the
 * statistics of the plan entry of a feature and cell; return false without such an entry. */
bool ek_guard_stats_get(void *context, int feature, int cell, struct ek_rollout_stats *out);
/* Callback reset_stats of struct ek_controller_callbacks; context: the guard. Restart the
 * statistics of the route of a feature and cell. */
void ek_guard_stats_reset(void *context, int feature, int cell);

/* Impact of a route. */
struct ek_impact_view {
    const char *feature;
    const char *dimension, *value; /* NULL: all traffic; value NULL: (other) */
    const struct ek_plan_entry *entry;
    enum ek_mode mode;           /* observe if rolled back */
    bool rolled_back;            /* rolled back by `rail`; else `rail` would roll it back */
    enum ek_guardrail guardrail; /* none: within all limits */
    double observed, limit;      /* of the guardrail */
    const struct ek_comparison_sums *sums;
    struct ek_rollout_stats stats; /* in shadow mode, as if it acted */
};
/* Set *out to the next plan entry with comparisons, then to rolled-back routes. *at starts as 0.
 * Return false at the end. Views are valid until the next change of the guard. */
bool ek_guard_impact(const struct ek_guard *g, int *at, struct ek_impact_view *out);
/* Return the number of comparisons under an outdated plan. */
uint64_t ek_guard_stale_comparisons(const struct ek_guard *g);

#endif
