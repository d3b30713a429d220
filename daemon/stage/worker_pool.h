/* Worker pool of the stage, the batches of messages that a worker decodes before it takes the
 * guard's lock, and the queue of messages to a worker. */
#ifndef EK_DAEMON_STAGE_WORKER_POOL_H
#define EK_DAEMON_STAGE_WORKER_POOL_H

#include "base/error.h"
#include "daemon/base/wakeup.h"
#include "daemon/guard/asset_ref.h"
#include "daemon/guard/guard_service.h"
#include "daemon/guard/pause.h"

#include <stdbool.h>
#include <stddef.h>

/* Batch of messages decoded before the worker takes the guard's lock.
 *
 * Each list has a context, and contexts grow with their lists. The first context, which shares
 * reader and scorer with the others, keeps its size. Of the others only the last used may become
 * large and is shrunk afterwards. A worker's memory is thus bounded by two large lists and many
 * small ones. For the worker thread.
 */
enum {
    EK_DECODE_BATCH_MAX = 32,
    EK_DECODE_BATCH_MESSAGE = 65536,                   /* larger messages are decoded alone */
    EK_DECODE_BATCH_LIST = 4 * EK_DECODE_BATCH_MESSAGE /* decoded size that ends a batch */
};

/* Return how many of the messages [count] may be decoded together, at least one: large ones are
 * decoded alone. */
size_t ek_decode_batch_context(struct ek_inflight *const *inflights, size_t count);
/* Decode messages [count] into `lists` by calls of `read`; each needs a context. Return the number
 * decoded: a large list ends the batch. */
size_t ek_decode_batch_read(struct ek_guard_service_list *lists,
                            struct ek_inflight *const *inflights, size_t count,
                            void (*read)(void *context, const struct ek_inflight *t,
                                         struct ek_guard_service_list *l),
                            void *context);
/* Shrink the contexts of lists [count] after use, except the first. */
void ek_decode_batch_finish(struct ek_guard_service_list *lists, size_t count);

/* Worker pool: threads that decode, update the guard, score and send, each with its own queue.
 *
 * Messages of one worker keep their order. A submitted message is either sent or returned by
 * ek_worker_pool_next_finished: if its partition was revoked, if it needs no output, or if the pool
 * has failed. After a failure every message is returned unsent. The objects in `tools`, except the
 * assets, must outlive the pool. All functions belong to the reading thread, except the three that
 * change assets.
 */
struct ek_worker_pool;
struct ek_rank_samples;
struct ek_flow_monitor;

/* Dependencies of workers. `wakeup` is signaled when a queue has space and when a message is
 * returned. */
struct ek_worker_pool_tools {
    const struct ek_config *config;
    struct ek_asset_ref *assets;
    struct ek_guard_service *guard;
    struct ek_output *output;
    struct ek_metrics *metrics;
    struct ek_log *log;
    const struct ek_pause *pause;
    const struct ek_wakeup *wakeup;
    struct ek_rank_samples *samples; /* NULL: no samples */
    struct ek_flow_monitor *flow;
};

/* Create a pool with queues and contexts; ek_worker_pool_start starts the threads. The objects in
 * `tools` must outlive it. Return 0, EK_ENOMEM, EK_EIO if no file descriptor is available, or
 * EK_ESTATE for assets that do not fit. */
int ek_worker_pool_new(struct ek_worker_pool **out, const struct ek_worker_pool_tools *tools,
                       struct ek_error *e);
/* Stop the pool if needed and free it. */
void ek_worker_pool_free(struct ek_worker_pool *c);
/* Return the number of workers. */
int ek_worker_pool_size(const struct ek_worker_pool *c);

/* Start the threads. Return 0, or EK_EIO if one does not start; free the pool then. */
int ek_worker_pool_start(struct ek_worker_pool *c, struct ek_error *e);
/* Wait until the workers have finished the submitted messages, and stop. */
void ek_worker_pool_stop(struct ek_worker_pool *c);

/* Return the space in worker w's queue; 0 from full until half empty. */
size_t ek_worker_pool_space(struct ek_worker_pool *c, int w);
/* Submit messages [count], at most ek_worker_pool_space, to worker w. Workers finish or return
 * them. */
void ek_worker_pool_submit(struct ek_worker_pool *c, int w, struct ek_inflight *const *inflights,
                           size_t count);
/* Return the number of queued messages. */
size_t ek_worker_pool_queued(const struct ek_worker_pool *c);

/* Allocate contexts of new assets for every worker. Return 0, or EK_ENOMEM with nothing staged. */
int ek_worker_pool_stage_assets(struct ek_worker_pool *c, struct ek_asset_ref *assets,
                                struct ek_error *e);
/* Switch all workers to the staged assets. Call after the guard has switched and before it
 * processes another list; lists decoded with the old assets are rejected and decoded again. */
void ek_worker_pool_commit_assets(struct ek_worker_pool *c);
/* Free the staged assets if the guard has not switched. */
void ek_worker_pool_discard_assets(struct ek_worker_pool *c);

/* Return the next message that workers did not send, which the caller must finish, or NULL if there
 * is none. */
struct ek_inflight *ek_worker_pool_next_finished(struct ek_worker_pool *c);
/* Return the code of the error that ended the pool and copy it to *e, or return 0. */
int ek_worker_pool_failure(struct ek_worker_pool *c, struct ek_error *e);

/* Bounded lock-free queue with one producer and one consumer thread (SPSC).
 *
 * Pushed items become visible with ek_spsc_queue_publish, which wakes the consumer once per batch.
 * When full, it signals `room` at half empty. Free it after both threads are done.
 */
struct ek_spsc_queue;

/* Create a queue. capacity is at least 1 and rounded up to a power of two. `room` must outlive it.
 * Return 0, EK_ENOMEM, or EK_EIO if no file descriptor is available. */
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

/* Consumer thread: remove up to `most` items, waiting for the first. Return 0 if closed and
 * empty. */
size_t ek_spsc_queue_pop(struct ek_spsc_queue *r, void **items, size_t most);

/* Any thread: return the number of published items in the queue. */
size_t ek_spsc_queue_depth(const struct ek_spsc_queue *r);

#endif
