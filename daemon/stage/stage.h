/* The stage: consume, observe, score, produce. What `evenkeel run` runs and `demo` shows.
 *
 * Every message of the input comes out once as an output or a dead letter. Over restarts that is at
 * least once, an offset being committed only when everything up to it was acknowledged by the
 * broker; or exactly once, offsets and outputs being of one transaction.
 * Messages of one partition leave in the order they came.
 *
 * Owner: the caller. `config`, `log`, and the assets that it is made with must outlive the stage.
 * Threads: ek_stage_run belongs to the thread that calls it and blocks until the stage ends. All
 * other functions but _free may be called from any thread while it runs; ek_stage_stop from a
 * signal handler too. How many threads a stage uses inside is its own affair.
 * Nothing is sent or received before ek_stage_run.
 */
#ifndef EK_DAEMON_STAGE_STAGE_H
#define EK_DAEMON_STAGE_STAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/config/config.h"
#include "daemon/kafka/kafka_health.h"
#include "daemon/guard/asset_ref.h"
#include "daemon/guard/pause.h"
#include "evenkeel.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_event;
struct ek_stage;
struct ek_log;
struct ek_metrics;
struct ek_event_log;
struct ek_feature_stats;
struct ek_rank_samples;
struct ek_feature_history;
struct ek_guard_service;

/* Makes guard and clients; does not wait for a broker. `log` may be NULL (silence).
 * EK_ECONFIG for a configuration the clients refuse, EK_ENOMEM. */
int ek_stage_new(struct ek_stage **out, const struct ek_config *config,
                 const struct ek_assets *assets, struct ek_log *log, struct ek_error *e);

/* Runs until ek_stage_stop, then drains what is in flight, commits and closes, within
 * service.shutdown_timeout. 0 after a clean stop (also when the limit cut it short: what was not
 * acknowledged is not committed and comes again). Fails when the stage cannot go on: the error is
 * fatal and says why. A broker that is away is waited for. Call once. */
int ek_stage_run(struct ek_stage *s, struct ek_error *e);

/* Asks ek_stage_run to end. Async-signal-safe, may be called any number of times and before it. */
void ek_stage_stop(struct ek_stage *s);

/* Its guard; as long as the stage. */
/* NULL: on its own. */
struct ek_fleet *ek_stage_fleet(struct ek_stage *s);
struct ek_guard_service *ek_stage_guard(struct ek_stage *s);

/* The kill switch (daemon/guard/pause.h), from the next messages that a worker takes; also before
 * ek_stage_run. Told in log, events and alerts. False: it was so already. */
bool ek_stage_pause(struct ek_stage *s, bool paused, const char *who, const char *why);
struct ek_pause *ek_stage_paused(struct ek_stage *s);
/* Whether what is decided here outlives the process: it keeps its state. */
bool ek_stage_has_durable_state(const struct ek_stage *s);

/* Other assets from the next lists on, of the same manifest: what was read with the old ones is
 * read again, what was taken is scored with them, and nothing is lost or doubled. *fit: what goes
 * on, as of ek_guard_set_assets; a decision of `who` (NULL: not said). On failure nothing has
 * changed. One thread at a time; also before ek_stage_run. */
int ek_stage_reload(struct ek_stage *s, struct ek_asset_ref *assets, const char *who,
                    enum ek_restore_result *fit, struct ek_error *e);
/* Those in use, for that thread. */
const struct ek_assets *ek_stage_assets(const struct ek_stage *s);
/* An event that is none of the guard's (docs/format/events.md): told like those. */
void ek_stage_add_event(struct ek_stage *s, const struct ek_event *v);

/* After ek_stage_run has returned: whether the producer waits for a broker in a way that nothing
 * else ends. Then ek_stage_free waits, too; a process that is to end had better leave at once. */
bool ek_stage_stuck(const struct ek_stage *s);
/* After ek_stage_run has returned, or was never called. */
void ek_stage_free(struct ek_stage *s);

struct ek_stage_stats {
    bool ready;                  /* partitions are assigned */
    int partitions;              /* assigned now */
    uint64_t consumed;           /* messages taken from the input */
    uint64_t passed, routed;     /* acknowledged outputs: as they came, with other scores */
    uint64_t dead;               /* acknowledged dead letters */
    uint64_t in_flight;          /* produced, not yet acknowledged */
    uint64_t queries;            /* observed by the guard */
    uint64_t plan_version;       /* in force; 0 before the first plan */
    uint64_t detected, enforced; /* routes found, routes put in force */
    int64_t lag;                 /* messages behind the end of the input, -1 while unknown */
};
void ek_stage_stats(struct ek_stage *s, struct ek_stage_stats *out);

/* What keeps the stage from its brokers; while it is at work only after 10 seconds. Returns the
 * kind.
 */
enum ek_kafka_health_kind ek_stage_health(struct ek_stage *s, struct ek_kafka_health_state *out);

/* Why the stage is not ready, in a word; NULL: partitions, input topics and brokers are there. */
const char *ek_stage_reason(struct ek_stage *s);

/* The same, and appends members of a JSON object that tell it: `ready`, `partitions`,
 * `missing_topics`, the `reason`, and a `message` where there is more to say. */
int ek_stage_readiness(struct ek_stage *s, bool *good, struct ek_buf *out);

/* Appends the events (one JSON object per line) that came after number *after, oldest first, and
 * moves *after on. Start with 0. Events older than the newest `http.event_history` are gone. */
int ek_stage_events(struct ek_stage *s, uint64_t *after, struct ek_buf *out);

/* What HTTP shows; live as long as the stage. */
struct ek_metrics *ek_stage_metrics(struct ek_stage *s);
struct ek_event_log *ek_stage_event_log(struct ek_stage *s);
struct ek_feature_stats *ek_stage_feature_stats(struct ek_stage *s);
struct ek_feature_history *ek_stage_feature_history(struct ek_stage *s);
struct ek_rank_samples *ek_stage_samples(struct ek_stage *s);
/* Appends what was tried of each route, a JSON object (docs/operations.md). */
int ek_stage_ranks(struct ek_stage *s, struct ek_buf *out);
/* Everything for /metrics. */
int ek_stage_metrics_text(struct ek_stage *s, struct ek_buf *out);
/* Status as a JSON object: service, model beside upstream, versions, plan, partitions,
 * observed_lists, lag. */
int ek_stage_status(struct ek_stage *s, struct ek_buf *out);

#endif
