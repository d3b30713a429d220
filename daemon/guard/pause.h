/* Kill switch: while on, all messages are forwarded unchanged.
 *
 * This includes undecodable messages, which otherwise become dead letters, since evenkeel itself
 * may be faulty. The guard still processes the lists. The guard also has the pause and stores it in
 * the checkpoint; the switch takes effect without waiting for the guard. Threads: any.
 */
#ifndef EK_DAEMON_GUARD_PAUSE_H
#define EK_DAEMON_GUARD_PAUSE_H

#include "base/buf.h"
#include "rules/rules.h" /* length limits of actor and reason */

#include <stdbool.h>
#include <stdint.h>

struct ek_pause;

/* Create a switch that is off. Return NULL if memory runs out. */
struct ek_pause *ek_pause_new(void);
void ek_pause_free(struct ek_pause *p);

/* Return true if the switch is on; cheap, for each message. */
bool ek_pause_is_on(const struct ek_pause *p);
/* Turn the switch on or off. since_ms: wall time. `actor` and `reason` may be NULL and are cut to
 * the limits above. Return false, without effect, if it already has this state. */
bool ek_pause_set(struct ek_pause *p, bool on, int64_t since_ms, const char *actor,
                  const char *reason);
/* Turn the switch on from a checkpoint, which stores the event time of the pause, not the wall
 * time. */
void ek_pause_restore(struct ek_pause *p, int64_t stream_ms, const char *actor, const char *reason);
/* Set copies of actor and reason if the switch is on without them; no effect otherwise. */
void ek_pause_set_actor(struct ek_pause *p, const char *actor, const char *reason);
/* Return true if the switch is on, and set *since_ms to the time of the last change. */
bool ek_pause_since(struct ek_pause *p, int64_t *since_ms);
/* Append null, or an object with start, clock ("wall", or "stream" if restored), actor and reason.
 * Return 0 or EK_ENOMEM. */
int ek_pause_json(struct ek_pause *p, struct ek_buf *out);

#endif
