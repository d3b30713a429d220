/* Pins, accepted levels and decisions of a guard as JSON. */
#ifndef EK_GUARD_OPERATOR_JSON_H
#define EK_GUARD_OPERATOR_JSON_H

#include "base/buf.h"
#include "base/json.h"
#include "plan/decisions.h"
#include "plan/order.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_guard;

/* Append a pin as an object to `writer`, a struct ek_json_writer; a callback of
 * ek_controller_each_pin. Return 0 or EK_ENOMEM. */
int ek_json_add_pin(void *writer, const struct ek_order *p, enum ek_plan_source by);
/* Append the active pins as a JSON array (docs/run.md), pins of operators first. Return 0 or
 * EK_ENOMEM. */
int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out);

struct ek_guard;

/* Active accept; views. */
struct ek_accepted {
    uint64_t version;
    const char *feature, *dimension, *value; /* dimension NULL: all traffic */
    double factor;
    int64_t time_ms;             /* event time of the accept; -1: unknown */
    const char *author, *reason; /* NULL: not given, or unknown */
};
/* Append an accept as an object, as an element of an array. */
void ek_json_add_accepted(struct ek_json_writer *w, const struct ek_accepted *a);
/* Append the names of the actions to which a feature can be pinned, as a JSON array; empty for an
 * unknown feature. Return 0 or EK_ENOMEM. */
int ek_guard_pin_actions_json(const struct ek_guard *g, const char *feature, struct ek_buf *out);
/* Return the number of active accepts. */
int ek_guard_count_accepts(const struct ek_guard *g);
/* Append the active accepts as a JSON array (docs/run.md), by version, with actor and reason
 * as far as the decision log has them. Return 0, or EK_ENOMEM. */
int ek_guard_accepts_json(const struct ek_guard *g, struct ek_buf *out);

struct ek_guard;

/* Store a copy of a decision and queue its event. Members that are 0 are set: number, event time
 * (before the first list: clock of the caller), next list, plan version. Return 0 or EK_ENOMEM. */
int ek_guard_add_decision(struct ek_guard *g, const struct ek_decision_record *m);

/* Selection of decisions. */
struct ek_history_request {
    uint64_t count; /* maximum: the last ones, or the first ones after `after` */
    bool has_after;
    uint64_t after;      /* a decision number */
    const char *feature; /* NULL: any */
};

/* Append the selected decisions as a JSON array, oldest first. Return 0, EK_ENOMEM, or EK_EUSAGE
 * for an unknown feature, with the nearest name. */
int ek_guard_history(const struct ek_guard *g, const struct ek_history_request *w,
                     struct ek_buf *out, struct ek_error *e);

#endif
