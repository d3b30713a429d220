/* Composition of the current plan from desired entries, pins, rollouts and limits, and the
 * fraction of traffic that a plan affects. */
#ifndef EK_PLAN_PLAN_COMPOSE_H
#define EK_PLAN_PLAN_COMPOSE_H

#include "plan/plan.h"
#include "plan/rollout.h"
#include "rules/rules.h"

#include <stddef.h>
#include <stdint.h>

/* Fraction of traffic with active treatments, from recorded lists and their cells: the mean over
 * lists of the largest percentage of their cells. Canary buckets are independent of cells, and a
 * percentage includes all lower buckets.
 *
 * Adding a cell costs time proportional to its lists. Exact: integer sums and one division.
 * Percentages are hundredths, 0 to EK_PERCENT_WHOLE. About 400 KiB.
 */
struct ek_route_coverage;

enum { EK_ROUTE_COVERAGE_LISTS = 4096, EK_ROUTE_COVERAGE_CELLS = 9 /* per list */ };

/* Create an empty coverage. Return 0, or EK_ENOMEM. */
int ek_route_coverage_new(struct ek_route_coverage **out);
void ek_route_coverage_free(struct ek_route_coverage *r);
/* Remove all lists and percentages; the memory is kept. */
void ek_route_coverage_clear(struct ek_route_coverage *r);
/* Record a list by its cells; -1: none. More lists or cells than the limits are ignored. Call
 * before percentages are added. */
void ek_route_coverage_list(struct ek_route_coverage *r, const int16_t *cells, int count);

/* Composition of the current plan from desired entries, pins, rollouts and limits.
 *
 * The guard or the leader composes after each event that may change the plan. The result depends
 * only on the inputs, so a restart or a new leader composes the same plan.
 * - A pin takes precedence over findings: in its segment, or in all segments if it is of all
 *   traffic. A pin of an operator takes precedence over the rules. Limits do not apply to pins.
 * - An entry is in the plan if its rollout may act and it has a mode above observe for some of its
 *   lists. Its percentage is that of the rollout if any list is in a canary, else all.
 * - Limits apply to canary and enforce. With `on_limit: observe`, no finding acts while a limit is
 *   exceeded, and for a while after (was_limited). With `keep`, the oldest entries act, and the
 *   rest is dropped.
 *
 * Pure; no allocation, about 60 KiB of stack.
 */
struct ek_pinned {
    int feature, cell;
    struct ek_treatment treatment; /* EK_ACT_NONE: no treatment there */
    enum ek_plan_source by;        /* EK_BY_OPERATOR, EK_BY_RULES */
};

struct ek_composing {
    const struct ek_rules *rules; /* only the limits are used */
    const struct ek_plan *desired;
    struct ek_rollouts *rollouts; /* read only; an entry without a rollout may not act */
    const struct ek_pinned *pin;  /* active pins */
    int pins;
    const struct ek_plan_mode *mode; /* modes by cell, one per feature, level and cell: of the
                                        feature, or of `defaults` if the feature has no mode */
    int modes;
    bool paused;
    bool was_limited; /* `on_limit: observe`, exceeded recently */
    /* Return the most specific mode of a feature in a cell (ek_rules_mode). */
    enum ek_mode (*mode_of)(void *context, int feature, int cell);
    /* Return the segment dimension of a cell; -1: all traffic. A list has at most one cell per
     * dimension. */
    int (*dimension_of)(void *context, int cell);
    /* Return the fraction of traffic in any of the cells, 0 to 1. NULL: unknown, the limit does not
     * apply. */
    double (*share_of)(void *context, const int *cell, int count);
    /* Fraction by recorded lists: exact and faster than share_of, which it replaces. May be NULL.
     */
    struct ek_route_coverage *reach;
    void *context;
};

/* Exceeded limit of the rules or the plan. */
enum ek_exceeds {
    EK_EXCEEDS_NONE,
    EK_EXCEEDS_FEATURES, /* max_routed_features */
    EK_EXCEEDS_SHARE,    /* max_routed_share */
    EK_EXCEEDS_PLAN,     /* EK_PLAN_MAX, EK_PLAN_MODES_MAX: dropped entries are only reported */
};

struct ek_composed {
    bool changed;            /* the version rose */
    enum ek_exceeds limited; /* first exceeded limit */
    int features;            /* that would act without limits; those of one incident count once */
    double share; /* upper bound of the fraction of traffic that they act on; NaN: unknown */
};

/* Compose the successor of `now` into `next`, and set *out. The version rises if and only if the
 * treatments differ (ek_plan_same). */
void ek_plan_compose(struct ek_plan *next, const struct ek_plan *now, const struct ek_composing *c,
                     struct ek_composed *out);

#endif
