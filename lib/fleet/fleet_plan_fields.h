/* Fields of a plan record except findings and row requests (docs/dev/formats/fleet-plan.md): plan
 * entries, modes of `mode_in`, rollouts, pins, accepts and limits.
 *
 * Features and cells are written by name. One function both reads and writes a field; reading fails
 * on invalid values. Decoded strings are views into the record.
 */
#ifndef EK_FLEET_FLEET_PLAN_FIELDS_H
#define EK_FLEET_FLEET_PLAN_FIELDS_H

#include "fleet/fleet_codec.h"
#include "plan/plan_compose.h"
#include "plan/route_controller.h"
#include "schema/manifest.h"

struct ek_fleet_place {
    struct ek_fleet_cell cell;
    struct ek_text feature;
};

/* Feature and cell of `is` are not set. */
struct ek_fleet_entry {
    struct ek_fleet_place place;
    struct ek_text query_feature; /* of its repair; empty: none */
    struct ek_plan_entry is;
};

struct ek_fleet_mode {
    struct ek_fleet_place place;
    struct ek_plan_mode is;
};

struct ek_fleet_rollout {
    struct ek_fleet_place place;
    struct ek_rollout is;
};

/* Decoded command and the strings it refers to; must not be moved. */
struct ek_fleet_order_read {
    struct ek_order is;
    char feature[EK_FLEET_NAME_MAX + 1], segment[EK_FLEET_NAME_MAX + 1];
    char value[EK_FLEET_TEXT_MAX + 1];
    char author[EK_AUTHOR_BYTES + 1], reason[EK_REASON_BYTES + 1];
};

/* Fields of struct ek_controller_memory. */
struct ek_fleet_limits {
    enum ek_exceeds limited;
    int64_t free_ms;
    bool was_full;
    bool paused;
    int64_t paused_ms;
};

/* Accepted level. */
struct ek_fleet_accept {
    struct ek_fleet_place place;
    double shift_ln;
    uint64_t version;
    int64_t since_ms, time_ms;     /* event time: first list of the change; accept */
    struct ek_text author, reason; /* empty: not given */
};

/* Read or write a plan entry. The struct starts as {0} when reading. Errors are in w->rc, as for
 * all functions below. */
void ek_fleet_entry_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                         struct ek_fleet_entry *e);
/* Read or write a mode of `mode_in`. The struct starts as {0} when reading. */
void ek_fleet_mode_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                        struct ek_fleet_mode *m);
/* Read or write a rollout. The struct starts as {0} when reading. */
void ek_fleet_rollout_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                           struct ek_fleet_rollout *r);
/* Write a pin of an operator, or the same fields of another command. `place` has its names. */
void ek_fleet_order_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                         const struct ek_fleet_place *place, const struct ek_order *o);
/* Read the fields of ek_fleet_order_walk into *o, which starts as {0}. */
void ek_fleet_order_get(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                        struct ek_fleet_order_read *o);
/* Return the names of feature and segment in a command, as views of its strings. */
struct ek_fleet_place ek_fleet_order_place(const struct ek_order *o);
/* Read or write an accepted level. The struct starts as {0} when reading. */
void ek_fleet_accept_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                          struct ek_fleet_accept *a);
/* Read or write the limits of the controller. The struct starts as {0} when reading. */
void ek_fleet_limits_walk(struct ek_serialize *w, struct ek_fleet_limits *l);

/* Write the word of `rail`, or read a word. Return the value; the first one after an error. */
enum ek_guardrail ek_fleet_guardrail_walk(struct ek_serialize *w, enum ek_guardrail rail);
/* Write the word of `class`, or read a word. Return the value; the first one after an error. */
enum ek_class ek_fleet_class_walk(struct ek_serialize *w, enum ek_class class);

#endif
