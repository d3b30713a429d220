/* Orders of people in a fleet, and what came of them (docs/format/fleet.md).
 *
 * Whoever is told something by a person writes an order, again and again until it hears the answer;
 * the decider carries it out once, and writes the answer behind the plan that follows from it. An
 * order is known by instance, start and number. Texts that were read are views into the record.
 * Owner: the caller. One thread at a time.
 */
#ifndef EK_FLEET_COMMAND_RECORD_H
#define EK_FLEET_COMMAND_RECORD_H

#include "fleet/fleet_accepted.h"
#include "fleet/fleet_codec.h"
#include "fleet/plan_record.h"
#include "fleet/pool.h"
#include "plan/route_controller.h"

struct ek_fleet_wish_id {
    struct ek_text instance;
    uint64_t start, number; /* of this run of it, from 1 */
};

struct ek_fleet_wish {
    struct ek_fleet_wish_id id;
    uint64_t manifest; /* its hash */
    enum ek_did what;  /* EK_DID_PIN, _UNPIN, _PAUSE, _RESUME, _ACCEPT, _REVERT */
    struct ek_fleet_dimensions dimensions;
    struct ek_fleet_cell cell;
    struct ek_text feature; /* empty: of all, for a pause and its end; none, for a revert */
    enum ek_action action;  /* of a pin */
    uint64_t accept;        /* version that a revert is of */
    int64_t until_ms;
    struct ek_text author, reason; /* empty: not said */
};

/* EK_ENOMEM, EK_ELIMIT of the buffer. */
int ek_fleet_wish_write(const struct ek_fleet_wish *o, struct ek_buf *out);
/* EK_EFORMAT, EK_ESTATE for another manifest. */
int ek_fleet_wish_open(struct ek_fleet_wish *o, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e);

struct ek_fleet_reply {
    struct ek_fleet_wish_id id;
    struct ek_text decider;
    enum ek_code code;               /* EK_OK: done */
    struct ek_text refusal;          /* why not */
    struct ek_fleet_decided decided; /* where it is done */
};

void ek_fleet_reply_put(struct ek_snap *w, const struct ek_fleet_reply *a);
int ek_fleet_reply_open(struct ek_fleet_reply *a, const void *bytes, size_t length,
                        struct ek_error *e);

/* The orders that a decider has carried out, the last EK_FLEET_ORDERS_KEPT of them. */
enum { EK_FLEET_ORDERS_KEPT = 32 };
struct ek_fleet_desk;

int ek_fleet_desk_new(struct ek_fleet_desk **out, const char *decider); /* EK_ENOMEM */
void ek_fleet_desk_free(struct ek_fleet_desk *d);
/* What it works on. */
struct ek_fleet_desk_tools {
    const struct ek_manifest *manifest;
    struct ek_control *control;
    struct ek_fleet_pool *pool; /* whose places are the control's cells */
    struct ek_fleet_told *told;
    struct ek_fleet_normal *normal;
    int64_t time_ms;  /* of the stream */
    uint64_t version; /* of the plan */
    int *moved; /* is set to the feature whose level is another one now, and left alone else */
};
/* Carries out an order that was not there before, and remembers what came of it; of one that was,
 * the answer is due again. EK_EFORMAT, EK_ESTATE, EK_ENOMEM: it is as if it had not come. */
int ek_fleet_desk_take(struct ek_fleet_desk *d, const struct ek_fleet_desk_tools *tools,
                       const void *bytes, size_t length, struct ek_error *e);
/* Whether an answer is due. */
bool ek_fleet_desk_owes(const struct ek_fleet_desk *d);
/* The plan was written: the answers that are due, as records to be written behind it, each handed
 * to `write`. version: of the plan; what `write` returned, where that is not 0. */
int ek_fleet_desk_answer(struct ek_fleet_desk *d, uint64_t version,
                         int (*write)(void *context, const void *bytes, size_t length),
                         void *context);

#endif
