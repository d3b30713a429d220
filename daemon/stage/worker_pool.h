/* Messages that one of several workers reads before it needs the guard, which moves from one
 * processor to another with each that does.
 *
 * Each has a context, and contexts grow with their lists. The first one, of which the others share
 * reader and scorer, stays as large as it became; of the others only the last that is used may be
 * large, and gives back what it took. So a worker's memory is that of two large lists and many
 * small ones, whatever comes, and a large list makes the next batch no shorter.
 * Owner: the worker. One thread.
 */
#ifndef EK_DAEMON_STAGE_WORKER_POOL_H
#define EK_DAEMON_STAGE_WORKER_POOL_H

#include "daemon/base/wakeup.h"
#include "daemon/guard/asset_ref.h"
#include "daemon/guard/guard_service.h"
#include "daemon/guard/pause.h"

enum {
    EK_DECODE_BATCH_MAX = 32,
    EK_DECODE_BATCH_MESSAGE = 65536, /* bytes of a message that is read alone */
    EK_DECODE_BATCH_LIST =
        4 * EK_DECODE_BATCH_MESSAGE /* that few bytes became: none is read behind it */
};

/* How many of the messages can be read together, which have a context each: at least one. */
size_t ek_decode_batch_context(struct ek_inflight *const *inflights, size_t count);
/* Reads them, each into the list of its place, which has a context. Returns how many it read: what
 * is behind a large list waits. */
size_t ek_decode_batch_read(struct ek_guard_service_list *lists,
                            struct ek_inflight *const *inflights, size_t count,
                            void (*read)(void *context, const struct ek_inflight *t,
                                         struct ek_guard_service_list *l),
                            void *context);
/* When their lists are done with. */
void ek_decode_batch_finish(struct ek_guard_service_list *lists, size_t count);

/* The workers: threads that decode, hand to the guard, score and send, each what is in its ring.
 *
 * Messages given to one worker leave in the order they were given. A ticket that was given is
 * either with the producer afterwards, or comes back through ek_worker_pool_next_finished: because
 * its partition was taken away, because sending failed for good, because the crew has failed, or
 * because nothing was to be sent for it. After a failure nothing is sent any more and every ticket
 * comes back. Owner: the caller; what it is made with must outlive it, but for the assets, of which
 * each worker holds those it uses. Threads: all functions belong to the one that reads, but for the
 * three that change the assets, which belong to another one.
 */
struct ek_worker_pool;
struct ek_rank_samples;

/* What workers need. `bell` rings when a ring has room again and when a ticket comes back. */
struct ek_worker_pool_tools {
    const struct ek_config *config;
    struct ek_asset_ref *assets;
    struct ek_guard_service *guard;
    struct ek_output *output;
    struct ek_metrics *metrics;
    struct ek_log *log;
    const struct ek_pause *pause;
    const struct ek_wakeup *wakeup;
    struct ek_rank_samples *samples; /* NULL: none are kept */
};

int ek_worker_pool_new(struct ek_worker_pool **out, const struct ek_worker_pool_tools *tools,
                       struct ek_error *e);
/* Stops it first, if need be. */
void ek_worker_pool_free(struct ek_worker_pool *c);
int ek_worker_pool_size(const struct ek_worker_pool *c);

int ek_worker_pool_start(struct ek_worker_pool *c, struct ek_error *e);
/* Waits until the workers have done what they were given. */
void ek_worker_pool_stop(struct ek_worker_pool *c);

/* How many messages worker w can be given now; 0 from when its ring is full until half is free. */
size_t ek_worker_pool_space(struct ek_worker_pool *c, int w);
/* Gives messages to worker w; at most as many as there was room for. */
void ek_worker_pool_submit(struct ek_worker_pool *c, int w, struct ek_inflight *const *inflights,
                           size_t count);
/* Messages that wait in rings. */
size_t ek_worker_pool_queued(const struct ek_worker_pool *c);

/* Makes contexts of these assets for every worker, beside those in use. EK_ENOMEM: there are none.
 */
int ek_worker_pool_stage_assets(struct ek_worker_pool *c, struct ek_asset_ref *assets,
                                struct ek_error *e);
/* The guard has taken the assets that were laid, and no list since: whoever gives it a list of
 * others is refused, takes those contexts and reads it again. */
void ek_worker_pool_commit_assets(struct ek_worker_pool *c);
/* It has not: what was laid goes. */
void ek_worker_pool_discard_assets(struct ek_worker_pool *c);

/* The next ticket that came back, NULL for none. */
struct ek_inflight *ek_worker_pool_next_finished(struct ek_worker_pool *c);
/* Why the crew cannot go on; 0 while it can. */
int ek_worker_pool_failure(struct ek_worker_pool *c, struct ek_error *e);

/* Bytes of one worker at most, while other assets are laid for it. */

#endif
