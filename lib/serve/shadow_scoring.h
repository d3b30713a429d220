/* Shadow scoring of single lists: comparison of a list's rankings with and without its treatment,
 * and statistics of routed lists per plan entry.
 *
 * A scoring thread collects the statistics and passes them to the guard (guard/guard_trials.h).
 * They are of one plan version and restart with another one. Struct ek_route_stats is a value type
 * of 9 KiB that starts as {0}.
 */
#ifndef EK_SERVE_SHADOW_SCORING_H
#define EK_SERVE_SHADOW_SCORING_H

#include "plan/plan.h"
#include "score/rank_comparison.h"
#include "serve/context.h"

#include <stdbool.h>
#include <stdint.h>

/* 99th percentile of latencies in consecutive windows.
 *
 * Latencies are counts in bins, four per octave. The result is the start of the bin with the
 * percentile: never too high, and too low by less than a sixth. Value type; starts as {0}.
 */

enum {
    EK_LATENCY_WINDOW_BINS = 64, /* from 64 us; the last bin is open, from 3 s */
    EK_LATENCY_WINDOW_SIZE = 500 /* minimum latencies per window */
};

struct ek_latency_window {
    uint64_t bin[EK_LATENCY_WINDOW_BINS], times; /* of the open window */
    uint32_t windows;                            /* number of closed windows */
    double p99_ms, before_ms;                    /* of the last closed window and the one before */
};

/* Return the bin of a latency, 0 .. EK_LATENCY_WINDOW_BINS - 1. */
int ek_latency_window_bin(uint64_t ns);
/* Return the start of a bin in milliseconds; 0 for the first. */
double ek_latency_window_from_ms(int bin);
/* Add counts per bin; close the window when it is full, and start the next one. */
void ek_latency_window_add(struct ek_latency_window *l, const uint64_t bin[EK_LATENCY_WINDOW_BINS]);
/* Return the 99th percentile of the last closed window in milliseconds, NaN without one. */
double ek_latency_window_p99_ms(const struct ek_latency_window *l);
/* Return the 99th percentile of the closed window before the last one in milliseconds, NaN without
 * one. */
double ek_latency_window_before_ms(const struct ek_latency_window *l);

struct ek_route_stats {
    uint64_t plan, lists;                             /* lists: of all entries together */
    int entries;                                      /* number of used entries */
    uint32_t acted[EK_PLAN_MAX], failed[EK_PLAN_MAX]; /* failed: of `acted`, scoring failed */
    uint64_t latency[EK_LATENCY_WINDOW_BINS];
};

/* Add a scored list and its latency. Lists that the plan does not route, and lists with invalid
 * messages, which are no failure of a route, are ignored. */
void ek_route_stats_add(struct ek_route_stats *a, const struct ek_context *c, uint64_t ns);
/* Reset the statistics to zero; the plan version stays. */
void ek_route_stats_clear(struct ek_route_stats *a);

/* Rank comparison of a list by shadow scoring (score/rank_comparison.h): upstream order and planned
 * order.
 *
 * The thread of the context compares after its output was passed on, so the output does not change.
 * It reads numbers of the context, no strings, because the message may be freed by then. The guard
 * gets the result later (guard/guard_trials.h), by plan version. The selection of lists must not
 * depend on their content.
 */
struct ek_comparison {
    uint64_t plan; /* plan version of the list */
    int entries;   /* entries that treat the list, or would */
    int16_t entry[EK_ROUTING_ENTRIES];
    uint32_t acting; /* entries that the output was scored with, as bits */
    bool failed;     /* scoring failed: `result` is not set */
    struct ek_comparison_result result;
};

/* Return whether to compare a list: the plan has a treatment, it is complete, has two items, and
 * updated the guard. A list of ek_guard_peek would count twice. */
bool ek_context_needs_comparison(const struct ek_context *c);
/* Compare a list that ek_context_needs_comparison selected. `more`: also compare the untreated
 * model and the harm, two more scorings. `gap`: from ek_guard_gap; NaN: no harm. No harm if a
 * repair is unknown. If scoring fails, out->failed is set and 0 returned. Set *valid to false, with
 * *out undefined, for a list without information (score/rank_change.h). Return 0, or EK_ENOMEM. */
int ek_context_compare(struct ek_context *c, bool more, double gap, struct ek_comparison *out,
                       bool *valid, struct ek_error *e);

#endif
