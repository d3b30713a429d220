/* What trials, and what became of the lists it acts on, say of each entry of the plan.
 *
 * A trial counts for every entry that treats its list, and for nothing when the plan is another one
 * by now. Figures begin with the entry, and anew when its action becomes another one. They add up
 * to the same in whatever order trials come, the evidence of harm aside.
 *
 * worse: bets (agreement_watch.h) that the treatment does more harm than the fault, on (1 + harm) /
 * 2 with a bound of 1/2. While the mean of harm is not above 0, the mean time until they reach
 * EK_HARM_EVIDENCE is at least so many lists whose harm was measured. Where several entries treat a
 * list, its harm is that of all of them and counts for each.
 * Times and dead letters are known of the lists that any entry acts on, not by entry.
 * Memory: 4 KiB an entry. Owner: the caller. One thread at a time.
 */
#ifndef EK_SERVE_COMPARISON_SUMS_H
#define EK_SERVE_COMPARISON_SUMS_H

#include "plan/rollout.h"
#include "score/rank_change.h"
#include "serve/agreement_watch.h"
#include "serve/latency_window.h"
#include "serve/shadow_scoring.h"

/* Outputs since it was told last: [0] as they came, [1] with other scores. */
struct ek_output_counts {
    uint64_t lists[2], dead[2]; /* acknowledged; become dead letters in their place */
};

/* The mean of (1 + harm) / 2 when the treatment does as much harm as the fault. */
#define EK_HARM_BOUND .5

struct ek_comparison_sums {
    int feature, cell; /* of the entry */
    enum ek_action action;
    int64_t since_ms;
    uint32_t turns;
    uint64_t tried, alone;            /* lists; those that no other entry treats */
    uint64_t unscored;                /* of tried, that cannot be scored as the plan wants */
    struct ek_rank_sums moved, plain; /* from the upstream scores to what the plan wants, and to the
                                       * model with nothing treated */
    struct ek_rank_sums acted;        /* to those it went out with, of lists that it acts on */
    uint64_t acts, failed;            /* lists it acts on, tried or not; of them not scored */
    uint64_t measured;                /* lists whose harm was */
    struct ek_mean_evalues worse;
    int64_t worse_sum[EK_MEAN_EVALUES]; /* of the same values, as ek_mean_evalues_sum has them */
};

struct ek_comparisons;

int ek_comparisons_new(struct ek_comparisons **out, struct ek_error *e);
void ek_comparisons_free(struct ek_comparisons *t);
/* plan: of now. EK_ENOMEM: it did not count. */
int ek_comparisons_add(struct ek_comparisons *t, const struct ek_plan *plan,
                       const struct ek_comparison *trial, struct ek_error *e);
int ek_comparisons_add_routes(struct ek_comparisons *t, const struct ek_plan *plan,
                              const struct ek_route_stats *acts, struct ek_error *e);
void ek_comparisons_set_output_counts(struct ek_comparisons *t,
                                      const struct ek_output_counts *load);
/* A number for each call, from 0 on: for who tries one in so many. */
uint64_t ek_comparisons_next_number(struct ek_comparisons *t);
/* Trials of another plan than that of their time. */
uint64_t ek_comparisons_stale_count(const struct ek_comparisons *t);
/* NULL: nothing is known of the entry. Valid until the next call that changes anything. */
const struct ek_comparison_sums *ek_comparisons_get(const struct ek_comparisons *t,
                                                    const struct ek_plan_entry *entry);
/* Figures of what is there begin anew; those of the times of all begin with them. */
void ek_comparisons_reset(struct ek_comparisons *t, int feature, int cell);

/* What the others of a fleet are told: of each entry that something is known of, from *at on, which
 * starts as 0; NULL: no more. And all that was told of outputs and of times so far. */
const struct ek_comparison_sums *ek_comparisons_next(const struct ek_comparisons *t, int *at);
struct ek_comparisons_total {
    struct ek_output_counts load;
    uint64_t latency[EK_LATENCY_WINDOW_BINS];
};
const struct ek_comparisons_total *ek_comparisons_total(const struct ek_comparisons *t);

/* What is counted adds up, whoever counted it, in any order. */
void ek_comparison_sums_add(struct ek_comparison_sums *into, const struct ek_comparison_sums *s);
/* What guardrails are held against: its last lists (recent_values.h). */
struct ek_rollout_stats ek_comparisons_stats(const struct ek_comparisons *t,
                                             const struct ek_plan_entry *entry);
/* The same if it acted on all that it was tried on: of lists that it does not act on, no more is
 * known than that. */
struct ek_rollout_stats ek_comparisons_would_roll_back(const struct ek_comparisons *t,
                                                       const struct ek_plan_entry *entry);

#endif
