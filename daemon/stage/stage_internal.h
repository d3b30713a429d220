/* Internals of a stage, shared by stage.c (messages), stage_views.c (monitoring) and reload.c
 * (asset changes). */
#ifndef EK_DAEMON_STAGE_STAGE_INTERNAL_H
#define EK_DAEMON_STAGE_STAGE_INTERNAL_H

#include "daemon/views/agreement_cache.h"
#include "daemon/views/traffic_history.h"
#include "daemon/alerts/alerts.h"
#include "daemon/stage/flow_monitor.h"
#include "daemon/stage/worker_pool.h"
#include "daemon/views/feature_stats.h"
#include "daemon/fleet/fleet.h"
#include "daemon/views/event_log.h"
#include "daemon/stage/consumer.h"
#include "daemon/kafka/plan_topic.h"
#include "daemon/kafka/producer.h"
#include "daemon/state/checkpoint_store.h"
#include "daemon/stage/transactions.h"
#include "daemon/views/plan_view.h"
#include "daemon/views/rank_samples.h"
#include "daemon/stage/stage.h"

#include <stdatomic.h>

/* The thread of ek_stage_run reads, submits to workers, and serves acknowledgments and returned
 * messages. Only it uses the partitions; it sleeps on `wakeup`. */
struct ek_stage {
    const struct ek_config *config;
    struct ek_asset_ref *assets; /* current assets; owned by the reloading thread */
    atomic_bool turned;          /* assets have changed since the last full checkpoint */
    struct ek_log *log;
    struct ek_metrics *metrics;
    struct ek_event_log *event_log;
    struct ek_guard_service *guard;
    struct ek_feature_stats *board;
    struct ek_feature_history *tracks;
    struct ek_rank_samples *samples;
    struct ek_agreement_cache *agreement;
    struct ek_traffic_history *traffic;
    struct ek_partition_offsets *partitions;
    struct ek_input *input;
    struct ek_output *output;
    struct ek_txn_coordinator *transactor; /* exactly once, after all topics exist; else NULL */
    struct ek_checkpoint_store *checkpoint_store; /* NULL: no checkpoints */
    struct ek_worker_pool *worker_pool;
    struct ek_plan_view *plan_view;
    struct ek_plan_topic *plan_topic; /* NULL: none */
    struct ek_pause *pause;
    struct ek_fleet *fleet;   /* NULL: no fleet */
    struct ek_alerts *alerts; /* NULL: no HTTP alerts */
    struct ek_flow_monitor *flow;
    struct ek_flow_watch *flow_watch; /* while the stage runs */
    atomic_bool reading;              /* the group was joined */
    int64_t missing_ms; /* of the watching thread: since when an input topic is missing, or 0 */
    int64_t probe_due_ms, answered_ms; /* of the watching thread: next request to a broker, last
                                        * answer */
    struct ek_wakeup wakeup;
    struct ek_inflight **batch; /* [config->batch_size] */
    atomic_bool stopping;
    atomic_bool state_degraded; /* no checkpoints, which the flow monitor reports first */
    int64_t tick_due_ms, commit_due_ms, board_due_ms, limits_due_ms; /* monotonic */
    int64_t full_since_ms;                                           /* 0: not full */
    bool full_reported, stuck;
    bool unplaced; /* a partition may lack `keeps_partition` */
};

/* Set the fields that messages should have with these assets. */
void ek_stage_expect_fields(struct ek_stage *s, const struct ek_assets *assets);

#endif
