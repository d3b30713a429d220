/* Stream processing stage: consume, observe, score, produce. Used by `evenkeel run` and `demo`.
 *
 * Each input message yields one output or dead letter. At least once: an offset is committed after
 * everything up to it is acknowledged. Exactly once: offsets and outputs share a transaction.
 * Messages of a partition keep their order.
 *
 * `config`, `log` and `assets` must outlive the stage. ek_stage_run blocks the calling thread until
 * the stage ends. All other functions except ek_stage_free are thread-safe; ek_stage_stop is also
 * async-signal-safe. No network traffic before ek_stage_run.
 */
#ifndef EK_DAEMON_STAGE_STAGE_H
#define EK_DAEMON_STAGE_STAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/config/config.h"
#include "daemon/kafka/kafka_health.h"
#include "daemon/guard/asset_ref.h"
#include "daemon/guard/pause.h"
#include "daemon/stage/flow_monitor.h"
#include "evenkeel.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_stage;
struct ek_log;
struct ek_metrics;
struct ek_event_log;
struct ek_feature_stats;
struct ek_rank_samples;
struct ek_feature_history;
struct ek_guard_service;
struct ek_plan_view;

/* Create guard and clients without waiting for a broker. The arguments must outlive the stage;
 * `log` may be NULL. Return 0, EK_ENOMEM, or EK_ECONFIG for an invalid client configuration. */
int ek_stage_new(struct ek_stage **out, const struct ek_config *config,
                 const struct ek_assets *assets, struct ek_log *log, struct ek_error *e);

/* Run until ek_stage_stop, then drain, commit and close within service.shutdown_timeout. Return 0
 * after a stop; messages unacknowledged at the time limit are not committed and are read again. Any
 * error is fatal. Broker outages are retried. Call once. */
int ek_stage_run(struct ek_stage *s, struct ek_error *e);

/* Request the end of ek_stage_run. Async-signal-safe; may be called repeatedly, also before the
 * run. */
void ek_stage_stop(struct ek_stage *s);

/* Parts of a stage for the HTTP API and the demo; valid as long as the stage. */
struct ek_stage_parts {
    struct ek_metrics *metrics;
    struct ek_event_log *event_log;
    struct ek_feature_stats *feature_stats;
    struct ek_feature_history *feature_history;
    struct ek_rank_samples *samples;
    struct ek_guard_service *guard;
    struct ek_fleet *fleet; /* NULL without one */
    struct ek_pause *pause;
    struct ek_flow_monitor *flow;
    struct ek_plan_view *plan;
};

/* Return the parts, which the stage owns. */
struct ek_stage_parts ek_stage_parts(struct ek_stage *s);

/* Set the kill switch (daemon/guard/pause.h) from the next messages of each worker on; also before
 * ek_stage_run. `who` and `why` are copied and may be NULL. The change is logged and sent as an
 * event and alert. Return true if it changed. */
bool ek_stage_pause(struct ek_stage *s, bool paused, const char *who, const char *why);
/* Return true if there is an output topic or a plan topic; otherwise lists are only observed. */
bool ek_stage_has_output(const struct ek_stage *s);
/* Return true if decisions survive a restart, because checkpoints are configured. */
bool ek_stage_has_durable_state(const struct ek_stage *s);

/* Return the current assets, valid until the next reload; for the thread that reloads them. */
const struct ek_assets *ek_stage_assets(const struct ek_stage *s);

/* Return true if, after ek_stage_run, the producer still blocks until a broker responds.
 * ek_stage_free would block too, so the process should exit instead. */
bool ek_stage_stuck(const struct ek_stage *s);
/* Free the stage after ek_stage_run has returned, or if it was never called. */
void ek_stage_free(struct ek_stage *s);

struct ek_stage_stats {
    bool ready;                  /* partitions are assigned */
    int partitions;              /* currently assigned */
    uint64_t consumed;           /* messages read */
    uint64_t passed, routed;     /* acknowledged outputs: unchanged, re-scored */
    uint64_t dead;               /* acknowledged dead letters */
    uint64_t in_flight;          /* unacknowledged messages */
    uint64_t queries;            /* observed by the guard */
    double lists_per_second;     /* over the last ten seconds */
    uint64_t plan_version;       /* 0 before the first plan */
    uint64_t detected, enforced; /* routes found, routes activated */
    int64_t lag;                 /* messages behind the end of the input, -1: unknown */
};
/* Set *out to the current counts. Any thread. */
void ek_stage_stats(struct ek_stage *s, struct ek_stage_stats *out);

/* Copy the worst connectivity state of all clients to *out and return its kind. A ready stage
 * reports it only after 10 s. */
enum ek_kafka_health_kind ek_stage_health(struct ek_stage *s, struct ek_kafka_health_state *out);

/* Return the reason that the stage is not ready, a static string, or NULL if it is ready. */
const char *ek_stage_reason(struct ek_stage *s);

/* Set *good to readiness and append JSON members: `ready`, `partitions`, `missing_topics`,
 * `degraded`, `reason`, and `message` if available. Return 0 or EK_ENOMEM. */
int ek_stage_readiness(struct ek_stage *s, bool *good, struct ek_buf *out);

/* Append all metrics in Prometheus text format. Return 0 or EK_ENOMEM. */
int ek_stage_metrics_text(struct ek_stage *s, struct ek_buf *out);
/* Append the status as JSON members: service, agreement with the upstream model, versions, plan,
 * partitions, observed_lists, lag. Return 0 or EK_ENOMEM. */
int ek_stage_status(struct ek_stage *s, struct ek_buf *out);

#endif
