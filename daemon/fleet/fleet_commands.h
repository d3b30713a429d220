/* Operator commands submitted to this instance of a fleet, sent to the leader until it replies.
 *
 * The last 16 are stored with their results. Threads: any.
 */
#ifndef EK_DAEMON_FLEET_FLEET_COMMANDS_H
#define EK_DAEMON_FLEET_FLEET_COMMANDS_H

#include "base/buf.h"
#include "fleet/command_record.h"

struct ek_fleet_commands;

enum {
    EK_COMMANDS_RETRY_MS = 500,   /* interval of retries */
    EK_COMMANDS_TIMEOUT_MS = 5000 /* then the command is lost and not retried */
};

/* Create an empty list of commands. instance: copied name of this instance; start: identifies this
 * process. Return 0 or EK_ENOMEM. */
int ek_fleet_commands_new(struct ek_fleet_commands **out, const char *instance, uint64_t start);
void ek_fleet_commands_free(struct ek_fleet_commands *o);

/* Add a copy of a command, with the hash of the manifest that it refers to, and set *number to its
 * id. The oldest beyond 16 is removed. Return 0 or EK_ENOMEM. */
int ek_fleet_commands_submit(struct ek_fleet_commands *o, const struct ek_order *order,
                             uint64_t manifest, int64_t now_ms, uint64_t *number);
/* Call `send` with the record of each command that is due: a new one, and one without a reply for a
 * while. */
void ek_fleet_commands_send_due(struct ek_fleet_commands *o, int64_t now_ms,
                                void (*send)(void *context, const void *bytes, size_t length),
                                void *context);
/* Store a reply; replies to other instances are ignored. */
void ek_fleet_commands_receive(struct ek_fleet_commands *o, const struct ek_fleet_reply *r);
/* Append all commands with their results as a JSON array, oldest first. Return 0 or EK_ENOMEM. */
int ek_fleet_commands_json(struct ek_fleet_commands *o, struct ek_buf *out);

#endif
