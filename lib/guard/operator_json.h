/* The pins of a guard, for who shows them. */
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

/* Add a pin as an object to a struct ek_json_writer. EK_ENOMEM. */
int ek_json_add_pin(void *writer, const struct ek_order *p, enum ek_plan_source by);
/* Appends those in force as a JSON array (docs/operations.md): those of people first. EK_ENOMEM. */
int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out);

/* What is accepted as normal, for who shows it. */
struct ek_guard;

/* One accept in force; views. */
struct ek_accepted {
    uint64_t version;
    const char *feature, *dimension, *value; /* dimension NULL: all traffic */
    double factor;
    int64_t time_ms;             /* of the stream, when it was said; -1: not known any more */
    const char *author, *reason; /* NULL: not said, or not known any more */
};
/* Add one as an object. */
void ek_json_add_accepted(struct ek_json_writer *w, const struct ek_accepted *a);
/* Appends those in force as a JSON array (docs/operations.md), by versions; who said it and why as
 * far as the history goes back. EK_ENOMEM. */
int ek_guard_accepts_json(const struct ek_guard *g, struct ek_buf *out);

/* What was decided, in a guard: kept, told as an event, and shown. */
struct ek_guard;

/* Keeps a decision and tells it. What is 0 in it is put in: its number, its time (of the stream;
 * before its first list, of the caller), the next list as its query, and the version of the plan.
 * EK_ENOMEM. */
int ek_guard_add_decision(struct ek_guard *g, const struct ek_decision_record *m);

/* Which decisions are asked for. */
struct ek_history_request {
    uint64_t count; /* at most so many: the last, or those next behind `after` */
    bool has_after;
    uint64_t after;      /* a number */
    const char *feature; /* that they are about; NULL: any */
};

/* Appends them as a JSON array, oldest first. EK_EUSAGE for a feature that is none, with the
 * nearest; EK_ENOMEM. */
int ek_guard_history(const struct ek_guard *g, const struct ek_history_request *w,
                     struct ek_buf *out, struct ek_error *e);

#endif
