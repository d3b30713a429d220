/* What guardrails are held against: of a route, the last lists and not all since its last step.
 *
 * Sums only ever grow, and a share of all of them answers the later the longer a route has been
 * well. So marks are kept of where the present window began and the one before it; figures are of
 * both: of at least one window of EK_GUARDRAIL_LISTS lists where there have been so many, and of
 * less than two unless more came at once. Lists that were ranked both ways and lists that it acted
 * on have windows of their own. Value type, starts as ek_recent_values_start says. Owner: the
 * caller. One thread at a time.
 */
#ifndef EK_SERVE_RECENT_VALUES_H
#define EK_SERVE_RECENT_VALUES_H

#include "serve/comparison_sums.h"

struct ek_recent_values {
    /* Sums where the window before the present one began [0], and the present one [1]. */
    struct {
        uint64_t lists, bin[EK_CHANGE_BINS];
    } ranks[2];
    struct {
        uint64_t lists, failed;
        struct ek_output_counts load;
    } acts[2];
};

/* load: all that was told of outputs, now. */
void ek_recent_values_start(struct ek_recent_values *r, const struct ek_output_counts *load);
/* After each time that sums have grown: begins a window where the present one is full. Where they
 * have become less, what they were of is not known any more, and windows begin here. */
void ek_recent_values_roll(struct ek_recent_values *r, const struct ek_comparison_sums *s,
                           const struct ek_output_counts *load);
/* Lists tried and evidence of harm are all of *s. */
struct ek_rollout_stats ek_recent_values_stats(const struct ek_recent_values *r,
                                               const struct ek_comparison_sums *s,
                                               const struct ek_output_counts *load,
                                               const struct ek_latency_window *latency);

#endif
