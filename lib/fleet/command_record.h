/* Operator commands of a fleet: command and reply records (docs/dev/formats/fleet.md), and the
 * commands that a leader has applied. */
#ifndef EK_FLEET_COMMAND_RECORD_H
#define EK_FLEET_COMMAND_RECORD_H

#include "fleet/plan_record.h"
#include "plan/route_controller.h"

/* Command and reply records of a fleet (docs/dev/formats/fleet.md).
 *
 * An instance that receives an operator command writes it repeatedly until it reads the reply. The
 * leader applies the command once and writes the reply after the resulting plan. Instance, start
 * and number identify a command. Strings of a decoded record are views into the record.
 */
/* Append the record of a command to `out`. `manifest`: manifest hash of the instance. Return 0,
 * EK_ENOMEM, or EK_ELIMIT if `out` is full; on error `out` is unchanged. */
int ek_fleet_order_write(const struct ek_order *o, uint64_t manifest, struct ek_buf *out);
/* Decode a command record into *o; its strings are in *o or views into the record. Return 0,
 * EK_EFORMAT, or EK_ESTATE for another manifest; on error *o is undefined. */
int ek_fleet_order_open(struct ek_fleet_order_read *o, const void *bytes, size_t length,
                        const struct ek_manifest *m, struct ek_error *e);

struct ek_fleet_reply {
    struct ek_order_id id;
    struct ek_text decider;
    enum ek_code code;                /* EK_OK: applied */
    struct ek_text refusal;           /* reason of a rejection */
    struct ek_fleet_decision decided; /* decision of an applied command */
};

/* Append the fields of a reply to a started record. Errors are in w->rc. */
void ek_fleet_reply_write(struct ek_serialize *w, const struct ek_fleet_reply *a);
/* Decode a reply record into *a; its strings are views into the record. Return 0, or EK_EFORMAT
 * with *a undefined. */
int ek_fleet_reply_open(struct ek_fleet_reply *a, const void *bytes, size_t length,
                        struct ek_error *e);

/* Commands that a leader has applied: the last EK_FLEET_COMMANDS_RETAINED. */
enum { EK_FLEET_COMMANDS_RETAINED = 32 };
struct ek_leader_commands;

/* Create an empty list of commands of the leader named `decider`, which is copied. Return 0 or
 * EK_ENOMEM. */
int ek_leader_commands_new(struct ek_leader_commands **out, const char *decider);
void ek_leader_commands_free(struct ek_leader_commands *d);
/* Decode a command record and apply it to `control`, or schedule the reply of a known command
 * again. A rejected command gets a reply, too. `time_ms`: event time; `version`: of the plan.
 * Return 0, EK_EFORMAT, or EK_ESTATE for another manifest; on error the command has no effect. */
int ek_leader_commands_run(struct ek_leader_commands *d, struct ek_controller *control,
                           const struct ek_manifest *m, int64_t time_ms, uint64_t version,
                           const void *bytes, size_t length, struct ek_error *e);
/* Return whether replies are pending. */
bool ek_leader_commands_has_replies(const struct ek_leader_commands *d);
/* Pass each pending reply record to `write`. Call after the plan of `version`, which contains the
 * commands, was written. Return 0, or the first error of `write`; the rest stays pending. */
int ek_leader_commands_reply(struct ek_leader_commands *d, uint64_t version,
                             int (*write)(void *context, const void *bytes, size_t length),
                             void *context);

#endif
