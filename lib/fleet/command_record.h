/* Orders of people in a fleet, and what came of them (docs/format/fleet.md).
 *
 * Whoever is told something by a person writes an order, again and again until it hears the answer;
 * the decider carries it out once, and writes the answer behind the plan that follows from it. An
 * order is known by instance, start and number. Texts that were read are views into the record.
 * Owner: the caller. One thread at a time.
 */
#ifndef EK_FLEET_COMMAND_RECORD_H
#define EK_FLEET_COMMAND_RECORD_H

#include "fleet/plan_record.h"
#include "plan/route_controller.h"

/* Write an order; manifest: hash of that of the instance. EK_ENOMEM, EK_ELIMIT of the buffer. */
int ek_fleet_order_write(const struct ek_order *o, uint64_t manifest, struct ek_buf *out);
/* Read an order; the name of its instance is a view into the record. EK_EFORMAT, EK_ESTATE for
 * another manifest. */
int ek_fleet_order_open(struct ek_fleet_order_read *o, const void *bytes, size_t length,
                        const struct ek_manifest *m, struct ek_error *e);

struct ek_fleet_reply {
    struct ek_order_id id;
    struct ek_text decider;
    enum ek_code code;                /* EK_OK: done */
    struct ek_text refusal;           /* why not */
    struct ek_fleet_decision decided; /* where it is done */
};

void ek_fleet_reply_write(struct ek_serialize *w, const struct ek_fleet_reply *a);
int ek_fleet_reply_open(struct ek_fleet_reply *a, const void *bytes, size_t length,
                        struct ek_error *e);

/* The orders that a decider has carried out, the last EK_FLEET_COMMANDS_RETAINED of them. */
enum { EK_FLEET_COMMANDS_RETAINED = 32 };
struct ek_leader_commands;

int ek_leader_commands_new(struct ek_leader_commands **out, const char *decider); /* EK_ENOMEM */
void ek_leader_commands_free(struct ek_leader_commands *d);
/* Carry out an order that is not among them; of one that is, the answer is due again. time_ms: of
 * the stream; version: of the plan. EK_EFORMAT, EK_ESTATE, EK_ENOMEM: it is as if it had not come.
 */
int ek_leader_commands_run(struct ek_leader_commands *d, struct ek_controller *control,
                           const struct ek_manifest *m, int64_t time_ms, uint64_t version,
                           const void *bytes, size_t length, struct ek_error *e);
/* Whether an answer is due. */
bool ek_leader_commands_has_replies(const struct ek_leader_commands *d);
/* The plan was written: the answers that are due, as records to be written behind it, each handed
 * to `write`. version: of the plan; what `write` returned, where that is not 0. */
int ek_leader_commands_reply(struct ek_leader_commands *d, uint64_t version,
                             int (*write)(void *context, const void *bytes, size_t length),
                             void *context);

#endif
