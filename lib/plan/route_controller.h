/* What is done about findings: from what they want, what people and rules have pinned, how far each
 * route has been let, and the limits, to the plan in force.
 *
 * A guard has one over the cells of its detector, a fleet's decider one over the places of its
 * pool. Two plans are in it: `wanted`, which findings change (decide/plan.h), and the one in force,
 * which is composed of it (decide/compose.h) by ek_controller_update, and only there. What was done
 * is told as decisions. Times are those of the stream. Composing takes some 60 KiB of stack. Owner:
 * the caller. One thread at a time. What the setup points at must outlive it.
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

/* Cells are numbers of the caller, 0 for all traffic; texts are views. */
struct ek_controller_cells {
    /* Number of its dimension, -1: all traffic; its name and value (NULL for all traffic / other).
     */
    int (*dimension_of)(void *context, int cell);
    const char *(*name_of)(void *context, int cell);
    const char *(*value_of)(void *context, int cell);
    /* The cell of a value, -1: it has none. For orders only. */
    int (*find)(void *context, const char *dimension, const char *value);
    /* A cell for a value, made if need be, and kept at once; -1: no room; -2: no memory. */
    int (*assign)(void *context, const char *dimension, const char *value);
    /* held [cells]: those in use (plans, modes, pins), which are not to be taken. NULL: none is. */
    void (*retain)(void *context, const uint8_t *held, int cells);
    /* Of the traffic in any of these, 0..1, never too low. NULL: not known, no limit of it holds.
     */
    double (*share_of)(void *context, const int *cell, int count);
    /* Hands each list that is remembered to ek_route_coverage_list: quicker, in place of share_of.
     * NULL: there are none. */
    void (*each_list)(void *context, struct ek_route_coverage *reach);
    void *context;
};

/* All may be NULL. */
struct ek_controller_callbacks {
    /* Who keeps and tells decisions. EK_ENOMEM. */
    int (*decided)(void *context, const struct ek_decision_record *d);
    /* What is known of a route since its last step; false: nothing, and then there is no step and
     * no rail. */
    bool (*figures_of)(void *context, int feature, int cell, struct ek_rollout_stats *out);
    /* How far the newest list shows the open change of a place, and the number of that, 0: it is
     * none of it; and how many of all its lists do (decide/shows.h). Of who has no lists nothing is
     * known, and then no route is held to what it earned. */
    double (*membership)(void *context, int feature, int cell, uint32_t *episode);
    double (*mean_membership)(void *context, int feature, int cell);
    /* Those begin anew. */
    void (*figures_begin)(void *context, int feature, int cell);
    void *context;
};

/* Accepted levels, for orders: both fill in the decision. */
struct ek_controller_levels {
    /* EK_ESTATE, EK_ELIMIT, EK_ENOMEM: nothing has changed. */
    int (*accept)(void *context, int feature, int cell, struct ek_decision_record *m,
                  struct ek_error *e);
    int (*revert)(void *context, uint64_t version, struct ek_decision_record *m,
                  struct ek_error *e);
    void *context;
};

struct ek_controller_setup {
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    bool have_model; /* without one nothing is wanted */
    struct ek_controller_cells cells;
    struct ek_controller_callbacks callbacks;
    struct ek_controller_levels levels;
};

int ek_controller_new(struct ek_controller **out, const struct ek_controller_setup *s,
                      struct ek_error *e);
void ek_controller_free(struct ek_controller *c);
/* The plan in force, and that of what findings want. Valid until the next call that changes
 * something. */
const struct ek_plan *ek_controller_plan(const struct ek_controller *c);
const struct ek_plan *ek_controller_desired(const struct ek_controller *c);

/* What the rules say of it now, for its event: after ek_controller_add_finding and
 * ek_controller_update. */
struct ek_decision ek_controller_decide(const struct ek_controller *c, const struct ek_finding *f);
/* It wants something, or nothing any more. */
void ek_controller_add_finding(struct ek_controller *c, const struct ek_finding *f,
                               int64_t time_ms);
/* A list was taken, and got this of the plan in force: what it earns the routes, and takes of what
 * they have. Not for one of which nothing is learnt, as a repeat. Before the next settle. */
void ek_controller_list(struct ek_controller *c, const struct ek_plan_routing *routing);
/* What has run out, what is due (steps, rails), and the plan that follows. query: the first under
 * it. *changed: it is to be told, for its version rose, or the fault of an entry is gone and it
 * awaits a person, or it does no longer. Nothing to do costs a comparison or two. EK_ENOMEM: it is
 * done, and not all of it was told. */
int ek_controller_update(struct ek_controller *c, int64_t time_ms, uint64_t query, bool *changed);
/* The limit that the last settle ran into: to be shouted each time. EK_BOUND_NONE: none. */
enum ek_bound ek_controller_reached_limit(const struct ek_controller *c);
/* The cell is another value's. */
void ek_controller_reset_cell(struct ek_controller *c, int cell);
/* How far the route is; NULL: there is none. */
const struct ek_rollout *ek_controller_rollout(const struct ek_controller *c, int feature,
                                               int cell);

/* Check whether an order can be meant, by the names, the rules and the time of the stream (0: not
 * known). EK_EUSAGE, with EK_ERR_NAME for an unknown feature or segment; EK_ESTATE. */
int ek_controller_check(const struct ek_controller *c, const struct ek_order *o, int64_t time_ms,
                        struct ek_error *e);
/* Check an order and carry it out; the next settle makes the plan. *m: the decision, apart from
 * number, list and versions; texts of the order. Errors: those of ek_controller_check, EK_ESTATE,
 * EK_ELIMIT, EK_ENOMEM; then nothing has changed. */
int ek_controller_carry_out(struct ek_controller *c, const struct ek_order *o, int64_t time_ms,
                            struct ek_decision_record *m, struct ek_error *e);
/* What people say (pins.c). At most EK_PINS_MAX pins of people. A person's goes before
 * one of the rules, and each before what findings want. Texts are copied. */
struct ek_controller_pin {
    int feature, cell;
    struct ek_order is; /* without names; its texts are owned where it is kept */
};
/* Copy a pin with its texts, but for names. EK_ENOMEM: *to has none. */
int ek_controller_pin_copy(struct ek_controller_pin *to, const struct ek_controller_pin *from);
void ek_controller_pin_release(struct ek_controller_pin *p);
/* Puts it in the place of one that is there. EK_ELIMIT, EK_ENOMEM: nothing has changed. */
int ek_controller_pin(struct ek_controller *c, const struct ek_controller_pin *pin,
                      struct ek_error *e);
/* EK_ESTATE: there is none of a person; of one of the rules the message says where it stands. */
int ek_controller_unpin(struct ek_controller *c, int feature, int cell, struct ek_error *e);
/* Tells each pin that holds at that time, those of people first, and of the rules those that have a
 * cell and no pin of a person in their place. What `tell` returned, where that is not 0. */
int ek_controller_each_pin(const struct ek_controller *c, int64_t time_ms,
                           int (*tell)(void *context, const struct ek_order *pin,
                                       enum ek_plan_source by),
                           void *context);
bool ek_controller_paused(const struct ek_controller *c);
/* Rollouts stand still meanwhile. */
void ek_controller_pause(struct ek_controller *c, bool paused, int64_t time_ms);
/* A route that was withdrawn begins anew, one whose fault is gone ends. EK_ESTATE: there is none of
 * either. */
int ek_controller_resume(struct ek_controller *c, int feature, int cell, int64_t time_ms,
                         struct ek_error *e);

/* What it goes by when it makes the next plan, for another that goes on with it; views. */
struct ek_controller_memory {
    const struct ek_plan *plan, *desired;
    const struct ek_rollouts *rollouts;
    enum ek_exceeds limited;
    int64_t free_ms;
    bool was_full;
    /* What people said. */
    const struct ek_controller_pin *pin;
    int pins;
    bool paused;
    int64_t paused_ms;
};
struct ek_controller_memory ek_controller_memory(const struct ek_controller *c);
/* The plan in force, and what it was made of, are what another has decided; what people said here
 * stays. Nothing is told. */
void ek_controller_apply_record(struct ek_controller *c, const struct ek_controller_memory *m);
/* And what they said there takes its place. EK_ENOMEM: a part of it. */
int ek_controller_apply_operators(struct ek_controller *c, const struct ek_controller_memory *m);

/* The state: part `plan` is what is wanted; part `control` the rest. Of features and cells below
 * these. A state without `control` has a plan all the same: ek_controller_restored says that it was
 * read, and the next settle makes the plan in force of it. */
void ek_controller_desired_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                                     int cells);
void ek_controller_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                             int cells);
void ek_controller_restored(struct ek_controller *c, int64_t time_ms);
/* Adds what another one has, `to` [cells of from] for its cells here: what both want goes on as it
 * is here, of rollouts see ek_rollouts_merge, pins are united, and all is paused when one is. The
 * next settle makes the plan of it. EK_ENOMEM: a part was added. */
int ek_controller_merge(struct ek_controller *into, const struct ek_controller *from,
                        const int16_t *to);
/* The change that a route there is of has this number now; 0: it is over. After a merge, where
 * changes are numbered anew. */
void ek_controller_set_episode(struct ek_controller *c, int feature, int cell, uint32_t episode);
/* The pins of another one go on, `to` as for ek_controller_merge; `from` needs names and values of
 * its cells alone. One whose place is not there any more is told as taken away. EK_ENOMEM: a part.
 */
int ek_controller_copy_pins(struct ek_controller *c, const struct ek_controller *from,
                            const int16_t *to, int64_t time_ms, uint64_t query);
/* Nothing is wanted, and the version is at least this. */
void ek_controller_start_at(struct ek_controller *c, uint64_t version);

#endif
