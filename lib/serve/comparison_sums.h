/* Sums of rank comparisons and of routed lists per plan entry.
 *
 * A comparison counts for every entry that treats its list, and is ignored if the plan has changed.
 * Sums start with the entry and restart when its action changes. They do not depend on the order of
 * comparisons, except for the evidence of harm.
 *
 * `worse` tests that the treatment does more harm than the fault (agreement_watch.h), on (1 + harm)
 * / 2 with bound 1/2. While the mean harm is at most 0, the mean number of measured lists until
 * EK_HARM_EVIDENCE is at least EK_HARM_EVIDENCE. If several entries treat a list, its harm counts
 * for each.
 *
 * Latencies and dead letters are known for all routed lists together, not per entry. Memory: 4 KiB
 * per entry.
 */
#ifndef EK_SERVE_COMPARISON_SUMS_H
#define EK_SERVE_COMPARISON_SUMS_H

#include "plan/rollout.h"
#include "score/rank_change.h"
#include "serve/agreement_watch.h"
#include "serve/shadow_scoring.h"

/* Output counts since the last call: [0] unchanged messages, [1] messages with replaced scores. */
struct ek_output_counts {
    uint64_t lists[2], dead[2]; /* acknowledged; dead-lettered */
};

/* Mean of (1 + harm) / 2 if treatment and fault do equal harm. */
#define EK_HARM_BOUND .5

struct ek_comparison_sums {
    int feature, cell; /* of the entry */
    enum ek_action action;
    int64_t since_ms;
    uint32_t restarts;
    uint64_t compared, alone;         /* compared lists; lists that no other entry treats */
    uint64_t unscored;                /* of `compared`: the model or plan could not score them */
    struct ek_rank_sums moved, plain; /* upstream to planned scores; to untreated scores */
    struct ek_rank_sums acted;        /* upstream to output, of routed lists */
    uint64_t acts, failed;            /* routed lists, compared or not; of these, scoring failed */
    uint64_t measured;                /* lists with measured harm */
    struct ek_mean_evalues worse;
    int64_t worse_sum[EK_MEAN_EVALUES]; /* sums of ek_mean_evalues_sum over these lists */
};

struct ek_comparisons;

/* Create empty sums. Return 0 or EK_ENOMEM. */
int ek_comparisons_new(struct ek_comparisons **out, struct ek_error *e);
void ek_comparisons_free(struct ek_comparisons *t);
/* Add the comparison of one list to the entries of the plan that treat it, and to the totals;
 * neither is kept. Return 0, or EK_ENOMEM; on error it may not count. */
int ek_comparisons_add(struct ek_comparisons *t, const struct ek_plan *plan,
                       const struct ek_comparison *trial, struct ek_error *e);
/* Add statistics of routed lists to the entries of the plan; those of another plan version are
 * ignored. Return 0, or EK_ENOMEM; on error they may not count. */
int ek_comparisons_add_routes(struct ek_comparisons *t, const struct ek_plan *plan,
                              const struct ek_route_stats *acts, struct ek_error *e);
/* Add counts of outputs to the totals. */
void ek_comparisons_add_output_counts(struct ek_comparisons *t,
                                      const struct ek_output_counts *load);
/* Return 0, 1, 2, ... on successive calls, to select a fraction of lists. */
uint64_t ek_comparisons_next_number(struct ek_comparisons *t);
/* Return the number of comparisons under an outdated plan. */
uint64_t ek_comparisons_stale_count(const struct ek_comparisons *t);
/* Return the sums of a plan entry, or NULL without any. Valid until the next change. */
const struct ek_comparison_sums *ek_comparisons_get(const struct ek_comparisons *t,
                                                    const struct ek_plan_entry *entry);
/* Restart the sums of the route of a feature and cell, and the latency window. */
void ek_comparisons_reset(struct ek_comparisons *t, int feature, int cell);

/* Return the next nonempty sums from *at, which starts as 0 and is advanced; NULL at the end. Valid
 * until the next change. */
const struct ek_comparison_sums *ek_comparisons_next(const struct ek_comparisons *t, int *at);
struct ek_comparisons_total {
    struct ek_output_counts load;
    uint64_t latency[EK_LATENCY_WINDOW_BINS];
};
/* Return the totals over all lists; valid as long as `t`. */
const struct ek_comparisons_total *ek_comparisons_total(const struct ek_comparisons *t);

/* Add `s` to `into`; the order does not matter. */
void ek_comparison_sums_add(struct ek_comparison_sums *into, const struct ek_comparison_sums *s);
/* Return the statistics of an entry for guardrails, over the recent window.
 * Statistics without data are NaN or 0. */
struct ek_rollout_stats ek_comparisons_stats(const struct ek_comparisons *t,
                                             const struct ek_plan_entry *entry);
/* Return the statistics of an entry in shadow mode as if all compared lists were routed; otherwise
 * as ek_comparisons_stats. */
struct ek_rollout_stats ek_comparisons_would_roll_back(const struct ek_comparisons *t,
                                                       const struct ek_plan_entry *entry);

/* Recent window of a route's sums, for guardrails.
 *
 * A fraction over all lists would react later the longer a route has been healthy. So the sums are
 * recorded at the start of the current and the previous window, and statistics cover both: at least
 * EK_GUARDRAIL_LISTS lists if available, and less than twice that unless more arrive at once.
 * Compared and routed lists have separate windows. Value type; start with ek_recent_values_start.
 */

struct ek_recent_values {
    /* Sums at the start of the previous window [0] and the current window [1]. */
    struct {
        uint64_t lists, bin[EK_CHANGE_BINS];
    } ranks[2];
    struct {
        uint64_t lists, failed;
        struct ek_output_counts load;
    } acts[2];
};

/* Start empty windows. `load`: current output counts. */
void ek_recent_values_start(struct ek_recent_values *r, const struct ek_output_counts *load);
/* Start a new window if the current one is full. Call after each change of the sums. If sums have
 * decreased, the windows restart. */
void ek_recent_values_roll(struct ek_recent_values *r, const struct ek_comparison_sums *s,
                           const struct ek_output_counts *load);
/* Return the statistics of both windows up to the sums *s and counts *load. `tried` and the
 * evidence of harm cover all of *s. */
struct ek_rollout_stats ek_recent_values_stats(const struct ek_recent_values *r,
                                               const struct ek_comparison_sums *s,
                                               const struct ek_output_counts *load,
                                               const struct ek_latency_window *latency);

#endif
