/* A gate: what comes passes in order while it is open, and waits, in order, while it is shut.
 *
 * Whoever shuts it knows afterwards that nobody is passing. What waits passes, oldest first, when
 * the gate is opened, before anything that comes later. The hooks run under the gate's own lock, so
 * what they touch needs no other; they must not call the gate. Nobody ever sleeps at a gate: how
 * much may wait is bounded by whoever hands out what comes.
 * Lock order: whatever the caller of ek_hold_queue_add holds (the guard's lock), then this one,
 * then those inside librdkafka. Owner: the caller. Threads: one that puts, one that shuts and
 * opens; hooks run on either.
 */
#ifndef EK_DAEMON_KAFKA_OUTPUT_WRITER_H
#define EK_DAEMON_KAFKA_OUTPUT_WRITER_H

#include "base/error.h"

#include <stdbool.h>

struct ek_hold_queue;

struct ek_hold_queue_hooks {
    void *context;
    /* Passes an item, kept or not. Fails only for good. */
    int (*pass)(void *context, void *item, struct ek_error *e);
    /* What may wait in place of the item, and takes of it what it needs; NULL without memory. */
    void *(*keep)(void *context, void *item);
    /* Releases what keep gave, passed or not. */
    void (*release)(void *context, void *kept);
    /* Whether no more of what waits is to pass this time; NULL: all of it. */
    bool (*enough)(void *context);
};

/* Shut at first. EK_ENOMEM. */
int ek_hold_queue_new(struct ek_hold_queue **out, const struct ek_hold_queue_hooks *hooks,
                      struct ek_error *e);
/* Releases what still waits. */
void ek_hold_queue_free(struct ek_hold_queue *g);

/* Passes the item, or keeps it. What pass fails with, or EK_ENOMEM. */
int ek_hold_queue_add(struct ek_hold_queue *g, void *item, struct ek_error *e);
void ek_hold_queue_close(struct ek_hold_queue *g);
/* Passes what waits and opens; when that is enough with some still waiting, stays shut. On failure
 * the item that failed is released, the rest waits, and the gate stays shut. */
int ek_hold_queue_open(struct ek_hold_queue *g, struct ek_error *e);

#endif
