/* How much of the traffic something acts on that grows place by place: of lists that are known by
 * the cells they are in, the mean of the largest percentage that acts on any cell of theirs. What
 * bucket a query is in has nothing to do with its cells, and all that acts on a bucket acts on
 * those below it (data/rules.h: canaries).
 *
 * A cell that is added costs the lists in it, whatever was added before. Exact: sums of integers,
 * one division. Percentages are hundredths of a percent, 0..EK_PERCENT_WHOLE.
 * Owner: the caller. One thread at a time. Some 400 KiB.
 */
#ifndef EK_PLAN_PLAN_COMPOSE_H
#define EK_PLAN_PLAN_COMPOSE_H

#include "plan/plan.h"
#include "plan/rollout.h"
#include "rules/rules.h"

#include <stddef.h>
#include <stdint.h>

struct ek_route_coverage;

enum { EK_ROUTE_COVERAGE_LISTS = 4096, EK_ROUTE_COVERAGE_CELLS = 9 /* of a list */ };

int ek_route_coverage_new(struct ek_route_coverage **out); /* EK_ENOMEM */
void ek_route_coverage_free(struct ek_route_coverage *r);
/* No lists, and nothing acts. */
void ek_route_coverage_clear(struct ek_route_coverage *r);
/* One more list; those below 0 are none. What is beyond the enum is left out. Before the first
 * ek_route_coverage_add. */
void ek_route_coverage_list(struct ek_route_coverage *r, const int16_t *cells, int count);

/* The plan in force, made from scratch of what findings want, what people and rules have pinned,
 * how far each route has been let, and the limits.
 *
 * Composed after each event that may change it, by the guard, or for a fleet by its decider. There
 * is no history in it, so a restart or another decider composes the same.
 * - A pin goes before what findings want: in its cell, and one of all traffic in every cell of the
 *   feature. At one place a person's goes before one of the rules. Pins are no matter of limits.
 * - An entry is in the plan when its rollout may act and its mode, or one that the rules have for
 *   some of its lists, is more than observe. Its percentage is that of its rollout wherever it may
 *   be in a canary, else all.
 * - Limits hold for what may act (canary, enforce). With `on_limit: observe` nothing that findings
 *   want acts while more is wanted than allowed, and as long after as the caller says; with `keep`
 *   what was wanted first acts, and what goes beyond is left out.
 * Pure; allocates nothing and takes some 60 KiB of stack. Cells and features are numbers as in the
 * plan. Owner of everything: the caller.
 */
struct ek_pinned {
    int feature, cell;
    struct ek_treatment treatment; /* EK_ACT_NONE: nothing acts there */
    enum ek_plan_source by;        /* EK_BY_PERSON, EK_BY_RULES */
};

struct ek_composing {
    const struct ek_rules *rules; /* limits are all that is read of them */
    const struct ek_plan *desired;
    struct ek_rollouts *rollouts; /* is only read; what has none may not act */
    const struct ek_pinned *pin;  /* those that hold now */
    int pins;
    const struct ek_plan_mode *mode; /* `mode_in` by cell: a feature's own, and those of `defaults`
                                      * for features that do not say a mode; one per level and
                                      * place */
    int modes;
    bool paused;
    bool was_limited; /* by `on_limit: observe`, too short ago */
    /* The mode of a feature in a cell by the most specific word (ek_rules_mode). */
    enum ek_mode (*mode_of)(void *context, int feature, int cell);
    /* Its segment dimension; -1: all traffic. A list has at most one cell of each. */
    int (*dimension_of)(void *context, int cell);
    /* Of the traffic in any of these cells, 0..1. NULL: not known, and no limit of it holds. */
    double (*share_of)(void *context, const int *cell, int count);
    /* The same by lists, and quicker: it is asked in place of share_of. NULL: there are none. */
    struct ek_route_coverage *reach;
    void *context;
};

/* What is more than the rules allow, or than the plan has room for. */
enum ek_exceeds {
    EK_EXCEEDS_NONE,
    EK_EXCEEDS_FEATURES, /* max_routed_features */
    EK_EXCEEDS_SHARE,    /* max_routed_share */
    EK_EXCEEDS_PLAN,     /* EK_PLAN_MAX, EK_PLAN_MODES_MAX: what is left out is only told */
};

struct ek_composed {
    bool changed;            /* the version has risen */
    enum ek_exceeds limited; /* now; the first of several */
    int features;            /* that would act if there were no limit */
    double share; /* of the traffic that they would act on, never too low; NaN: unknown */
};

/* What follows the plan of now, into `next`, which is another one. The version rises when and only
 * when the two differ in what they treat (ek_plan_same). */
void ek_plan_compose(struct ek_plan *next, const struct ek_plan *now, const struct ek_composing *c,
                     struct ek_composed *out);

#endif
