#include "daemon/base/clock.h"
#include "daemon/stage/stage_internal.h"

#include "base/alloc.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/files/field_mapping.h"
#include "serve/agreement_watch.h"
#include "serve/assets.h"
#include "guard/event.h"
#include "guard/live_sketches.h"
#include "guard/guard_assets.h"
#include "guard/public.h"

#include <string.h>

enum {
    IDLE_MS = 100,         /* longest sleep of the loop, and delay of a stop */
    TICK_MS = 1000,        /* guard, lags */
    BOARD_MS = 100,        /* updates a few features of the live sketches */
    LIMITS_MS = 300000,    /* refresh of topic limits, which may change */
    PATIENCE_MS = 1000,    /* delay of the log line about a full stage */
    PREPARE_MS = 1000,     /* one attempt to reach brokers and topics */
    PLAN_WAIT_MS = 5000,   /* longest wait for the fleet plan at the start */
    PLACES_MS = 1000,      /* timeout of a partition count request */
    DRAIN_SLICE_MS = 100,  /* one flush during a drain */
    PROBE_EVERY_MS = 3000, /* requests of the watching thread to a broker */
    PROBE_WAIT_MS = 2000,
    DRAIN_NAP_MS = 2, /* pause while workers are busy */
    ABORT_PART = 8    /* 1/8 of the shutdown time is reserved for the last transaction */
};

static void process_finished(struct ek_stage *s)
{
    struct ek_inflight *t;
    while ((t = ek_worker_pool_next_finished(s->worker_pool)))
        if (t->no_output)
            ek_output_finish_unsent(s->output, t);
        else
            ek_output_abandon(s->output, t);
}

/* At least once only; exactly once writes checkpoints in transactions. */
static void check_checkpoint(struct ek_stage *s)
{
    if (!s->checkpoint_store || s->transactor)
        return;
    if (ek_checkpoint_store_poll(s->checkpoint_store))
        s->commit_due_ms = 0;
    if (ek_checkpoint_store_is_due(s->checkpoint_store))
        ek_checkpoint_store_save(s->checkpoint_store);
}

/* Flush, or end the transaction. An error is repeated by the stage's loop. */
static int finish_some(struct ek_stage *s, bool now)
{
    if (s->transactor)
        return ek_txn_coordinator_step(s->transactor, now, NULL);
    ek_output_flush(s->output, DRAIN_SLICE_MS);
    return EK_OK;
}

/* Write the final checkpoint for the revoked partitions. */
static void store_state(struct ek_stage *s, int64_t until_ms)
{
    int rc = EK_OK;
    ek_checkpoint_store_start_drain(s->checkpoint_store);
    while (!ek_checkpoint_store_is_drained(s->checkpoint_store) && ek_now_ms() < until_ms && !rc) {
        check_checkpoint(s);
        rc = finish_some(s, true);
        process_finished(s);
        if (s->transactor && !ek_checkpoint_store_is_drained(s->checkpoint_store))
            ek_wakeup_wait(&s->wakeup, DRAIN_NAP_MS);
        if (!s->transactor)
            ek_checkpoint_store_poll(s->checkpoint_store);
    }
    if (!ek_checkpoint_store_is_drained(s->checkpoint_store))
        ek_log_text(s->log, EK_LOG_WARN, "handover_failed",
                    "brokers did not take it in time: the next owner reads again what came since "
                    "the last one");
}

static void drain(void *context, int64_t wait_ms)
{
    struct ek_stage *s = context;
    int64_t until = ek_now_ms() + wait_ms;
    int rc = EK_OK;
    while (!ek_partition_offsets_is_drained(s->partitions) && ek_now_ms() < until && !rc) {
        rc = finish_some(s, !ek_worker_pool_queued(s->worker_pool));
        process_finished(s);
        if (!ek_partition_offsets_is_drained(s->partitions))
            ek_wakeup_wait(&s->wakeup, DRAIN_NAP_MS);
    }
    if (!ek_partition_offsets_is_drained(s->partitions))
        ek_log_write(s->log, EK_LOG_WARN, "drain_timeout", "in_flight=%zu",
                     ek_partition_offsets_in_flight(s->partitions));
    if (s->checkpoint_store)
        store_state(s, until);
}

static bool stopping(struct ek_stage *s)
{
    return atomic_load_explicit(&s->stopping, memory_order_relaxed);
}

static bool is_stopping(void *context)
{
    return stopping(context);
}

static void assigned(void *context, bool ready, int partitions)
{
    struct ek_stage *s = context;
    s->unplaced = true;
    ek_metrics_gauge(s->metrics, EK_GAUGE_READY, ready);
    ek_metrics_gauge(s->metrics, EK_GAUGE_PARTITIONS, (uint64_t)partitions);
    if (s->fleet)
        ek_fleet_set_candidate(s->fleet, ek_partition_offsets_find(
                                             s->partitions, s->config->topics.items[0], 0) != NULL);
    ek_input_update_lags(s->input); /* removes the lag of revoked partitions */
}

static void set_degraded(void *context, const char *text)
{
    struct ek_stage *s = context;
    atomic_store(&s->state_degraded, text != NULL);
    ek_flow_monitor_set(s->flow, EK_FLOW_DEGRADED, text, ek_now_ms());
}

/* Runs on the thread of the plan topic, once a second. */
static void set_plan_degraded(void *context, const char *text)
{
    struct ek_stage *s = context;
    if (!atomic_load(&s->state_degraded))
        ek_flow_monitor_set(s->flow, EK_FLOW_DEGRADED, text, ek_now_ms());
}

static int copy_plan(void *context, struct ek_plan_document *out, bool *changed)
{
    const struct ek_stage *s = context;
    return ek_plan_view_copy(s->plan_view, out, changed);
}

/* The plan is known when the partitions are assigned and their state is restored. */
static bool is_plan_writer(void *context)
{
    struct ek_stage *s = context;
    return ek_metrics_gauge_value(s->metrics, EK_GAUGE_READY) &&
           ek_guard_service_is_plan_author(s->guard);
}

/* Report messages that the log dropped before they were read. */
static void report_loss(void *context, const char *topic, int partition, int64_t from, int64_t to)
{
    struct ek_stage *s = context;
    struct ek_flow_view flow;
    ek_flow_monitor_add_loss(s->flow, topic, partition, from, to, ek_now_ms());
    ek_flow_monitor_get(s->flow, ek_now_ms(), &flow);
    const struct ek_event v = {.kind = EK_EVENT_INPUT,
                               .time_ms = ek_wall_ms(),
                               .input = {.condition = ek_flow_condition_name(EK_FLOW_MESSAGES_LOST),
                                         .instance = s->fleet ? ek_fleet_name(s->fleet) : NULL,
                                         .text = flow.condition[EK_FLOW_MESSAGES_LOST].text,
                                         .active = true,
                                         .topic = topic,
                                         .partition = partition,
                                         .from = from,
                                         .count = to - from}};
    ek_log_write(s->log, EK_LOG_ERROR, "messages_lost",
                 "topic=%s partition=%d from=%lld to=%lld "
                 "count=%lld",
                 topic, partition, (long long)from, (long long)to - 1, (long long)(to - from));
    ek_guard_service_add_event(s->guard, &v);
}

struct reset {
    struct ek_partition *assignment;
    int64_t offset;
};

static int set_seen(void *context, struct ek_guard **guard, struct ek_error *e)
{
    const struct reset *r = context;
    (void)guard, (void)e;
    r->assignment->seen = r->offset;
    r->assignment->recreated = false;
    return EK_OK;
}

/* The guard counts the lists of a topic that was created again from its start. */
static void reset_partition(void *context, struct ek_partition *assignment, int64_t offset)
{
    struct ek_stage *s = context;
    ek_guard_service_with_guard(s->guard, set_seen, &(struct reset){assignment, offset}, NULL);
}

static int enomem(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int make_guard(struct ek_stage *s, const struct ek_assets *assets, struct ek_error *e)
{
    int rc = ek_guard_service_new(&s->guard, assets, s->event_log, s->metrics, s->log, e);
    if (rc)
        return rc;
    struct ek_guard *guard = ek_guard_service_lock(s->guard);
    ek_agreement_cache_set(s->agreement, ek_guard_agreement(guard));
    s->board = ek_feature_stats_new(assets->manifest, assets->rules, ek_guard_traffic(guard));
    ek_guard_service_unlock(s->guard);
    ek_guard_service_set_pause(s->guard, s->pause);
    ek_guard_service_set_plan_view(s->guard, s->plan_view);
    s->tracks = ek_feature_history_new();
    s->samples = ek_rank_samples_new();
    return s->board && s->tracks && s->samples ? EK_OK : enomem(e);
}

static int make_fleet(struct ek_stage *s, struct ek_error *e)
{
    const struct ek_fleet_tools tools = {.config = s->config,
                                         .assets = s->assets,
                                         .guard = s->guard,
                                         .metrics = s->metrics,
                                         .log = s->log};
    int rc = s->config->fleet_topic ? ek_fleet_new(&s->fleet, &tools, e) : EK_OK;
    if (s->fleet)
        ek_alerts_set_instance(s->alerts, ek_fleet_name(s->fleet));
    return rc;
}

static int make_plan_topic(struct ek_stage *s, struct ek_error *e)
{
    const struct ek_plan_topic_tools tools = {.config = s->config,
                                              .metrics = s->metrics,
                                              .log = s->log,
                                              .context = s,
                                              .copy = copy_plan,
                                              .is_writer = is_plan_writer,
                                              .degraded = set_plan_degraded};
    return s->config->plan_topic ? ek_plan_topic_new(&s->plan_topic, &tools, e) : EK_OK;
}

static int make_worker_pool(struct ek_stage *s, struct ek_error *e)
{
    const struct ek_worker_pool_tools tools = {.config = s->config,
                                               .assets = s->assets,
                                               .guard = s->guard,
                                               .output = s->output,
                                               .metrics = s->metrics,
                                               .log = s->log,
                                               .pause = s->pause,
                                               .wakeup = &s->wakeup,
                                               .samples = s->samples,
                                               .flow = s->flow};
    ek_guard_service_set_outputs(s->guard, s->output, s->alerts);
    return ek_worker_pool_new(&s->worker_pool, &tools, e);
}

static int make_checkpoint_store(struct ek_stage *s, struct ek_error *e)
{
    if (!s->config->state_topic)
        return EK_OK;
    const struct ek_checkpoint_store_tools tools = {.config = s->config,
                                                    .partitions = s->partitions,
                                                    .guard = s->guard,
                                                    .output = s->output,
                                                    .metrics = s->metrics,
                                                    .event_log = s->event_log,
                                                    .board = s->board,
                                                    .agreement = s->agreement,
                                                    .log = s->log,
                                                    .context = s,
                                                    .stopping = is_stopping,
                                                    .degraded = set_degraded};
    return ek_checkpoint_store_new(&s->checkpoint_store, &tools, e);
}

static int make_input(struct ek_stage *s, struct ek_error *e)
{
    const struct ek_input_hooks hooks = {.context = s,
                                         .drain = drain,
                                         .assigned = assigned,
                                         .stopping = is_stopping,
                                         .lost = report_loss,
                                         .reset = reset_partition};
    const struct ek_input_tools tools = {.config = s->config,
                                         .partitions = s->partitions,
                                         .checkpoint_store = s->checkpoint_store,
                                         .metrics = s->metrics,
                                         .log = s->log,
                                         .wakeup = &s->wakeup,
                                         .readers = ek_worker_pool_size(s->worker_pool),
                                         .transactional_id = ek_output_transactional_id(s->output)};
    return ek_input_new(&s->input, &tools, &hooks, e);
}

void ek_stage_expect_fields(struct ek_stage *s, const struct ek_assets *assets)
{
    const struct ek_manifest *m = assets->manifest;
    ek_flow_monitor_expect(
        s->flow, &(struct ek_flow_fields){.rules = assets->rules,
                                          .time = ek_time_expected(s->config),
                                          .scores = ek_score_check_expected(s->config),
                                          .query_features = m->query_count - m->derived_count});
}

static int make_parts(struct ek_stage *s, const struct ek_assets *assets, struct ek_error *e)
{
    s->metrics = ek_metrics_new();
    s->event_log = ek_event_log_new((size_t)s->config->event_history);
    s->partitions = ek_partition_offsets_new();
    s->agreement = ek_agreement_cache_new();
    s->traffic = ek_traffic_history_new();
    s->plan_view = ek_plan_view_new();
    s->pause = ek_pause_new();
    s->flow = ek_flow_monitor_new(s->config->silence_ms, s->config->output_topic != NULL,
                                  s->config->dead_letter_topic, ek_now_ms());
    s->assets = ek_asset_ref_borrow(assets);
    s->batch = ek_calloc((size_t)s->config->batch_size, sizeof *s->batch);
    if (!s->metrics || !s->event_log || !s->partitions || !s->agreement || !s->pause ||
        !s->assets || !s->batch || !s->flow || !s->plan_view || !s->traffic)
        return enomem(e);
    ek_stage_expect_fields(s, assets);
    int rc = ek_wakeup_init(&s->wakeup, e);
    if (!rc)
        rc = make_guard(s, assets, e);
    if (!rc)
        rc = ek_output_new(&s->output, s->config, s->partitions, s->metrics, s->log, &s->wakeup, e);
    if (!rc)
        rc = ek_alerts_new(&s->alerts, s->config, s->log, e);
    if (!rc)
        rc = make_fleet(s, e);
    if (!rc)
        rc = make_plan_topic(s, e);
    if (!rc)
        rc = make_worker_pool(s, e);
    if (!rc)
        rc = make_checkpoint_store(s, e);
    return rc ? rc : make_input(s, e);
}

int ek_stage_new(struct ek_stage **out, const struct ek_config *config,
                 const struct ek_assets *assets, struct ek_log *log, struct ek_error *e)
{
    int rc = ek_config_finish(config, NULL, e);
    if (rc)
        return rc;
    struct ek_stage *s = ek_calloc(1, sizeof *s);
    if (!s)
        return enomem(e);
    s->config = config;
    s->log = log;
    s->wakeup.fd = -1;
    atomic_init(&s->stopping, false);
    atomic_init(&s->turned, false);
    atomic_init(&s->state_degraded, false);
    rc = make_parts(s, assets, e);
    if (rc)
        ek_stage_free(s);
    else
        *out = s;
    return rc;
}

/* Order matters: workers end before the objects they use, and consumed messages are destroyed
 * before their consumer. */
void ek_stage_free(struct ek_stage *s)
{
    if (!s)
        return;
    ek_txn_coordinator_free(s->transactor); /* frees messages held by the client */
    ek_worker_pool_free(s->worker_pool);
    ek_output_free(s->output);
    ek_input_free(s->input);
    ek_checkpoint_store_free(s->checkpoint_store);
    ek_fleet_free(s->fleet);
    ek_plan_topic_free(s->plan_topic);
    ek_partition_offsets_free(s->partitions);
    ek_agreement_cache_free(s->agreement);
    ek_traffic_history_free(s->traffic);
    ek_feature_stats_free(s->board);
    ek_feature_history_free(s->tracks);
    ek_rank_samples_free(s->samples);
    ek_guard_service_free(s->guard);
    ek_alerts_free(s->alerts);
    ek_asset_ref_release(s->assets);
    ek_plan_view_free(s->plan_view);
    ek_pause_free(s->pause);
    ek_flow_monitor_free(s->flow);
    ek_event_log_free(s->event_log);
    ek_metrics_free(s->metrics);
    ek_wakeup_close(&s->wakeup);
    ek_free(s->batch);
    ek_free(s);
}

void ek_stage_stop(struct ek_stage *s)
{
    atomic_store_explicit(&s->stopping, true, memory_order_relaxed);
}

bool ek_stage_pause(struct ek_stage *s, bool paused, const char *actor, const char *reason)
{
    return ek_guard_service_pause(s->guard, paused, actor, reason);
}

bool ek_stage_has_output(const struct ek_stage *s)
{
    return s->config->output_topic || s->config->plan_topic;
}

bool ek_stage_has_durable_state(const struct ek_stage *s)
{
    return s->checkpoint_store != NULL;
}

static void add_progress(struct ek_stage *s, int64_t now_ms)
{
    static const enum ek_counter handled[] = {EK_COUNT_PASSED, EK_COUNT_ROUTED, EK_COUNT_DEAD,
                                              EK_COUNT_STATE_ONLY};
    struct ek_flow_progress p = {.consumed = ek_metrics_counter(s->metrics, EK_COUNT_CONSUMED),
                                 .in_flight = ek_partition_offsets_in_flight(s->partitions),
                                 .lag = ek_metrics_lag_sum(s->metrics),
                                 .partitions =
                                     (int)ek_metrics_gauge_value(s->metrics, EK_GAUGE_PARTITIONS)};
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        p.handled += ek_metrics_counter(s->metrics, handled[i]);
    ek_flow_monitor_add_progress(s->flow, &p, now_ms);
}

/* Ask brokers at intervals: a frozen broker closes no connection. Return how long none has
 * answered. */
static int64_t silence_of_brokers(struct ek_stage *s, int64_t now_ms)
{
    if (!atomic_load(&s->reading))
        return 0;
    if (now_ms < s->probe_due_ms)
        return now_ms - s->answered_ms;
    s->probe_due_ms = now_ms + PROBE_EVERY_MS;
    if (!s->answered_ms || ek_input_answers(s->input, PROBE_WAIT_MS))
        s->answered_ms = ek_now_ms();
    return ek_now_ms() - s->answered_ms;
}

/* Report input topics that have not existed for EK_FLOW_STALL_MS. */
static void look_for_topics(struct ek_stage *s, int64_t now_ms)
{
    const struct ek_text_list *topics = &s->config->topics;
    char text[EK_FLOW_TEXT_BYTES] = "", more[40] = "";
    size_t missing = 0, first = 0;
    for (size_t i = topics->count; i-- > 0;) {
        if (!ek_input_topic_missing(s->input, i))
            continue;
        missing++;
        first = i;
    }
    s->missing_ms = !missing ? 0 : s->missing_ms ? s->missing_ms : now_ms;
    if (missing && now_ms - s->missing_ms >= EK_FLOW_STALL_MS) {
        if (missing > 1)
            snprintf(more, sizeof more, " and %zu more", missing - 1);
        snprintf(text, sizeof text, "topic '%.250s'%s of 'input.topics' does not exist",
                 topics->items[first], more);
    }
    ek_flow_monitor_set(s->flow, EK_FLOW_TOPIC_MISSING, *text ? text : NULL, now_ms);
}

/* Set the conditions that the flow monitor cannot see. Runs on the watching thread. */
static void look_around(void *context, int64_t now_ms)
{
    struct ek_stage *s = context;
    struct ek_kafka_health_state health;
    char text[EK_KAFKA_HEALTH_TEXT] = "";
    int64_t silent = silence_of_brokers(s, now_ms);
    if (ek_stage_health(s, &health) && now_ms - health.since_ms >= EK_FLOW_STALL_MS)
        snprintf(text, sizeof text, "%s", health.text);
    else if (silent >= EK_FLOW_STALL_MS)
        snprintf(text, sizeof text, "no broker has answered for %lld s", (long long)silent / 1000);
    ek_flow_monitor_set(s->flow, EK_FLOW_UNREACHABLE, *text ? text : NULL, now_ms);
    look_for_topics(s, now_ms);
}

static int start_watch(struct ek_stage *s, struct ek_error *e)
{
    const struct ek_flow_watch_tools tools = {.flow = s->flow,
                                              .guard = s->guard,
                                              .alerts = s->alerts,
                                              .log = s->log,
                                              .instance = s->fleet ? ek_fleet_name(s->fleet) : NULL,
                                              .context = s,
                                              .look = look_around};
    return ek_flow_watch_start(&s->flow_watch, &tools, e);
}

/* Return the event time of the last list; -1: none. */
static int64_t event_time(const struct ek_guard *guard)
{
    struct ek_trace_point p;
    return ek_detector_get_point(ek_guard_detector(guard), 0, 0, &p) ? p.time_ms : -1;
}

static void add_traffic(struct ek_stage *s, const struct ek_guard *guard, int64_t now_ms)
{
    const struct ek_traffic_sample sample = {.lists = ek_guard_list_count(guard),
                                             .messages =
                                                 ek_metrics_counter(s->metrics, EK_COUNT_CONSUMED),
                                             .event_ms = event_time(guard),
                                             .now_ms = now_ms,
                                             .wall_ms = ek_wall_ms()};
    ek_traffic_history_add(s->traffic, &sample);
}

/* Run periodic work. */
static int advance_clock(struct ek_stage *s, struct ek_error *e)
{
    int64_t now = ek_now_ms();
    if (s->checkpoint_store && atomic_exchange(&s->turned, false))
        ek_checkpoint_store_force_full(s->checkpoint_store);
    check_checkpoint(s);
    ek_metrics_gauge(s->metrics, EK_GAUGE_IN_FLIGHT, ek_partition_offsets_in_flight(s->partitions));
    ek_metrics_gauge(s->metrics, EK_GAUGE_QUEUED, ek_worker_pool_queued(s->worker_pool));
    if (now >= s->commit_due_ms && !s->transactor) {
        s->commit_due_ms = now + ek_config_commit_interval_ms(s->config);
        ek_input_commit(s->input);
    }
    if (now >= s->board_due_ms) {
        s->board_due_ms = now + BOARD_MS;
        int64_t time_ms = event_time(ek_guard_service_lock(s->guard));
        int rc = ek_feature_stats_update(s->board, time_ms);
        ek_guard_service_unlock(s->guard);
        if (rc)
            ek_log_text(s->log, EK_LOG_ERROR, "feature_stats_unavailable", "out of memory");
    }
    if (now < s->tick_due_ms)
        return EK_OK;
    s->tick_due_ms = now + TICK_MS;
    ek_log_flush_suppressed(s->log, now);
    if (s->limits_due_ms && now >= s->limits_due_ms)
        ek_output_request_limits(s->output);
    if (now >= s->limits_due_ms)
        s->limits_due_ms = now + LIMITS_MS;
    ek_input_update_lags(s->input);
    add_progress(s, now);
    ek_input_poll_topics(s->input);
    ek_output_probe(s->output);
    struct ek_guard *guard = ek_guard_service_lock(s->guard);
    ek_feature_history_step(s->tracks, ek_guard_detector(guard),
                            ek_guard_assets(guard)->profile->features);
    add_traffic(s, guard, now);
    ek_guard_service_unlock(s->guard);
    return ek_guard_service_advance(s->guard, s->agreement, e);
}

static bool full(const struct ek_stage *s, int64_t part)
{
    return ek_partition_offsets_in_flight(s->partitions) * (size_t)part >=
               (size_t)s->config->in_flight_messages ||
           ek_partition_offsets_bytes(s->partitions) * (size_t)part >=
               (size_t)s->config->in_flight_bytes;
}

/* Log when the stage is full for a while and when it recovers. Unread messages stay in the
 * consumer, which stops fetching. */
static void watch_fullness(struct ek_stage *s)
{
    bool now_full = full(s, s->full_since_ms ? 2 : 1);
    if (!now_full && !s->full_since_ms)
        return;
    int64_t now = ek_now_ms();
    if (now_full && !s->full_since_ms)
        s->full_since_ms = now;
    if (now_full && !s->full_reported && now - s->full_since_ms >= PATIENCE_MS) {
        s->full_reported = true;
        ek_log_write(s->log, EK_LOG_WARN, "input_paused", "in_flight=%zu",
                     ek_partition_offsets_in_flight(s->partitions));
    }
    if (now_full)
        return;
    if (s->full_reported)
        ek_log_write(s->log, EK_LOG_INFO, "input_resumed", "in_flight=%zu",
                     ek_partition_offsets_in_flight(s->partitions));
    s->full_since_ms = 0;
    s->full_reported = false;
}

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Return the number of further messages allowed in flight. */
static size_t free_places(const struct ek_stage *s)
{
    size_t most = (size_t)s->config->in_flight_messages,
           in_flight = ek_partition_offsets_in_flight(s->partitions);
    size_t looked_for = s->transactor ? ek_txn_coordinator_inflight_max(s->transactor) : 0;
    if (looked_for)
        most = less(most, looked_for);
    return in_flight < most ? most - in_flight : 0;
}

/* Return the number of messages to read for worker w: limited by its queue and the in-flight
 * limits. */
static size_t worker_space(struct ek_stage *s, int w)
{
    if (full(s, 1))
        return 0;
    size_t most = less(ek_worker_pool_space(s->worker_pool, w), (size_t)s->config->batch_size);
    return less(most, free_places(s));
}

/* Find out, once per topic and assignment, whether outputs keep their partition. While unknown
 * return false and read nothing: a guess could split one key over two partitions. */
static bool placed(struct ek_stage *s)
{
    if (!s->unplaced)
        return true;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(s->partitions, assignment));) {
        if (!assignment->open || assignment->keeps_partition >= 0)
            continue;
        int keeps = ek_output_has_same_partitions(s->output, assignment->topic, PLACES_MS);
        if (keeps < 0)
            return false;
        for (struct ek_partition *each = NULL;
             (each = ek_partition_offsets_each(s->partitions, each));)
            if (!strcmp(each->topic, assignment->topic))
                each->keeps_partition = keeps;
    }
    s->unplaced = false;
    return true;
}

/* Read for worker w; sets *more if messages arrived. */
static int read_for(struct ek_stage *s, int w, bool *more, struct ek_error *e)
{
    size_t most = worker_space(s, w), count = 0;
    if (!most)
        return EK_OK;
    int rc = ek_input_read(s->input, w, s->batch, most, &count, e);
    for (size_t i = 0; i < count; i++)
        s->batch[i]->partition =
            s->batch[i]->assignment->keeps_partition ? s->batch[i]->assignment->partition : -1;
    ek_worker_pool_submit(s->worker_pool, w, s->batch, count);
    *more |= count > 0;
    return rc;
}

static int step(struct ek_stage *s, struct ek_error *e)
{
    bool more = false;
    int rc = ek_input_serve(s->input, e);
    bool may_read =
        !rc && placed(s) && (!s->transactor || ek_txn_coordinator_may_read(s->transactor));
    for (int w = 0; !rc && may_read && w < ek_worker_pool_size(s->worker_pool); w++)
        rc = read_for(s, w, &more, e);
    if (!rc)
        rc = ek_output_poll(s->output, 0, e);
    process_finished(s);
    if (!rc && s->transactor)
        rc = ek_txn_coordinator_step(s->transactor, false, e);
    if (!rc)
        rc = ek_worker_pool_failure(s->worker_pool, e);
    watch_fullness(s);
    if (!rc)
        rc = advance_clock(s, e);
    if (!rc && !more)
        ek_wakeup_wait(&s->wakeup, s->transactor
                                       ? ek_txn_coordinator_wait_ms(s->transactor, IDLE_MS)
                                       : IDLE_MS);
    return rc;
}

/* Pause before the next topic check. */
static int wait_a_while(struct ek_stage *s, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && !stopping(s) && i < PREPARE_MS / IDLE_MS; i++)
        rc = ek_output_poll(s->output, IDLE_MS, e);
    return rc;
}

/* Join the fleet after all topics exist. Wait a limited time for its plan, so that the first list
 * is scored under it. */
static int join_fleet(struct ek_stage *s, struct ek_error *e)
{
    bool ready = false;
    int rc = EK_OK;
    while (!rc && !ready && !stopping(s)) {
        rc = ek_fleet_prepare(s->fleet, PREPARE_MS, &ready, e);
        if (!rc && !ready)
            rc = wait_a_while(s, e);
    }
    if (!rc && ready)
        rc = ek_fleet_start(s->fleet, e);
    int64_t until = ek_now_ms() + PLAN_WAIT_MS;
    while (!rc && ready && !stopping(s) && !ek_fleet_has_read_plan(s->fleet) && ek_now_ms() < until)
        rc = ek_output_poll(s->output, IDLE_MS, e);
    return rc;
}

static int wait_for_topics(struct ek_stage *s, struct ek_error *e)
{
    bool ready = false;
    int rc = EK_OK;
    while (!rc && !ready && !stopping(s)) {
        rc = ek_output_prepare(s->output, PREPARE_MS, &ready, e);
        if (!rc && !ready)
            rc = wait_a_while(s, e);
    }
    return rc;
}

static int make_transactor(struct ek_stage *s, struct ek_error *e)
{
    const struct ek_txn_coordinator_tools tools = {.config = s->config,
                                                   .partitions = s->partitions,
                                                   .input = s->input,
                                                   .output = s->output,
                                                   .checkpoint_store = s->checkpoint_store,
                                                   .metrics = s->metrics,
                                                   .log = s->log,
                                                   .wakeup = &s->wakeup};
    return ek_txn_coordinator_new(&s->transactor, &tools, e);
}

/* Run the main loop. */
static int read_on(struct ek_stage *s, struct ek_error *e)
{
    int rc = wait_for_topics(s, e);
    if (!rc && !stopping(s) && s->config->delivery == EK_EXACTLY_ONCE)
        rc = make_transactor(s, e);
    if (!rc && s->fleet)
        rc = join_fleet(s, e);
    if (!rc && !stopping(s))
        rc = ek_input_subscribe(s->input, e);
    atomic_store(&s->reading, true);
    while (!rc && !stopping(s))
        rc = step(s, e);
    return rc;
}

/* Stay within service.shutdown_timeout. Reserve part of it for aborting the open transaction. */
static void close_down(struct ek_stage *s)
{
    int64_t until = ek_now_ms() + s->config->shutdown_timeout_ms;
    int64_t last = s->config->shutdown_timeout_ms / ABORT_PART;
    ek_input_close(s->input, s->config->shutdown_timeout_ms - last);
    ek_worker_pool_stop(s->worker_pool); /* returns unfinished messages */
    process_finished(s);
    int64_t left = until - ek_now_ms();
    if (s->transactor && !ek_txn_coordinator_stop(s->transactor, left > last ? left : last)) {
        s->stuck = true;
        ek_log_text(s->log, EK_LOG_WARN, "abort_timeout",
                    "brokers will abort the open transaction by its time-out");
    }
}

int ek_stage_run(struct ek_stage *s, struct ek_error *e)
{
    ek_log_write(s->log, EK_LOG_INFO, "service_started", "service=%s brokers=%s group=%s",
                 s->config->service_name, s->config->brokers, s->config->group);
    if (!s->checkpoint_store)
        ek_log_text(s->log, EK_LOG_INFO, "state_disabled",
                    "without 'state.topic' a restart loses the state");
    int rc = ek_alerts_start(s->alerts, e);
    if (!rc)
        rc = ek_worker_pool_start(s->worker_pool, e);
    if (!rc)
        rc = start_watch(s, e);
    if (!rc && s->plan_topic)
        rc = ek_plan_topic_start(s->plan_topic, e);
    if (!rc)
        rc = read_on(s, e);
    ek_plan_topic_stop(s->plan_topic);
    ek_flow_watch_stop(s->flow_watch);
    ek_metrics_gauge(s->metrics, EK_GAUGE_READY, 0);
    ek_log_write(s->log, EK_LOG_INFO, "service_stopping", "in_flight=%zu",
                 ek_partition_offsets_in_flight(s->partitions));
    if (s->fleet)
        ek_fleet_stop(s->fleet);
    ek_alerts_finish(s->alerts); /* delivers alerts while the stage closes */
    close_down(s);
    ek_alerts_stop(s->alerts);
    ek_metrics_gauge(s->metrics, EK_GAUGE_IN_FLIGHT, ek_partition_offsets_in_flight(s->partitions));
    const struct ek_guard *guard = ek_guard_service_lock(s->guard);
    ek_log_write(s->log, rc ? EK_LOG_ERROR : EK_LOG_INFO, "service_stopped", "lists=%llu",
                 (unsigned long long)ek_guard_list_count(guard));
    ek_guard_service_unlock(s->guard);
    return rc;
}

bool ek_stage_stuck(const struct ek_stage *s)
{
    return s->stuck;
}
