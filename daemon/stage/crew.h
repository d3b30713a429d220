/* The workers: threads that decode, hand to the guard, score and send, each what is in its ring.
 *
 * Messages given to one worker leave in the order they were given. A ticket that was given is
 * either with the producer afterwards, or comes back through ek_crew_returned: because its
 * partition was taken away, because sending failed for good, because the crew has failed, or
 * because nothing was to be sent for it. After a failure nothing is sent any more and every ticket
 * comes back. Owner: the caller; what it is made with must outlive it, but for the assets, of which
 * each worker holds those it uses. Threads: all functions belong to the one that reads, but for the
 * three that change the assets, which belong to another one.
 */
#ifndef EK_DAEMON_CREW_H
#define EK_DAEMON_CREW_H

#include "daemon/base/bell.h"
#include "daemon/guard/loaded.h"
#include "daemon/guard/pause.h"
#include "daemon/guard/shared_guard.h"

struct ek_crew;
struct ek_samples;

/* What workers need. `bell` rings when a ring has room again and when a ticket comes back. */
struct ek_crew_tools {
    const struct ek_config *config;
    struct ek_loaded *assets;
    struct ek_shared_guard *guard;
    struct ek_output *output;
    struct ek_metrics *metrics;
    struct ek_log *log;
    const struct ek_pause *pause;
    const struct ek_bell *bell;
    struct ek_samples *samples; /* NULL: none are kept */
};

int ek_crew_new(struct ek_crew **out, const struct ek_crew_tools *tools, struct ek_error *e);
/* Stops it first, if need be. */
void ek_crew_free(struct ek_crew *c);
int ek_crew_size(const struct ek_crew *c);

int ek_crew_start(struct ek_crew *c, struct ek_error *e);
/* Waits until the workers have done what they were given. */
void ek_crew_stop(struct ek_crew *c);

/* How many messages worker w can be given now; 0 from when its ring is full until half is free. */
size_t ek_crew_room(struct ek_crew *c, int w);
/* Gives messages to worker w; at most as many as there was room for. */
void ek_crew_give(struct ek_crew *c, int w, struct ek_ticket *const *tickets, size_t count);
/* Messages that wait in rings. */
size_t ek_crew_waiting(const struct ek_crew *c);

/* Makes contexts of these assets for every worker, beside those in use. EK_ENOMEM: there are none.
 */
int ek_crew_lay(struct ek_crew *c, struct ek_loaded *assets, struct ek_error *e);
/* The guard has taken the assets that were laid, and no list since: whoever gives it a list of
 * others is refused, takes those contexts and reads it again. */
void ek_crew_turn(struct ek_crew *c);
/* It has not: what was laid goes. */
void ek_crew_take_back(struct ek_crew *c);

/* The next ticket that came back, NULL for none. */
struct ek_ticket *ek_crew_returned(struct ek_crew *c);
/* Why the crew cannot go on; 0 while it can. */
int ek_crew_failure(struct ek_crew *c, struct ek_error *e);

/* Bytes of one worker at most, while other assets are laid for it. */
#endif
