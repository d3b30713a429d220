/* Monitoring views of a stage. Any thread. */
#include "daemon/base/clock.h"
#include "daemon/stage/stage_internal.h"

#include "daemon/views/event_log.h"
#include "daemon/kafka/kafka.h"
#include "daemon/base/log.h"
#include "daemon/base/process.h"
#include "daemon/guard/impact_metrics.h"

#include <inttypes.h>
#include <string.h>

enum { BROKERLESS_MS = 10000 }; /* longest tolerated outage of a ready stage */

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
        .queries = ek_metrics_gauge_value(m, EK_GAUGE_LISTS),
        .plan_version = ek_metrics_gauge_value(m, EK_GAUGE_PLAN_VERSION),
        .detected = ek_metrics_counter(m, EK_COUNT_DETECTED),
        .enforced = ek_metrics_counter(m, EK_COUNT_ENFORCED),
        .lag = ek_metrics_lag_sum(s->metrics),
        .lists_per_second = ek_traffic_history_rate(s->traffic),
    };
}

enum ek_kafka_health_kind ek_stage_health(struct ek_stage *s, struct ek_kafka_health_state *out)
{
    struct ek_kafka_health *all[] = {
        ek_input_health(s->input), ek_output_health(s->output),
        s->checkpoint_store ? ek_checkpoint_store_health(s->checkpoint_store) : NULL};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ek_kafka_health_get(all[i], out);
        bool passing = ek_metrics_gauge_value(s->metrics, EK_GAUGE_READY) &&
                       ek_now_ms() - out->since_ms < BROKERLESS_MS;
        if (out->kind && !passing)
            return out->kind;
    }
    return out->kind = EK_KAFKA_HEALTH_NONE;
}

static int write_missing(struct ek_stage *s, size_t *count, struct ek_buf *out)
{
    const struct ek_text_list *topics = &s->config->topics;
    ek_buf_text(out, "[");
    *count = 0;
    for (size_t i = 0; i < topics->count; i++) {
        if (!ek_input_topic_missing(s->input, i))
            continue;
        ek_buf_text(out, (*count)++ ? "," : "");
        ek_buf_json(out, topics->items[i], strlen(topics->items[i]));
    }
    return ek_buf_text(out, "]");
}

/* Why a stage is not ready; all zero: it is. */
struct reason {
    const char *word;
    char text[EK_FLOW_TEXT_BYTES]; /* "" if there is no more to say */
};

static void set_reason(struct reason *r, const char *word, const char *text)
{
    r->word = word;
    snprintf(r->text, sizeof r->text, "%s", text);
}

static struct reason reason_of(struct ek_stage *s, size_t missing)
{
    struct reason r = {NULL, ""};
    struct ek_kafka_health_state trouble;
    struct ek_flow_view flow;
    const struct ek_flow_state *stalled = &flow.condition[EK_FLOW_STALLED];
    ek_stage_health(s, &trouble);
    ek_flow_monitor_get(s->flow, ek_now_ms(), &flow);
    if (trouble.kind)
        set_reason(&r, ek_kafka_health_name(trouble.kind), trouble.text);
    else if (flow.condition[EK_FLOW_UNREACHABLE].active)
        set_reason(&r, "no_broker", flow.condition[EK_FLOW_UNREACHABLE].text);
    else if (missing)
        set_reason(&r, "topic_missing", "");
    else if (!ek_metrics_gauge_value(s->metrics, EK_GAUGE_READY))
        set_reason(&r, "no_partitions", "");
    else if (flow.never_decoded)
        set_reason(&r, "undecodable", flow.first_reason);
    else if (stalled->active)
        set_reason(&r, "stalled", stalled->text);
    return r;
}

static size_t count_missing(struct ek_stage *s)
{
    size_t missing = 0;
    for (size_t i = 0; i < s->config->topics.count; i++)
        missing += ek_input_topic_missing(s->input, i);
    return missing;
}

const char *ek_stage_reason(struct ek_stage *s)
{
    return reason_of(s, count_missing(s)).word;
}

static int write_reason(const struct reason *r, struct ek_buf *out)
{
    if (!r->word)
        return ek_buf_text(out, ",\"reason\":null");
    ek_buf_printf(out, ",\"reason\":\"%s\"", r->word);
    if (!*r->text)
        return out->rc;
    ek_buf_text(out, ",\"message\":");
    return ek_buf_json(out, r->text, strlen(r->text));
}

/* What the flow continues without. */
static int write_degraded(struct ek_stage *s, struct ek_buf *out)
{
    struct ek_flow_view flow;
    ek_flow_monitor_get(s->flow, ek_now_ms(), &flow);
    const struct ek_flow_state *degraded = &flow.condition[EK_FLOW_DEGRADED];
    ek_buf_text(out, ",\"degraded\":");
    return degraded->active ? ek_buf_json(out, degraded->text, strlen(degraded->text))
                            : ek_buf_text(out, "null");
}

int ek_stage_readiness(struct ek_stage *s, bool *good, struct ek_buf *out)
{
    struct ek_buf missing;
    size_t count;
    ek_buf_init(&missing, 0);
    write_missing(s, &count, &missing);
    const struct reason r = reason_of(s, count);
    *good = !r.word;
    ek_buf_printf(
        out, "\"ready\":%s,\"partitions\":%d,\"missing_topics\":%s", *good ? "true" : "false",
        (int)ek_metrics_gauge_value(s->metrics, EK_GAUGE_PARTITIONS), ek_buf_string(&missing));
    write_degraded(s, out);
    write_reason(&r, out);
    out->rc = missing.rc ? missing.rc : out->rc;
    ek_buf_release(&missing);
    return out->rc;
}

struct ek_stage_parts ek_stage_parts(struct ek_stage *s)
{
    return (struct ek_stage_parts){.metrics = s->metrics,
                                   .event_log = s->event_log,
                                   .feature_stats = s->board,
                                   .feature_history = s->tracks,
                                   .samples = s->samples,
                                   .guard = s->guard,
                                   .fleet = s->fleet,
                                   .pause = s->pause,
                                   .flow = s->flow,
                                   .plan = s->plan_view};
}

static int write_service(const char *name, struct ek_buf *out)
{
    ek_metrics_head("evenkeel_service_info", out);
    ek_buf_text(out, "evenkeel_service_info{service=\"");
    ek_metrics_label(name, out);
    return ek_buf_text(out, "\"} 1\n");
}

int ek_stage_metrics_text(struct ek_stage *s, struct ek_buf *out)
{
    int rc = ek_metrics_write(s->metrics, out);
    if (!rc)
        rc = write_service(s->config->service_name, out);
    if (!rc)
        rc = ek_metrics_single("evenkeel_ready", !ek_stage_reason(s), out);
    if (!rc)
        rc = ek_flow_monitor_metrics(s->flow, ek_now_ms(), out);
    if (!rc)
        rc = ek_metrics_single("evenkeel_log_lines_dropped_total", (double)ek_log_dropped(s->log),
                               out);
    if (!rc)
        rc = ek_process_metrics(out);
    if (!rc)
        rc = ek_finding_metrics(s->event_log, ek_now_ms(), out);
    if (!rc)
        rc = ek_agreement_cache_metrics(s->agreement, out);
    if (!rc)
        rc = ek_impact_metrics(s->guard, out);
    if (!rc && s->checkpoint_store)
        rc = ek_checkpoint_store_metrics(s->checkpoint_store, out);
    if (!rc && s->fleet)
        rc = ek_fleet_metrics(s->fleet, out);
    if (!rc)
        rc = ek_alerts_metrics(s->alerts, out);
    return rc ? rc
              : ek_feature_stats_metrics(s->board, s->event_log,
                                         (int)s->config->max_feature_segments, out);
}

int ek_stage_status(struct ek_stage *s, struct ek_buf *out)
{
    struct ek_stage_stats t;
    bool good;
    ek_buf_text(out, "\"service\":");
    ek_buf_json(out, s->config->service_name, strlen(s->config->service_name));
    ek_buf_text(out, ",\"model\":");
    ek_agreement_cache_json(s->agreement, out);
    ek_buf_text(out, ",\"state\":");
    if (s->checkpoint_store)
        ek_checkpoint_store_json(s->checkpoint_store, out);
    else
        ek_buf_text(out, "null");
    ek_buf_text(out, ",\"paused\":");
    ek_pause_json(s->pause, out);
    if (s->fleet) {
        ek_buf_text(out, ",\"fleet\":");
        ek_fleet_status(s->fleet, out);
    }
    ek_buf_text(out, ",\"output\":");
    if (s->config->output_topic)
        ek_buf_json(out, s->config->output_topic, strlen(s->config->output_topic));
    else
        ek_buf_text(out, "null");
    ek_buf_text(out, ",\"limits\":");
    ek_metrics_limits_json(s->metrics, out);
    ek_buf_text(out, ",\"input\":");
    ek_flow_monitor_json(s->flow, ek_now_ms(), out);
    ek_buf_text(out, ",\"traffic\":");
    ek_traffic_history_json(s->traffic, out);
    ek_stage_stats(s, &t); /* later, so that it has the lists of the traffic */
    ek_buf_text(out, ",");
    ek_stage_readiness(s, &good, out);
    return ek_buf_printf(
        out,
        ",\"version\":\"%s\",\"librdkafka\":\"%s\""
        ",\"plan_version\":%" PRIu64 ",\"observed_lists\":%" PRIu64 ",\"unobserved_lists\":%" PRIu64
        ",\"lists_per_second\":%.3g,\"consumed\":%" PRIu64 ",\"forwarded\":%" PRIu64
        ",\"routed\":%" PRIu64 ",\"dead_letters\":%" PRIu64 ",\"score_failures\":%" PRIu64
        ",\"in_flight\":%" PRIu64 ",\"open_findings\":%zu,\"lag\":%" PRId64,
        ek_version(), ek_kafka_version(), t.plan_version, t.queries,
        ek_metrics_counter(s->metrics, EK_COUNT_UNOBSERVED), t.lists_per_second, t.consumed,
        t.passed, t.routed, t.dead, ek_metrics_counter(s->metrics, EK_COUNT_SCORE_FAILED),
        t.in_flight, ek_event_log_open(s->event_log), t.lag);
}
