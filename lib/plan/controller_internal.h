/* State of the route controller (plan/route_controller.h): plans, rollouts and pins, and the
 * functions on them that its source files share. */
#ifndef EK_PLAN_CONTROLLER_INTERNAL_H
#define EK_PLAN_CONTROLLER_INTERNAL_H

#include "plan/route_controller.h"

enum { EK_CONTROL_PINS_MAX = 2 * EK_PINS_MAX /* active pins of operators and rules */ };

/* Whether all values that `mode_in` names for a feature have segments. */
enum { EK_APART_NEW, EK_APART_NO, EK_APART_YES };

struct ek_controller {
    struct ek_controller_setup setup;
    struct ek_plan desired;
    struct ek_plan plan[2]; /* current plan and scratch */
    int now;                /* index of the current plan */
    struct ek_rollouts rollouts;
    struct ek_controller_pin pin[EK_PINS_MAX]; /* pins of operators; strings are owned */
    int pins;
    int16_t rule_cell[EK_PINS_MAX]; /* per pin of the rules: cell + 1; 0: none yet */
    bool rule_over[EK_PINS_MAX];    /* per pin of the rules: expired */
    bool rules_placed;              /* pins of the rules are resolved to cells */
    bool rules_unplaced;            /* except some without a cell */
    bool rules_untold;              /* the unresolved pins must be reported */
    bool rules_timed;               /* event time is known since the last update of pins */
    bool paused;
    int64_t paused_ms;       /* event time of the pause */
    struct ek_plan before;   /* plan before the pause; empty if unknown */
    bool report_due;         /* a statistic in the plan changed, its treatments did not */
    bool stale;              /* inputs of the current plan may have changed */
    bool spent;              /* a route has used up its budget */
    bool wanted_full;        /* a finding was dropped since the last update: plan full */
    enum ek_exceeds limited; /* now, or within the last minimum duration */
    int64_t free_ms;         /* end of the last excess; -1: none, or still exceeded */
    bool was_full;           /* the plan was too small for all entries */
    enum ek_bound tripped;   /* by the last update */
    uint64_t above;          /* lower bound of the next version after a merge */
    struct ek_plan_mode mode[EK_PLAN_MODES_MAX]; /* scratch: `mode_in` by cell */
    int modes;
    bool modes_full;                              /* not all of them fit */
    bool no_memory;                               /* out of memory for a cell of `mode` */
    uint8_t apart[EK_FEATURES_MAX];               /* scratch: per item feature */
    struct ek_pinned pinned[EK_CONTROL_PINS_MAX]; /* scratch: active pins */
    struct ek_route_coverage *reach; /* scratch; NULL: the fraction of lists is not limited */
    uint8_t held[INT16_MAX + 1];     /* cells in use, as last reported to the caller */
};

/* Return the current plan, for changes. */
static inline struct ek_plan *ek_controller_current_plan(struct ek_controller *c)
{
    return &c->plan[c->now];
}

/* Pass the set of cells in use to the owner of the cells, so that they are not reused. */
void ek_controller_retain_cells(struct ek_controller *c);

/* Write the pins that are active at time_ms to c->pinned. Return their number. */
int ek_controller_pins_get(struct ek_controller *c, int64_t time_ms);
/* Return whether a pin has expired, or a pin of the rules begins, so that the plan must be composed
 * again. */
bool ek_controller_pins_due(const struct ek_controller *c, int64_t time_ms);
/* Report pins that expired or have no cell as decisions, and remove expired pins of operators. Call
 * after the plan is composed without them. Return 0, or EK_ENOMEM; some are then not reported. */
int ek_controller_pins_end(struct ek_controller *c, int64_t time_ms, uint64_t query,
                           uint64_t before);
/* Set held [cells] to 1 for the pinned cells; other entries stay unchanged. */
void ek_controller_pins_retain(const struct ek_controller *c, uint8_t *held);
/* Free all pins of operators. */
void ek_controller_pins_free(struct ek_controller *c);
/* Add pins of operators that `into` lacks; `to` maps the cells of `from`. Pins beyond EK_PINS_MAX
 * are dropped. Return 0, or EK_ENOMEM; some are then added. */
int ek_controller_pins_merge(struct ek_controller *into, const struct ek_controller *from,
                             const int16_t *to);
/* Read or write the pins of operators; `features` and `cells` are exclusive upper bounds. Errors
 * are in s->rc. */
void ek_controller_pins_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                                  int cells);

/* Begin rollouts for desired entries that have none, and end all other rollouts. */
void ek_controller_sync_rollouts(struct ek_controller *c, int64_t time_ms);
/* Set the initial percentage of the rules in rollouts that the plan does not let act. */
void ek_controller_update_percentages(struct ek_controller *c);

/* Report all changes from plan `was` to the current plan. Return 0, or the error of the
 * callback. */
int ek_controller_report(struct ek_controller *c, const struct ek_plan *was,
                         const struct ek_composed *composed, int64_t time_ms, uint64_t query);

#endif
