/* A bounded queue between two threads, without locks: one puts in, one takes out.
 *
 * What was put becomes visible with ek_ring_publish, which wakes the taker once for all of it. A
 * ring that was found full asks for a ring of the `room` bell when it is half empty again. Items
 * come out in the order they were put in, each once. Memory: fixed by the capacity.
 * Owner: the caller, who frees it when both threads are done. Threads: each function says whose it
 * is.
 */
#ifndef EK_DAEMON_STAGE_SPSC_QUEUE_H
#define EK_DAEMON_STAGE_SPSC_QUEUE_H

#include "base/error.h"
#include "daemon/base/wakeup.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_ring;

/* capacity: at least 1, rounded up to a power of two. `room` must outlive the ring. */
int ek_ring_new(struct ek_ring **out, size_t capacity, const struct ek_bell *room,
                struct ek_error *e);
void ek_ring_free(struct ek_ring *r);

/* The thread that puts in. */

/* How many items there is room for now. Once it was 0 it stays 0 until half is free. */
size_t ek_ring_room(struct ek_ring *r);
/* There must be room. */
void ek_ring_put(struct ek_ring *r, void *item);
void ek_ring_publish(struct ek_ring *r);
/* Nothing comes after this. */
void ek_ring_close(struct ek_ring *r);

/* The thread that takes out: up to `most` items, waiting for the first. 0: closed and empty. */
size_t ek_ring_take(struct ek_ring *r, void **items, size_t most);

/* Any thread: items published and not taken. */
size_t ek_ring_depth(const struct ek_ring *r);

#endif
