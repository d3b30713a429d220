/* Bounded lock-free queue with one producer and one consumer thread (SPSC).
 *
 * Pushed items become visible with ek_spsc_queue_publish, which wakes the consumer once per batch.
 * When full, it signals `room` at half empty. Free it after both threads are done.
 */
#ifndef EK_DAEMON_STAGE_SPSC_QUEUE_H
#define EK_DAEMON_STAGE_SPSC_QUEUE_H

#include "base/error.h"
#include "daemon/base/wakeup.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_spsc_queue;

/* Create a queue. capacity is at least 1 and rounded up to a power of two. `room` must outlive it.
 * Return 0, EK_EIO without a file descriptor, or EK_ENOMEM. */
int ek_spsc_queue_new(struct ek_spsc_queue **out, size_t capacity, const struct ek_wakeup *room,
                      struct ek_error *e);
/* Free the queue, not its items. */
void ek_spsc_queue_free(struct ek_spsc_queue *r);

/* Producer thread: */

/* Return the free space. After it returns 0 it stays 0 until the queue is half empty. */
size_t ek_spsc_queue_space(struct ek_spsc_queue *r);
/* Append an item; requires space. */
void ek_spsc_queue_push(struct ek_spsc_queue *r, void *item);
/* Make the pushed items visible to the consumer and wake it. */
void ek_spsc_queue_publish(struct ek_spsc_queue *r);
/* Publish and close; no push may follow. */
void ek_spsc_queue_close(struct ek_spsc_queue *r);

/* Remove up to `most` items into items [most], waiting for the first. Consumer thread. Return their
 * number, 0 if the queue is closed and empty. */
size_t ek_spsc_queue_pop(struct ek_spsc_queue *r, void **items, size_t most);

/* Return the number of published items in the queue. Any thread. */
size_t ek_spsc_queue_depth(const struct ek_spsc_queue *r);

#endif
