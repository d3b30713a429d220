/* The inside of a stage, for the files that make it: stage.c (messages), stage_views.c (what is
 * shown of it), stage_reload.c (other assets).
 */
#ifndef EK_DAEMON_STAGE_STAGE_INTERNAL_H
#define EK_DAEMON_STAGE_STAGE_INTERNAL_H

#include "daemon/views/agreement_cache.h"
#include "daemon/alerts/alerts.h"
#include "daemon/stage/worker_pool.h"
#include "daemon/views/feature_stats.h"
#include "daemon/fleet/fleet.h"
#include "daemon/views/event_log.h"
#include "daemon/stage/consumer.h"
#include "daemon/kafka/producer.h"
#include "daemon/state/checkpoint_store.h"
#include "daemon/stage/transactions.h"
#include "daemon/views/rank_samples.h"
#include "daemon/stage/stage.h"
#include "daemon/views/feature_history.h"

#include <stdatomic.h>

/* The thread of ek_stage_run reads, gives messages to workers, and gets acknowledgements and what
 * comes back. It alone has the lanes and sleeps on the bell, which rings for all of these. */
struct ek_stage {
    const struct ek_config *config;
    struct ek_asset_ref *assets; /* in use: of the thread that reloads, once it runs */
    atomic_bool turned;          /* they are others since the last base */
    struct ek_log *log;
    struct ek_metrics *metrics;
    struct ek_event_log *event_log;
    struct ek_guard_service *guard;
    struct ek_feature_stats *board;
    struct ek_feature_history *tracks;
    struct ek_rank_samples *samples;
    struct ek_agreement_cache *agreement;
    struct ek_partition_offsets *lanes;
    struct ek_input *input;
    struct ek_output *output;
    struct ek_txn_coordinator *transactor; /* exactly once, when all topics are there; else NULL */
    struct ek_checkpoint_store *checkpoint_store; /* of the guard's state; NULL: none is kept */
    struct ek_worker_pool *worker_pool;
    struct ek_pause *pause;
    struct ek_fleet *fleet;   /* NULL: on its own */
    struct ek_alerts *alerts; /* NULL: nobody wants them over HTTP */
    struct ek_wakeup wakeup;
    struct ek_inflight **batch; /* [config->batch] */
    atomic_bool stopping;
    int64_t tick_due_ms, commit_due_ms, board_due_ms, limits_due_ms; /* monotonic */
    int64_t full_since_ms; /* 0: there is room for more in flight */
    bool told_full, stuck;
    bool unplaced; /* a lane may not know yet where its outputs go */
};

#endif
