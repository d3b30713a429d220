/* The kill switch: while it is on, the stage is a forwarder.
 *
 * Every message goes out as it came, also one that cannot be read and would be a dead letter
 * otherwise, since evenkeel itself may be what is wrong. The guard goes on watching, so nothing is
 * forgotten meanwhile. The guard is told as well and keeps it with its state; the switch is for who
 * cannot wait for the guard. Owner: the caller. Threads: any.
 */
#ifndef EK_DAEMON_GUARD_PAUSE_H
#define EK_DAEMON_GUARD_PAUSE_H

#include "base/buf.h"
#include "rules/rules.h" /* limits of what people say */

#include <stdbool.h>
#include <stdint.h>

struct ek_pause;

/* Off. NULL without memory. */
struct ek_pause *ek_pause_new(void);
/* NULL is allowed. */
void ek_pause_free(struct ek_pause *p);

/* Cheap enough to be asked for each message. */
bool ek_pause_is_on(const struct ek_pause *p);
/* `who` and `why` may be NULL; what is longer than the limits above is cut. False: it was so
 * already, and the first word on it stands. since_ms: wall time. */
bool ek_pause_set(struct ek_pause *p, bool on, int64_t since_ms, const char *who, const char *why);
/* On, as a saved state has it: since a time of the stream, for when that was is not kept. */
void ek_pause_restore(struct ek_pause *p, int64_t stream_ms, const char *who, const char *why);
/* Who and why, where it is on and nobody has said that yet. */
void ek_pause_set_actor(struct ek_pause *p, const char *who, const char *why);
/* Returns whether it is on, and since when. */
bool ek_pause_since(struct ek_pause *p, int64_t *since_ms);
/* Appends null, or since when, by which clock ("wall", or "stream" of one that was restored), who
 * and why as a JSON object. EK_ENOMEM. */
int ek_pause_json(struct ek_pause *p, struct ek_buf *out);

#endif
