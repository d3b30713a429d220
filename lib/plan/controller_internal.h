/* The inside of ek_controller, for the files that make it: control.c (what findings want, and
 * settling), control_rollouts.c (steps, guardrails), control_earned.c (for how many lists a route
 * may act), control_told.c (decisions), control_snap.c
 * (state, merge), control_orders.c (what people say). */
#ifndef EK_PLAN_CONTROLLER_INTERNAL_H
#define EK_PLAN_CONTROLLER_INTERNAL_H

#include "plan/route_controller.h"

enum { EK_CONTROL_PINS_MAX = 2 * EK_PINS_MAX /* that hold: of people, and of the rules */ };

/* Whether all values that the rules tell apart for a feature have cells. */
enum { EK_APART_NEW, EK_APART_NO, EK_APART_YES };

struct ek_controller {
    struct ek_controller_setup setup;
    struct ek_plan desired;
    struct ek_plan plan[2]; /* in force, and scratch */
    int now;                /* number of the one in force */
    struct ek_rollouts rollouts;
    struct ek_controller_pin pin[EK_PINS_MAX]; /* of people; texts are owned */
    int pins;
    int16_t rule_cell[EK_PINS_MAX]; /* of the pins of the rules: cell + 1, 0: none yet */
    bool rule_over[EK_PINS_MAX];    /* and whether they have run out */
    bool rules_placed;              /* they were given cells, */
    bool rules_unplaced;            /* but for some, */
    bool rules_untold;              /* which is to be told */
    bool rules_timed;               /* the stream's time is known since their last look at it */
    bool paused;
    int64_t paused_ms;       /* since when */
    struct ek_plan before;   /* in force before the pause; empty where nobody knows */
    bool retell;             /* what the plan says has changed, though not what it does */
    bool stale;              /* what the plan in force is made of may have changed */
    bool spent;              /* a route has no list left of those that it earned */
    bool wanted_full;        /* a finding found no room, since the last settle */
    enum ek_exceeds limited; /* now, or until less than a hold ago */
    int64_t free_ms;         /* since when nothing is exceeded any more; -1: it is, or never was */
    bool was_full;           /* the plan had no room for all */
    enum ek_bound tripped;   /* by the last settle */
    uint64_t above;          /* a version that follows from a merge is higher than this, too */
    struct ek_plan_mode mode[EK_PLAN_MODES_MAX]; /* scratch: `mode_in` by cell, */
    int modes;
    bool modes_full;                              /* and not all of them had room */
    bool no_memory;                               /* for the cell of one */
    uint8_t apart[EK_FEATURES_MAX];               /* scratch: of each item feature */
    struct ek_pinned pinned[EK_CONTROL_PINS_MAX]; /* scratch: pins that hold now */
    struct ek_route_coverage *reach;              /* scratch; NULL: no share of lists is limited */
    uint8_t held[INT16_MAX + 1];                  /* cells, as the caller was told last */
};

static inline struct ek_plan *ek_controller_time(struct ek_controller *c)
{
    return &c->plan[c->now];
}

/* control.c: tells who gives cells away which are in use. */
void ek_controller_retain_cells(struct ek_controller *c);

/* control_orders.c: pins that hold now, into `pinned`; returns how many. */
int ek_controller_pins_get(struct ek_controller *c, int64_t time_ms);
/* Whether a pin has run out, or one of the rules begins. */
bool ek_controller_pins_due(const struct ek_controller *c, int64_t time_ms);
/* Tells what has run out, or has no cell, when the plan is made without it. EK_ENOMEM: it is done,
 * and not told. */
int ek_controller_pins_end(struct ek_controller *c, int64_t time_ms, uint64_t query,
                           uint64_t before);
/* Puts in [cells] those that are pinned. */
void ek_controller_pins_retain(const struct ek_controller *c, uint8_t *held);
void ek_controller_pins_free(struct ek_controller *c);
/* Pins of people that are not there yet. EK_ENOMEM. */
int ek_controller_pins_merge(struct ek_controller *into, const struct ek_controller *from,
                             const int16_t *to);
void ek_controller_pins_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                                  int cells);

/* control_rollouts.c: each wanted entry has a rollout that goes on, no other has. */
void ek_controller_sync_rollouts(struct ek_controller *c, int64_t time_ms);

/* control_told.c: tells what has become of the plan, from `was` to the one in force. */
int ek_controller_report(struct ek_controller *c, const struct ek_plan *was,
                         const struct ek_composed *composed, int64_t time_ms, uint64_t query);

#endif
