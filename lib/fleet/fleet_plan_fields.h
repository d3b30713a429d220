/* What a plan record is made of, beside findings and asks (docs/format/fleet.md): entries of a
 * plan, modes of `mode_in`, rollouts, what people have pinned and accepted, and what limits all of
 * it.
 *
 * Features and cells go by their names. One walk each writes and reads; reading, it refuses what
 * cannot be. Texts that were read are views into the record. Owner: the caller.
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

/* Feature and cell of `is` are not filled in. */
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

/* An order that was read, with the texts that it points to: it stays where it is. */
struct ek_fleet_order_read {
    struct ek_order is;
    char feature[EK_FLEET_NAME_MAX + 1], segment[EK_FLEET_NAME_MAX + 1];
    char value[EK_FLEET_TEXT_MAX + 1];
    char author[EK_AUTHOR_BYTES + 1], reason[EK_REASON_BYTES + 1];
};

/* Of struct ek_controller_memory. */
struct ek_fleet_limits {
    enum ek_exceeds limited;
    int64_t free_ms;
    bool was_full;
    bool paused;
    int64_t paused_ms;
};

/* What was accepted as normal, in force. */
struct ek_fleet_accept {
    struct ek_fleet_place place;
    double shift_ln;
    uint64_t version;
    int64_t since_ms, time_ms; /* of the stream: the first list of the change; when it was said */
    struct ek_text author, reason; /* empty: not said */
};

/* Reading, they fill a struct that starts as {0}. */
void ek_fleet_entry_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                         struct ek_fleet_entry *e);
void ek_fleet_mode_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                        struct ek_fleet_mode *m);
void ek_fleet_rollout_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                           struct ek_fleet_rollout *r);
/* A pin of a person, or the same part of another order; `place` has its names. */
void ek_fleet_order_put(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                        const struct ek_fleet_place *place, const struct ek_order *o);
void ek_fleet_order_get(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                        struct ek_fleet_order_read *o);
struct ek_fleet_place ek_fleet_order_place(const struct ek_order *o);
void ek_fleet_accept_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                          struct ek_fleet_accept *a);
void ek_fleet_limits_walk(struct ek_serialize *w, struct ek_fleet_limits *l);

/* A word; writing, of the argument. Return what was read. */
enum ek_guardrail ek_fleet_rail_walk(struct ek_serialize *w, enum ek_guardrail rail);
enum ek_class ek_fleet_class_walk(struct ek_serialize *w, enum ek_class class);

#endif
