#include "daemon/base/metrics.h"

#include "base/alloc.h"
#include "evenkeel.h"
#include "guard/event.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Upper bounds in nanoseconds; the last bucket is +Inf. */
static const uint64_t BOUNDS_NS[] = {5000,     10000,     25000,     50000,     100000,   250000,
                                     500000,   1000000,   2500000,   5000000,   10000000, 25000000,
                                     50000000, 100000000, 250000000, 1000000000};
enum { BUCKETS = sizeof BOUNDS_NS / sizeof *BOUNDS_NS + 1 };

struct ek_metrics {
    _Atomic uint64_t counters[EK_COUNTERS], gauges[EK_GAUGES];
    struct {
        _Atomic uint64_t buckets[BUCKETS], sum_ns;
    } times[EK_TIMES];
    pthread_mutex_t lock; /* protects the lags */
    struct ek_lag *lags;
    size_t lag_count;
};

struct series {
    const char *name, *labels;
    int which;
};

static const struct series COUNTERS[] = {
    {"evenkeel_messages_consumed_total", "", EK_COUNT_CONSUMED},
    {"evenkeel_messages_total", "{result=\"passed\"}", EK_COUNT_PASSED},
    {"evenkeel_messages_total", "{result=\"routed\"}", EK_COUNT_ROUTED},
    {"evenkeel_messages_total", "{result=\"dead_lettered\"}", EK_COUNT_DEAD},
    {"evenkeel_dead_letters_total", "{reason=\"format\"}", EK_COUNT_DEAD_FORMAT},
    {"evenkeel_dead_letters_total", "{reason=\"limit\"}", EK_COUNT_DEAD_LIMIT},
    {"evenkeel_dead_letters_total", "{reason=\"state\"}", EK_COUNT_DEAD_STATE},
    {"evenkeel_dead_letters_total", "{reason=\"delivery\"}", EK_COUNT_DEAD_DELIVERY},
    {"evenkeel_dead_letters_total", "{reason=\"other\"}", EK_COUNT_DEAD_OTHER},
    {"evenkeel_score_failures_total", "", EK_COUNT_SCORE_FAILED},
    {"evenkeel_shadow_scored_lists_total", "", EK_COUNT_SHADOW_SCORED},
    {"evenkeel_shadow_scoring_skipped_lists_total", "", EK_COUNT_SHADOW_SKIPPED},
    {"evenkeel_repaired_values_total", "{effect=\"written\"}", EK_COUNT_REPAIRED_VALUES},
    {"evenkeel_repaired_values_total", "{effect=\"withheld\"}", EK_COUNT_WITHHELD_REPAIRS},
    {"evenkeel_undecodable_forwarded_total", "", EK_COUNT_UNDECODABLE_FORWARDED},
    {"evenkeel_unreadable_fields_total", "{field=\"time\"}", EK_COUNT_UNREADABLE_TIME},
    {"evenkeel_unreadable_fields_total", "{field=\"segments\"}", EK_COUNT_UNREADABLE_SEGMENTS},
    {"evenkeel_headers_omitted_total", "", EK_COUNT_HEADERS_OMITTED},
    {"evenkeel_truncated_messages_total", "", EK_COUNT_TRUNCATED},
    {"evenkeel_events_total", "", EK_COUNT_EVENTS},
    {"evenkeel_routes_detected_total", "", EK_COUNT_DETECTED},
    {"evenkeel_routes_enforced_total", "", EK_COUNT_ENFORCED},
    {"evenkeel_routes_rolled_back_total", "{reason=\"rank_change_p95\"}",
     EK_COUNT_ROLLED_BACK + EK_GUARDRAIL_RANKS},
    {"evenkeel_routes_rolled_back_total", "{reason=\"error_rate\"}",
     EK_COUNT_ROLLED_BACK + EK_GUARDRAIL_ERRORS},
    {"evenkeel_routes_rolled_back_total", "{reason=\"dead_letter_rate\"}",
     EK_COUNT_ROLLED_BACK + EK_GUARDRAIL_DEAD},
    {"evenkeel_routes_rolled_back_total", "{reason=\"latency_p99\"}",
     EK_COUNT_ROLLED_BACK + EK_GUARDRAIL_LATENCY},
    {"evenkeel_routes_rolled_back_total", "{reason=\"model_drift\"}",
     EK_COUNT_ROLLED_BACK + EK_GUARDRAIL_DRIFT},
    {"evenkeel_routes_rolled_back_total", "{reason=\"worse_than_unmitigated\"}",
     EK_COUNT_ROLLED_BACK + EK_GUARDRAIL_WORSE},
    {"evenkeel_kafka_errors_total", "{class=\"retriable\"}", EK_COUNT_KAFKA_RETRIABLE},
    {"evenkeel_kafka_errors_total", "{class=\"message\"}", EK_COUNT_KAFKA_MESSAGE},
    {"evenkeel_kafka_errors_total", "{class=\"abortable\"}", EK_COUNT_KAFKA_ABORTABLE},
    {"evenkeel_kafka_errors_total", "{class=\"fatal\"}", EK_COUNT_KAFKA_FATAL},
    {"evenkeel_kafka_errors_total", "{class=\"credentials\"}", EK_COUNT_KAFKA_CREDENTIALS},
    {"evenkeel_kafka_errors_total", "{class=\"tls\"}", EK_COUNT_KAFKA_TLS},
    {"evenkeel_kafka_errors_total", "{class=\"authorization\"}", EK_COUNT_KAFKA_AUTHORIZATION},
    {"evenkeel_unobserved_lists_total", "", EK_COUNT_UNOBSERVED},
    {"evenkeel_rebalances_total", "", EK_COUNT_REBALANCES},
    {"evenkeel_commits_total", "", EK_COUNT_COMMITS},
    {"evenkeel_transactions_total", "{result=\"committed\"}", EK_COUNT_TXN_COMMITTED},
    {"evenkeel_transactions_total", "{result=\"aborted\"}", EK_COUNT_TXN_ABORTED},
    {"evenkeel_reprocessed_messages_total", "{effect=\"output_only\"}", EK_COUNT_OUTPUT_ONLY},
    {"evenkeel_reprocessed_messages_total", "{effect=\"state_only\"}", EK_COUNT_STATE_ONLY},
    {"evenkeel_reloads_total", "{result=\"done\"}", EK_COUNT_RELOADS_DONE},
    {"evenkeel_reloads_total", "{result=\"refused\"}", EK_COUNT_RELOADS_REFUSED},
    {"evenkeel_consumed_bytes_total", "", EK_COUNT_BYTES_IN},
    {"evenkeel_produced_bytes_total", "", EK_COUNT_BYTES_OUT},
    {"evenkeel_http_requests_total", "{code=\"2xx\"}", EK_COUNT_HTTP_GOOD},
    {"evenkeel_http_requests_total", "{code=\"4xx\"}", EK_COUNT_HTTP_REFUSED},
    {"evenkeel_http_requests_total", "{code=\"5xx\"}", EK_COUNT_HTTP_BROKEN},
};

static const struct series GAUGES[] = {
    {"evenkeel_observed_lists_total", "", EK_GAUGE_LISTS},
    {"evenkeel_plan_version", "", EK_GAUGE_PLAN_VERSION},
    {"evenkeel_in_flight_messages", "", EK_GAUGE_IN_FLIGHT},
    {"evenkeel_queued_messages", "", EK_GAUGE_QUEUED},
    {"evenkeel_workers", "", EK_GAUGE_WORKERS},
    {"evenkeel_assigned_partitions", "", EK_GAUGE_PARTITIONS},
    {"evenkeel_paused", "", EK_GAUGE_PAUSED},
    {"evenkeel_last_reload_successful", "", EK_GAUGE_RELOAD_OK},
    {"evenkeel_last_reload_success_timestamp_seconds", "", EK_GAUGE_RELOAD_SECONDS},
    {"evenkeel_limit_exceeded_total", "{limit=\"segments\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_CELLS},
    {"evenkeel_limit_exceeded_total", "{limit=\"changes\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_CHANGES},
    {"evenkeel_limit_exceeded_total", "{limit=\"findings\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_FINDINGS},
    {"evenkeel_limit_exceeded_total", "{limit=\"plan\"}", EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_PLAN},
    {"evenkeel_limit_exceeded_total", "{limit=\"max_routed_features\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_ROUTED},
    {"evenkeel_limit_exceeded_total", "{limit=\"max_routed_share\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_SHARE},
    {"evenkeel_limit_exceeded_total", "{limit=\"events\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_EVENTS},
    {"evenkeel_limit_exceeded_total", "{limit=\"sketches\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_SKETCHES},
    {"evenkeel_limit_exceeded_total", "{limit=\"strata\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_STRATA},
    {"evenkeel_limit_exceeded_total", "{limit=\"items\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_ITEMS},
    {"evenkeel_limit_exceeded_total", "{limit=\"repeats\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_REPEATS},
    {"evenkeel_limit_exceeded_total", "{limit=\"query_features\"}",
     EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_QUERIES},
    {"evenkeel_assembled_lists_total", "{complete=\"true\"}", EK_GAUGE_ITEM_LISTS_COMPLETE},
    {"evenkeel_assembled_lists_total", "{complete=\"false\"}", EK_GAUGE_ITEM_LISTS_INCOMPLETE},
    {"evenkeel_assembled_lists_total", "{complete=\"unknown\"}", EK_GAUGE_ITEM_LISTS_UNKNOWN},
    {"evenkeel_dropped_items_total", "{reason=\"repeated\"}", EK_GAUGE_ITEMS_REPEATED},
    {"evenkeel_dropped_items_total", "{reason=\"late\"}", EK_GAUGE_ITEMS_LATE},
    {"evenkeel_assembly_evicted_lists_total", "", EK_GAUGE_LISTS_EVICTED},
};

struct ek_metrics *ek_metrics_new(void)
{
    struct ek_metrics *m = ek_calloc(1, sizeof *m);
    if (m)
        pthread_mutex_init(&m->lock, NULL);
    return m;
}

void ek_metrics_free(struct ek_metrics *m)
{
    if (!m)
        return;
    pthread_mutex_destroy(&m->lock);
    ek_free(m->lags);
    ek_free(m);
}

void ek_metrics_count(struct ek_metrics *m, enum ek_counter which, uint64_t more)
{
    atomic_fetch_add_explicit(&m->counters[which], more, memory_order_relaxed);
}

uint64_t ek_metrics_counter(const struct ek_metrics *m, enum ek_counter which)
{
    return atomic_load_explicit(&m->counters[which], memory_order_relaxed);
}

void ek_metrics_gauge(struct ek_metrics *m, enum ek_gauge which, uint64_t value)
{
    atomic_store_explicit(&m->gauges[which], value, memory_order_relaxed);
}

uint64_t ek_metrics_gauge_value(const struct ek_metrics *m, enum ek_gauge which)
{
    return atomic_load_explicit(&m->gauges[which], memory_order_relaxed);
}

void ek_metrics_time_ns(struct ek_metrics *m, enum ek_time which, uint64_t ns)
{
    int i = 0;
    while (i < BUCKETS - 1 && ns > BOUNDS_NS[i])
        i++;
    atomic_fetch_add_explicit(&m->times[which].buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->times[which].sum_ns, ns, memory_order_relaxed);
}

int ek_metrics_lags(struct ek_metrics *m, const struct ek_lag *lags, size_t count)
{
    struct ek_lag *copy = ek_calloc(count, sizeof *copy);
    if (!copy)
        return EK_ENOMEM;
    if (count)
        memcpy(copy, lags, count * sizeof *copy);
    pthread_mutex_lock(&m->lock);
    struct ek_lag *old = m->lags;
    m->lags = copy;
    m->lag_count = count;
    pthread_mutex_unlock(&m->lock);
    ek_free(old);
    return EK_OK;
}

int64_t ek_metrics_lag_sum(struct ek_metrics *m)
{
    pthread_mutex_lock(&m->lock);
    int64_t sum = m->lag_count ? 0 : -1;
    for (size_t i = 0; sum >= 0 && i < m->lag_count; i++)
        sum = m->lags[i].messages < 0 ? -1 : sum + m->lags[i].messages;
    pthread_mutex_unlock(&m->lock);
    return sum;
}

/* Append series; those of a family are adjacent. */
static int write_series(const struct series *s, size_t count, const _Atomic uint64_t *values,
                        struct ek_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(s[i].name, s[i - 1].name) != 0)
            ek_metrics_head(s[i].name, out);
        ek_buf_printf(out, "%s%s %" PRIu64 "\n", s[i].name, s[i].labels,
                      atomic_load_explicit(&values[s[i].which], memory_order_relaxed));
    }
    return out->rc;
}

int ek_metrics_label(const char *text, struct ek_buf *out)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t n = ek_utf8_length((const unsigned char *)text, left);
        if (*text == '\n')
            ek_buf_text(out, "\\n");
        else if (*text == '\\' || *text == '"')
            ek_buf_printf(out, "\\%c", *text);
        else if (n)
            ek_buf_add(out, text, n);
        else
            ek_buf_text(out, "\xef\xbf\xbd");
        text += n ? n : 1;
        left -= n ? n : 1;
    }
    return out->rc;
}

int ek_metrics_segment(const char *dimension, const char *value, struct ek_buf *out)
{
    if (!dimension)
        return ek_buf_text(out, "all");
    ek_metrics_label(dimension, out);
    ek_buf_text(out, "=");
    return ek_metrics_label(value ? value : EK_SEGMENT_OTHER, out);
}

int ek_metrics_single(const char *name, double value, struct ek_buf *out)
{
    ek_metrics_head(name, out);
    return ek_buf_printf(out, "%s %.15g\n", name, value);
}

static int write_histogram(const struct ek_metrics *m, enum ek_time which, struct ek_buf *out)
{
    static const char *const names[] = {"evenkeel_processing_duration_seconds",
                                        "evenkeel_end_to_end_duration_seconds"};
    const char *name = names[which];
    const _Atomic uint64_t *buckets = m->times[which].buckets;
    uint64_t total = 0;
    ek_metrics_head(name, out);
    for (int i = 0; i < BUCKETS - 1; i++) {
        total += atomic_load_explicit(&buckets[i], memory_order_relaxed);
        ek_buf_printf(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, (double)BOUNDS_NS[i] / 1e9,
                      total);
    }
    total += atomic_load_explicit(&buckets[BUCKETS - 1], memory_order_relaxed);
    double sum = (double)atomic_load_explicit(&m->times[which].sum_ns, memory_order_relaxed) / 1e9;
    return ek_buf_printf(out,
                         "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.9f\n%s_count %" PRIu64 "\n",
                         name, total, name, sum, name, total);
}

static int write_lags(struct ek_metrics *m, struct ek_buf *out)
{
    static const char name[] = "evenkeel_consumer_lag";
    ek_metrics_head(name, out);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->lag_count; i++)
        if (m->lags[i].messages >= 0)
            ek_buf_printf(out, "%s{topic=\"%s\",partition=\"%d\"} %" PRId64 "\n", name,
                          m->lags[i].topic, m->lags[i].partition, m->lags[i].messages);
    pthread_mutex_unlock(&m->lock);
    return out->rc;
}

int ek_metrics_write(struct ek_metrics *m, struct ek_buf *out)
{
    ek_metrics_head("evenkeel_build_info", out);
    ek_buf_printf(out, "evenkeel_build_info{version=\"%s\"} 1\n", ek_version());
    write_series(COUNTERS, sizeof COUNTERS / sizeof *COUNTERS, m->counters, out);
    write_series(GAUGES, sizeof GAUGES / sizeof *GAUGES, m->gauges, out);
    for (int i = 0; i < EK_TIMES; i++)
        write_histogram(m, (enum ek_time)i, out);
    return write_lags(m, out);
}

int ek_metrics_limits_json(const struct ek_metrics *m, struct ek_buf *out)
{
    const char *comma = "";
    ek_buf_text(out, "[");
    for (int i = EK_BOUND_NONE + 1; i < EK_BOUNDS_ALL; i++) {
        const char *text = ek_bound_text((enum ek_bound)i);
        if (!ek_metrics_gauge_value(m, (enum ek_gauge)(EK_GAUGE_LIMIT_EXCEEDED + i)))
            continue;
        ek_buf_printf(out, "%s{\"limit\":\"%s\",\"text\":", comma, ek_bound_name((enum ek_bound)i));
        ek_buf_json(out, text, strlen(text));
        ek_buf_text(out, "}");
        comma = ",";
    }
    return ek_buf_text(out, "]");
}
