#include "daemon/stage.h"

#include "base/alloc.h"
#include "daemon/agreement_board.h"
#include "daemon/cli.h"
#include "daemon/feature_board.h"
#include "daemon/journal.h"
#include "daemon/kafka.h"
#include "daemon/kafka_input.h"
#include "daemon/kafka_output.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "guard/assets.h"
#include "guard/beyond.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    IDLE_MS = 100,        /* longest sleep of the loop: how late a stop may be seen */
    TICK_MS = 1000,       /* guard, lags */
    BOARD_MS = 100,       /* a few features of the live sketches */
    PATIENCE_MS = 1000,   /* full for longer than this: pause the input and keep polling */
    PREPARE_MS = 1000,    /* one look for brokers and topics */
    DRAIN_SLICE_MS = 100, /* between looks at what is still in flight */
    SERVE_EVERY = 16      /* messages between looks at acknowledgements */
};

struct ek_stage {
    const struct ek_config *config;
    struct ek_log *log;
    struct ek_metrics *metrics;
    struct ek_journal *journal;
    struct ek_guard *guard;
    struct ek_board *board;
    struct ek_agreement_board *agreement;
    struct ek_lanes *lanes;
    struct ek_input *input;
    struct ek_output *output;
    atomic_bool stopping;
    int64_t tick_due_ms, commit_due_ms, board_due_ms; /* monotonic */
    uint64_t worked;
    bool holding; /* too much in flight: the input is paused */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void drain(void *context, int64_t wait_ms)
{
    struct ek_stage *s = context;
    int64_t until = ek_now_ms() + wait_ms;
    while (!ek_lanes_idle(s->lanes, NULL) && ek_now_ms() < until)
        ek_output_flush(s->output, DRAIN_SLICE_MS);
    if (!ek_lanes_idle(s->lanes, NULL))
        ek_log_write(s->log, EK_LOG_WARN, "drain_cut_short", "in_flight=%zu",
                     ek_lanes_in_flight(s->lanes));
}

static void assigned(void *context, bool ready, int partitions)
{
    struct ek_stage *s = context;
    ek_output_forget_partitions(s->output);
    ek_metrics_gauge(s->metrics, EK_GAUGE_READY, ready);
    ek_metrics_gauge(s->metrics, EK_GAUGE_PARTITIONS, (uint64_t)partitions);
}

static int make_parts(struct ek_stage *s, const struct ek_assets *assets, struct ek_error *e)
{
    struct ek_input_hooks hooks = {s, drain, assigned};
    s->metrics = ek_metrics_new();
    s->journal = ek_journal_new((size_t)s->config->events_kept);
    s->lanes = ek_lanes_new();
    s->agreement = ek_agreement_board_new();
    if (!s->metrics || !s->journal || !s->lanes || !s->agreement)
        return ek_fail(e, EK_ENOMEM, "no memory for the stage");
    int rc = ek_guard_new(&s->guard, assets, e);
    if (!rc)
        ek_agreement_board_set(s->agreement, ek_guard_agreement(s->guard));
    if (!rc &&
        !(s->board = ek_board_new(assets->manifest, assets->rules, ek_guard_traffic(s->guard))))
        rc = ek_fail(e, EK_ENOMEM, "no memory for the stage");
    if (!rc)
        rc = ek_output_new(&s->output, s->config, s->lanes, s->metrics, s->log, e);
    if (!rc)
        rc = ek_input_new(&s->input, s->config, s->lanes, &hooks, s->metrics, s->log, e);
    return rc;
}

int ek_stage_new(struct ek_stage **out, const struct ek_config *config,
                 const struct ek_assets *assets, struct ek_log *log, struct ek_error *e)
{
    int rc = ek_config_finish(config, e);
    if (rc)
        return rc;
    struct ek_stage *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for the stage");
    s->config = config;
    s->log = log;
    atomic_init(&s->stopping, false);
    rc = make_parts(s, assets, e);
    if (rc)
        ek_stage_free(s);
    else
        *out = s;
    return rc;
}

/* Order matters: consumed messages are given back before their consumer goes. */
void ek_stage_free(struct ek_stage *s)
{
    if (!s)
        return;
    ek_output_free(s->output);
    ek_input_free(s->input);
    ek_lanes_free(s->lanes);
    ek_agreement_board_free(s->agreement);
    ek_board_free(s->board);
    ek_guard_free(s->guard);
    ek_journal_free(s->journal);
    ek_metrics_free(s->metrics);
    ek_free(s);
}

void ek_stage_stop(struct ek_stage *s)
{
    atomic_store_explicit(&s->stopping, true, memory_order_relaxed);
}

static bool stopping(struct ek_stage *s)
{
    return atomic_load_explicit(&s->stopping, memory_order_relaxed);
}

/* Passes on what the guard has to tell: log, journal, counters, alert topic. */
static void tell_events(struct ek_stage *s)
{
    const char *json;
    struct ek_journal_change change;
    while (ek_guard_next_event(s->guard, &json) > 0) {
        if (ek_journal_add(s->journal, json, &change))
            ek_log_text(s->log, EK_LOG_ERROR, "event_lost", "no memory for an event");
        if (change.drifted)
            ek_log_json(s->log, EK_LOG_WARN, "model_drift", json);
        else
            ek_log_json(s->log, EK_LOG_INFO, "guard", json);
        ek_metrics_count(s->metrics, EK_COUNT_EVENTS, 1);
        ek_metrics_count(s->metrics, EK_COUNT_DETECTED, (uint64_t)change.detected);
        ek_metrics_count(s->metrics, EK_COUNT_ENFORCED, (uint64_t)change.enforced);
        ek_output_tell(s->output, json);
    }
}

static int observe(struct ek_stage *s, const struct ek_message *m, struct ek_error *e)
{
    if (m->length > (size_t)s->config->message_bytes)
        return ek_fail(e, EK_ELIMIT, "the message has %zu bytes, limits.message_bytes allows %lld",
                       m->length, (long long)s->config->message_bytes);
    return ek_guard_observe(s->guard, m->bytes ? m->bytes : "", m->length, ek_wall_ms(), e);
}

static int forward(struct ek_stage *s, const struct ek_message *m, struct ek_error *e)
{
    struct ek_error why = {0};
    size_t length = m->length;
    const char *action = "pass";
    const void *bytes = ek_guard_score(s->guard, &length, &why);
    if (bytes) {
        action = ek_guard_action(s->guard);
    } else {
        bytes = m->bytes;
        length = m->length;
        ek_metrics_count(s->metrics, EK_COUNT_SCORE_FAILED, 1);
        ek_log_text(s->log, EK_LOG_ERROR, "score_failed", why.message);
    }
    return ek_output_forward(s->output, m->ticket, bytes, length, ek_guard_plan_version(s->guard),
                             action, e);
}

static int work(struct ek_stage *s, const struct ek_message *m, struct ek_error *e)
{
    char text[600];
    struct ek_error why = {0};
    uint64_t began = now_ns();
    ek_metrics_count(s->metrics, EK_COUNT_CONSUMED, 1);
    ek_metrics_count(s->metrics, EK_COUNT_BYTES_IN, m->length);
    int rc = observe(s, m, &why);
    if (rc == EK_ENOMEM) {
        ek_output_abandon(s->output, m->ticket);
        if (e)
            *e = why; /* no fault of the message: a restart reads it again */
        return rc;
    }
    if (rc)
        rc = ek_output_dead_letter(s->output, m->ticket, why.code,
                                   ek_error_text(&why, text, sizeof text), e);
    else
        rc = forward(s, m, e);
    tell_events(s);
    ek_metrics_gauge(s->metrics, EK_GAUGE_QUERIES, ek_guard_queries(s->guard));
    ek_metrics_gauge(s->metrics, EK_GAUGE_PLAN_VERSION, ek_guard_plan_version(s->guard));
    struct ek_beyond beyond = ek_guard_beyond(s->guard);
    for (int i = 0; i < EK_BOUNDS; i++)
        ek_metrics_gauge(s->metrics, (enum ek_gauge)(EK_GAUGE_BEYOND + i), beyond.count[i]);
    ek_metrics_stage_ns(s->metrics, now_ns() - began);
    return rc;
}

/* What is due by the clock. */
static int keep_time(struct ek_stage *s, struct ek_error *e)
{
    int64_t now = ek_now_ms();
    ek_metrics_gauge(s->metrics, EK_GAUGE_IN_FLIGHT, ek_lanes_in_flight(s->lanes));
    if (now >= s->commit_due_ms) {
        s->commit_due_ms = now + s->config->commit_every_ms;
        ek_input_commit(s->input);
    }
    if (now >= s->board_due_ms) {
        s->board_due_ms = now + BOARD_MS;
        if (ek_board_step(s->board))
            ek_log_text(s->log, EK_LOG_ERROR, "features_not_shown", "no memory for their figures");
    }
    if (now < s->tick_due_ms)
        return EK_OK;
    s->tick_due_ms = now + TICK_MS;
    ek_input_lags(s->input);
    ek_input_look_for_topics(s->input);
    int rc = ek_guard_tick(s->guard, ek_wall_ms(), e);
    tell_events(s);
    ek_agreement_board_set(s->agreement, ek_guard_agreement(s->guard));
    return rc;
}

static bool full(struct ek_stage *s, int64_t part)
{
    return ek_lanes_in_flight(s->lanes) * (size_t)part >= (size_t)s->config->in_flight_messages ||
           ek_lanes_bytes(s->lanes) * (size_t)part >= (size_t)s->config->in_flight_bytes;
}

/* Too much in flight: wait for acknowledgements. When they stay away the input is paused, and the
 * loop goes on polling so that the group keeps us. */
static int hold_back(struct ek_stage *s, struct ek_error *e)
{
    int rc = EK_OK;
    if (!s->holding) {
        int64_t until = ek_now_ms() + PATIENCE_MS;
        while (!rc && full(s, 1) && ek_now_ms() < until && !stopping(s))
            rc = ek_output_poll(s->output, DRAIN_SLICE_MS, e);
        if (rc || !full(s, 1))
            return rc;
        ek_log_write(s->log, EK_LOG_WARN, "input_paused", "in_flight=%zu",
                     ek_lanes_in_flight(s->lanes));
        s->holding = true;
    }
    ek_input_pause(s->input, true);
    return ek_output_poll(s->output, DRAIN_SLICE_MS, e);
}

static void go_on(struct ek_stage *s)
{
    ek_log_write(s->log, EK_LOG_INFO, "input_resumed", "in_flight=%zu",
                 ek_lanes_in_flight(s->lanes));
    s->holding = false;
    ek_input_pause(s->input, false);
}

static int step(struct ek_stage *s, struct ek_error *e)
{
    bool got = false;
    struct ek_message m;
    int rc = EK_OK;
    if (s->holding || full(s, 1))
        rc = hold_back(s, e);
    if (!rc && s->holding && !full(s, 2))
        go_on(s);
    if (!rc)
        rc = ek_input_poll(s->input, s->holding ? 0 : IDLE_MS, &m, &got, e);
    if (!rc && got)
        rc = work(s, &m, e);
    if (!rc && (!got || ++s->worked % SERVE_EVERY == 0))
        rc = ek_output_poll(s->output, 0, e);
    if (!rc && (!got || s->worked % SERVE_EVERY == 0))
        rc = keep_time(s, e);
    return rc;
}

static int wait_for_topics(struct ek_stage *s, struct ek_error *e)
{
    bool ready = false;
    int rc = EK_OK;
    while (!rc && !ready && !stopping(s)) {
        rc = ek_output_prepare(s->output, PREPARE_MS, &ready, e);
        for (int i = 0; !rc && !ready && !stopping(s) && i < PREPARE_MS / IDLE_MS; i++)
            rc = ek_output_poll(s->output, IDLE_MS, e);
    }
    return rc;
}

int ek_stage_run(struct ek_stage *s, struct ek_error *e)
{
    ek_log_write(s->log, EK_LOG_INFO, "started", "service=%s brokers=%s group=%s",
                 s->config->service_name, s->config->brokers, s->config->group);
    int rc = wait_for_topics(s, e);
    if (!rc && !stopping(s))
        rc = ek_input_subscribe(s->input, e);
    while (!rc && !stopping(s))
        rc = step(s, e);
    ek_metrics_gauge(s->metrics, EK_GAUGE_READY, 0);
    ek_log_write(s->log, EK_LOG_INFO, "stopping", "in_flight=%zu", ek_lanes_in_flight(s->lanes));
    ek_input_close(s->input, s->config->shutdown_ms);
    ek_metrics_gauge(s->metrics, EK_GAUGE_IN_FLIGHT, ek_lanes_in_flight(s->lanes));
    ek_log_write(s->log, rc ? EK_LOG_ERROR : EK_LOG_INFO, "stopped", "queries=%llu",
                 (unsigned long long)ek_guard_queries(s->guard));
    return rc;
}

void ek_stage_stats(struct ek_stage *s, struct ek_stage_stats *out)
{
    const struct ek_metrics *m = s->metrics;
    *out = (struct ek_stage_stats){
        .ready = ek_metrics_gauge_value(m, EK_GAUGE_READY) != 0,
        .partitions = (int)ek_metrics_gauge_value(m, EK_GAUGE_PARTITIONS),
        .consumed = ek_metrics_counter(m, EK_COUNT_CONSUMED),
        .passed = ek_metrics_counter(m, EK_COUNT_PASSED),
        .routed = ek_metrics_counter(m, EK_COUNT_ROUTED),
        .dead = ek_metrics_counter(m, EK_COUNT_DEAD),
        .in_flight = ek_metrics_gauge_value(m, EK_GAUGE_IN_FLIGHT),
        .queries = ek_metrics_gauge_value(m, EK_GAUGE_QUERIES),
        .plan_version = ek_metrics_gauge_value(m, EK_GAUGE_PLAN_VERSION),
        .detected = ek_metrics_counter(m, EK_COUNT_DETECTED),
        .enforced = ek_metrics_counter(m, EK_COUNT_ENFORCED),
        .lag = ek_metrics_lag_sum(s->metrics),
    };
}

int ek_stage_missing_topics(struct ek_stage *s, size_t *count, struct ek_buf *out)
{
    const struct ek_text_list *topics = &s->config->topics;
    int rc = ek_buf_text(out, "[");
    *count = 0;
    for (size_t i = 0; !rc && i < topics->count; i++) {
        if (!ek_input_topic_missing(s->input, i))
            continue;
        rc = ek_buf_text(out, (*count)++ ? "," : "");
        if (!rc)
            rc = ek_buf_json(out, topics->items[i], strlen(topics->items[i]));
    }
    return rc ? rc : ek_buf_text(out, "]");
}

int ek_stage_events(struct ek_stage *s, uint64_t *after, struct ek_buf *out)
{
    return ek_journal_since(s->journal, after, out);
}

struct ek_metrics *ek_stage_metrics(struct ek_stage *s)
{
    return s->metrics;
}

struct ek_journal *ek_stage_journal(struct ek_stage *s)
{
    return s->journal;
}

struct ek_board *ek_stage_board(struct ek_stage *s)
{
    return s->board;
}

int ek_stage_metrics_text(struct ek_stage *s, struct ek_buf *out)
{
    int rc = ek_metrics_write(s->metrics, out);
    if (!rc)
        rc = ek_agreement_board_metrics(s->agreement, out);
    return rc ? rc : ek_board_metrics(s->board, s->journal, (int)s->config->feature_cells, out);
}

int ek_stage_status(struct ek_stage *s, struct ek_buf *out)
{
    struct ek_stage_stats t;
    ek_stage_stats(s, &t);
    int rc = ek_buf_text(out, "{\"service\":");
    if (!rc)
        rc = ek_buf_json(out, s->config->service_name, strlen(s->config->service_name));
    if (!rc)
        rc = ek_buf_text(out, ",\"model\":");
    if (!rc)
        rc = ek_agreement_board_json(s->agreement, out);
    if (rc)
        return rc;
    return ek_buf_printf(out,
                         ",\"version\":\"%s\",\"librdkafka\":\"%s\",\"ready\":%s,\"partitions\":%d,"
                         "\"plan_version\":%" PRIu64 ",\"observed_queries\":%" PRIu64
                         ",\"consumed\":%" PRIu64 ",\"passed\":%" PRIu64 ",\"routed\":%" PRIu64
                         ",\"dead_letters\":%" PRIu64 ",\"in_flight\":%" PRIu64
                         ",\"open_findings\":%zu,\"lag\":%" PRId64 "}\n",
                         ek_version(), ek_kafka_version(), t.ready ? "true" : "false", t.partitions,
                         t.plan_version, t.queries, t.consumed, t.passed, t.routed, t.dead,
                         t.in_flight, ek_journal_open(s->journal), t.lag);
}
