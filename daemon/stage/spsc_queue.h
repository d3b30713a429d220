/* A bounded queue between two threads, without locks: one puts in, one takes out.
 *
 * What was put becomes visible with ek_spsc_queue_publish, which wakes the taker once for all of
 * it. A ring that was found full asks for a ring of the `room` bell when it is half empty again.
 * Items come out in the order they were put in, each once. Memory: fixed by the capacity. Owner:
 * the caller, who frees it when both threads are done. Threads: each function says whose it is.
 */
#ifndef EK_DAEMON_STAGE_SPSC_QUEUE_H
#define EK_DAEMON_STAGE_SPSC_QUEUE_H

#include "base/error.h"
#include "daemon/base/wakeup.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_spsc_queue;

/* capacity: at least 1, rounded up to a power of two. `room` must outlive the ring. */
int ek_spsc_queue_new(struct ek_spsc_queue **out, size_t capacity, const struct ek_wakeup *room,
                      struct ek_error *e);
void ek_spsc_queue_free(struct ek_spsc_queue *r);

/* The thread that puts in. */

/* How many items there is room for now. Once it was 0 it stays 0 until half is free. */
size_t ek_spsc_queue_space(struct ek_spsc_queue *r);
/* There must be room. */
void ek_spsc_queue_push(struct ek_spsc_queue *r, void *item);
void ek_spsc_queue_publish(struct ek_spsc_queue *r);
/* Nothing comes after this. */
void ek_spsc_queue_close(struct ek_spsc_queue *r);

/* The thread that takes out: up to `most` items, waiting for the first. 0: closed and empty. */
size_t ek_spsc_queue_pop(struct ek_spsc_queue *r, void **items, size_t most);

/* Any thread: items published and not taken. */
size_t ek_spsc_queue_depth(const struct ek_spsc_queue *r);

#endif
