/* Route controller: makes the current plan from findings, pins, rollouts and limits.
 *
 * A guard has a controller with the cells of its detector, a leader one with the cells of its pool.
 * Findings change the desired plan (plan/plan.h). Only ek_controller_update composes the current
 * plan from it (plan/plan_compose.h). Changes are reported as decisions. Times are event times.
 * Composing takes about 60 KiB of stack. The objects in the setup must outlive the controller.
 */
#ifndef EK_PLAN_ROUTE_CONTROLLER_H
#define EK_PLAN_ROUTE_CONTROLLER_H

#include "base/serialize.h"
#include "detect/bounds.h"
#include "detect/finding.h"
#include "plan/decisions.h"
#include "plan/order.h"
#include "plan/plan.h"
#include "plan/plan_compose.h"
#include "plan/policy.h"
#include "plan/rollout.h"
#include "rules/rules.h"
#include "schema/manifest.h"

#include <stdbool.h>

struct ek_controller;

/* Cell numbers of the caller, 0 for all traffic; strings are views. */
struct ek_controller_cells {
    /* Return the dimension of a cell, -1: all traffic. */
    int (*dimension_of)(void *context, int cell);
    /* Return the name of its dimension; NULL: all traffic. */
    const char *(*name_of)(void *context, int cell);
    /* Return its segment value; NULL: all traffic or other. */
    const char *(*value_of)(void *context, int cell);
    /* Return the cell of a segment value, -1: none. For operator commands only. */
    int (*find)(void *context, const char *dimension, const char *value);
    /* Return the cell of a segment value, assigned and retained if needed; -1: no space; -2: out of
     * memory. */
    int (*assign)(void *context, const char *dimension, const char *value);
    /* Report the cells in use, held [cells], which must not be reassigned. May be NULL. */
    void (*retain)(void *context, const uint8_t *held, int cells);
    /* Return an upper bound of the fraction of traffic in any of the cells, 0 to 1. NULL: unknown,
     * the limit does not apply. */
    double (*share_of)(void *context, const int *cell, int count);
    /* Pass each recorded list to ek_route_coverage_list. Faster than share_of, which it replaces.
     * May be NULL. */
    void (*each_list)(void *context, struct ek_route_coverage *reach);
    void *context;
};

/* Callbacks, each optional. */
struct ek_controller_callbacks {
    /* Store and report a decision. Return 0, or EK_ENOMEM. */
    int (*decided)(void *context, const struct ek_decision_record *d);
    /* Set the statistics of a route since its last step. Return false if none exist; then no step
     * and no guardrail applies. */
    bool (*get_stats)(void *context, int feature, int cell, struct ek_rollout_stats *out);
    /* Return the probability that the last list has the fault of a segment, and set *episode to the
     * finding number, 0: none (detect/fault_membership.h). NULL: routes have no budget. */
    double (*membership)(void *context, int feature, int cell, uint32_t *episode);
    /* Return the expected number of recent lists with that fault, except the last list. NULL:
     * routes have no budget. */
    double (*sum_memberships)(void *context, int feature, int cell);
    /* Restart the statistics of a route. */
    void (*reset_stats)(void *context, int feature, int cell);
    void *context;
};

/* Accepted levels for operator commands. Both callbacks complete the decision. */
struct ek_controller_levels {
    /* Return 0, EK_ESTATE, EK_ELIMIT or EK_ENOMEM; on error nothing changes. */
    int (*accept)(void *context, int feature, int cell, struct ek_decision_record *m,
                  struct ek_error *e);
    int (*revert)(void *context, uint64_t version, struct ek_decision_record *m,
                  struct ek_error *e);
    void *context;
};

struct ek_controller_setup {
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    struct ek_means means; /* without any no entry is desired */
    struct ek_controller_cells cells;
    struct ek_controller_callbacks callbacks;
    struct ek_controller_levels levels;
};

/* Create a controller with an empty plan. The setup is copied; its objects must outlive the
 * controller. Return 0, or EK_ENOMEM. */
int ek_controller_new(struct ek_controller **out, const struct ek_controller_setup *s,
                      struct ek_error *e);
void ek_controller_free(struct ek_controller *c);
/* Return the current plan, valid until the next change of the controller. */
const struct ek_plan *ek_controller_plan(const struct ek_controller *c);
/* Return the desired plan, valid until the next change of the controller. */
const struct ek_plan *ek_controller_desired(const struct ek_controller *c);

/* Return the decision for the event of a finding. Call after ek_controller_add_finding and
 * ek_controller_update. */
struct ek_decision ek_controller_decide(const struct ek_controller *c, const struct ek_finding *f);
/* Update the desired plan by an event of a finding: add, change or end its entry. The current plan
 * changes with the next ek_controller_update. */
void ek_controller_add_finding(struct ek_controller *c, const struct ek_finding *f,
                               int64_t time_ms);
/* Update the route budgets by a list and its treatment. Call for lists that the detector has
 * counted, before the next ek_controller_update. */
void ek_controller_list(struct ek_controller *c, const struct ek_plan_routing *routing);
/* Remove expired entries, apply steps and guardrails, and compose the plan if needed. `query`:
 * number of the next list. *changed: report the plan, because its version rose, or an entry starts
 * or stops waiting for an operator. Return 0, or EK_ENOMEM; the update is then done, but not all
 * decisions are reported. */
int ek_controller_update(struct ek_controller *c, int64_t time_ms, uint64_t query, bool *changed);
/* Return the limit that the last update exceeded, which is reported each time, or EK_BOUND_NONE. */
enum ek_bound ek_controller_reached_limit(const struct ek_controller *c);
/* Remove history and rollouts of a cell that gets another segment value. */
void ek_controller_reset_cell(struct ek_controller *c, int cell);
/* Return the rollout of a feature and cell, valid until the next change, or NULL. */
const struct ek_rollout *ek_controller_rollout(const struct ek_controller *c, int feature,
                                               int cell);

/* Validate a command against names, rules and event time (0: unknown). Return 0, EK_ESTATE if the
 * command is impossible now, or EK_EUSAGE for invalid values, with EK_ERR_NAME for an unknown
 * feature or segment. */
int ek_controller_check(const struct ek_controller *c, const struct ek_order *o, int64_t time_ms,
                        struct ek_error *e);
/* Validate and apply a command; the next update makes the plan. *m gets the decision without
 * number, list and versions; its strings are those of the command. Return 0, EK_ELIMIT for too many
 * pins or accepts, EK_ENOMEM, EK_ESTATE or an error of ek_controller_check; on error nothing
 * changes. */
int ek_controller_apply_order(struct ek_controller *c, const struct ek_order *o, int64_t time_ms,
                              struct ek_decision_record *m, struct ek_error *e);
/* Pin of an operator, at most EK_PINS_MAX. */
struct ek_controller_pin {
    int feature, cell;
    struct ek_order is; /* without names; a stored pin owns its strings */
};
/* Copy a pin and its strings except names. Return 0, or EK_ENOMEM; *to is then empty. */
int ek_controller_pin_copy(struct ek_controller_pin *to, const struct ek_controller_pin *from);
/* Free the strings of a pin. */
void ek_controller_pin_release(struct ek_controller_pin *p);
/* Add a copy of a pin, or replace the pin of the same feature and cell. Return 0, EK_ELIMIT beyond
 * EK_PINS_MAX pins, or EK_ENOMEM; on error nothing changes. */
int ek_controller_pin(struct ek_controller *c, const struct ek_controller_pin *pin,
                      struct ek_error *e);
/* Remove a pin of an operator. Return 0, or EK_ESTATE: none; for a pin of the rules the message has
 * its position. */
int ek_controller_unpin(struct ek_controller *c, int feature, int cell, struct ek_error *e);
/* Call the callback for each active pin, pins of operators first. Pins of the rules without a cell
 * or hidden by a pin of an operator are skipped. Return 0, or the first nonzero result. */
int ek_controller_each_pin(const struct ek_controller *c, int64_t time_ms,
                           int (*visit)(void *context, const struct ek_order *pin,
                                        enum ek_plan_source by),
                           void *context);
/* Return whether mitigation is paused. */
bool ek_controller_paused(const struct ek_controller *c);
/* Start or end the pause, under which no entry acts. Rollouts do not step while paused. The next
 * update composes the plan. */
void ek_controller_pause(struct ek_controller *c, bool paused, int64_t time_ms);
/* Restart a rolled-back route, or end one that waits for an operator. Return 0, or EK_ESTATE:
 * neither exists. */
int ek_controller_resume(struct ek_controller *c, int feature, int cell, int64_t time_ms,
                         struct ek_error *e);

/* State from which another controller continues; views. */
struct ek_controller_memory {
    const struct ek_plan *plan, *desired;
    const struct ek_rollouts *rollouts;
    enum ek_exceeds limited;
    int64_t free_ms;
    bool was_full;
    /* Operator state. */
    const struct ek_controller_pin *pin;
    int pins;
    bool paused;
    int64_t paused_ms;
};
/* Return plan, desired plan, rollouts, pins and limits as views, valid until the next change of the
 * controller. */
struct ek_controller_memory ek_controller_memory(const struct ek_controller *c);
/* Replace plan, desired plan, rollouts and limits by copies of those of *m, without reports. Pins
 * and pause stay. */
void ek_controller_apply_record(struct ek_controller *c, const struct ek_controller_memory *m);
/* Replace pins and pause by copies of those of *m. Return 0, or EK_ENOMEM; a part may then be
 * replaced. */
int ek_controller_apply_operators(struct ek_controller *c, const struct ek_controller_memory *m);

/* Read or write the checkpoint part `plan`, the desired plan. `features` and `cells` are exclusive
 * upper bounds. Errors are in s->rc. After reading, call ek_controller_restored. */
void ek_controller_desired_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                                     int cells);
/* Read or write the checkpoint part `control`: rollouts, pins, pause and limits. Bounds, errors and
 * call after reading as for ek_controller_desired_serialize. */
void ek_controller_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                             int cells);
/* Complete the reading of a checkpoint, with or without the part `control`, at event time time_ms.
 * The next update composes the plan. */
void ek_controller_restored(struct ek_controller *c, int64_t time_ms);
/* Merge another controller; `to` [cells of from] maps its cells. Common entries stay as here,
 * rollouts merge as ek_rollouts_merge, and a pause of either is kept. Pins are united; those of
 * `from` beyond EK_PINS_MAX are dropped without a report. The next update makes the plan. Return 0,
 * or EK_ENOMEM; a part is then merged. */
int ek_controller_merge(struct ek_controller *into, const struct ek_controller *from,
                        const int16_t *to);
/* Set the new number of the finding of a route after a merge; 0: no effect. No effect without the
 * route. */
void ek_controller_set_episode(struct ek_controller *c, int feature, int cell, uint32_t episode);
/* Set the incident number `cause` of the finding of a route after a restore. No effect without the
 * route. */
void ek_controller_set_incident(struct ek_controller *c, int feature, int cell, uint32_t cause);
/* Add the pins of another controller, and its pause; `to` as for ek_controller_merge. `from` needs
 * only names and values of its cells. A pin without a cell here is reported as removed; pins beyond
 * EK_PINS_MAX are dropped without a report. Return 0, or EK_ENOMEM; a part is then added. */
int ek_controller_copy_orders(struct ek_controller *c, const struct ek_controller *from,
                              const int16_t *to, int64_t time_ms, uint64_t query);
/* Set the version of the current plan, which must be empty. */
void ek_controller_start_at(struct ek_controller *c, uint64_t version);

#endif
