/* Orders of people that were given to this instance of a fleet, until they are answered: told again
 * and again to the decider, for as long as somebody waits, and shown with what came of them.
 *
 * The last ORDERS_KEPT. Owner: the caller. Threads: any.
 */
#ifndef EK_DAEMON_FLEET_FLEET_COMMANDS_H
#define EK_DAEMON_FLEET_FLEET_COMMANDS_H

#include "base/buf.h"
#include "fleet/command_record.h"

struct ek_fleet_commands;

enum {
    EK_COMMANDS_RETRY_MS = 500,   /* between two tellings of one */
    EK_COMMANDS_TIMEOUT_MS = 5000 /* then nobody is told any more */
};

/* instance: its name, copied; start: of this run of it. EK_ENOMEM. */
int ek_fleet_commands_new(struct ek_fleet_commands **out, const char *instance, uint64_t start);
void ek_fleet_commands_free(struct ek_fleet_commands *o);

/* Add an order of an instance with this manifest (its hash); *number is the one it gets.
 * EK_ENOMEM. */
int ek_fleet_commands_submit(struct ek_fleet_commands *o, const struct ek_order *order,
                             uint64_t manifest, int64_t now_ms, uint64_t *number);
/* Hands each that is due to `send`. */
void ek_fleet_commands_send_due(struct ek_fleet_commands *o, int64_t now_ms,
                                void (*send)(void *context, const void *bytes, size_t length),
                                void *context);
/* Takes an answer; of other instances' orders nothing comes. */
void ek_fleet_commands_receive(struct ek_fleet_commands *o, const struct ek_fleet_reply *r);
/* Appends a JSON array, oldest first. EK_ENOMEM. */
int ek_fleet_commands_json(struct ek_fleet_commands *o, struct ek_buf *out);

#endif
