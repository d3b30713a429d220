/* Recent window of a route's sums, for guardrails.
 *
 * A fraction over all lists would react later the longer a route has been healthy. So the sums are
 * recorded at the start of the current and the previous window, and statistics cover both: at least
 * EK_GUARDRAIL_LISTS lists if available, and less than twice that unless more arrive at once.
 * Compared and routed lists have separate windows. Value type; start with ek_recent_values_start.
 */
#ifndef EK_SERVE_RECENT_VALUES_H
#define EK_SERVE_RECENT_VALUES_H

#include "serve/comparison_sums.h"

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
