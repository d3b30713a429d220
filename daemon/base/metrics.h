/* Metrics of the stage in Prometheus text format.
 *
 * Counters only increase. Labels are from fixed lists, so the number of series is bounded, except
 * for assigned partitions. Units are seconds and bytes. Functions that append return 0 or
 * EK_ENOMEM. Threads: any; values are atomic, but a response is not a consistent snapshot.
 */
#ifndef EK_DAEMON_BASE_METRICS_H
#define EK_DAEMON_BASE_METRICS_H

#include "detect/bounds.h"
#include "plan/rollout.h"
#include "base/buf.h"
#include "base/error.h"
#include "daemon/base/metrics_table.h"

#include <stdint.h>

struct ek_metrics;

enum ek_counter {
    EK_COUNT_CONSUMED, /* messages consumed */
    EK_COUNT_PASSED,   /* outputs acknowledged, unchanged */
    EK_COUNT_ROUTED,   /* outputs acknowledged, with other scores */
    EK_COUNT_DEAD,     /* dead letters acknowledged */
    EK_COUNT_DEAD_FORMAT,
    EK_COUNT_DEAD_LIMIT,
    EK_COUNT_DEAD_STATE,
    EK_COUNT_DEAD_DELIVERY,
    EK_COUNT_DEAD_OTHER,
    EK_COUNT_DEAD_PASSED,   /* dead letters instead of an unchanged output */
    EK_COUNT_DEAD_ROUTED,   /* dead letters instead of an output with other scores */
    EK_COUNT_SHADOW_SCORED, /* daemon/guard/shadow_scorer.h */
    EK_COUNT_SHADOW_SKIPPED,
    EK_COUNT_SCORE_FAILED,          /* forwarded unchanged, since scoring failed */
    EK_COUNT_UNDECODABLE_FORWARDED, /* forwarded unchanged */
    EK_COUNT_REPAIRED_VALUES,       /* feature values written repaired */
    EK_COUNT_WITHHELD_REPAIRS,      /* feature values not repaired because of the mode */
    EK_COUNT_HEADERS_OMITTED,       /* forwarded without our headers, which did not fit */
    EK_COUNT_UNREADABLE_TIME,       /* lists whose time, or a segment, counts as absent */
    EK_COUNT_UNREADABLE_SEGMENTS,
    EK_COUNT_UNOBSERVED, /* lists that no segment observed */
    EK_COUNT_TRUNCATED,  /* acknowledged without a part of the message */
    EK_COUNT_EVENTS,
    EK_COUNT_DETECTED,
    EK_COUNT_ENFORCED,
    EK_COUNT_ROLLED_BACK, /* one for each enum ek_guardrail */
    EK_COUNT_ROLLED_BACK_LAST = EK_COUNT_ROLLED_BACK + EK_GUARDRAIL_COUNT - 1,
    EK_COUNT_KAFKA_RETRIABLE,
    EK_COUNT_KAFKA_MESSAGE,
    EK_COUNT_KAFKA_ABORTABLE,
    EK_COUNT_KAFKA_FATAL,
    EK_COUNT_KAFKA_CREDENTIALS,
    EK_COUNT_KAFKA_TLS,
    EK_COUNT_KAFKA_AUTHORIZATION,
    EK_COUNT_REBALANCES,
    EK_COUNT_COMMITS,
    EK_COUNT_TXN_COMMITTED,
    EK_COUNT_TXN_ABORTED,
    EK_COUNT_OUTPUT_ONLY, /* reprocessed for the output only */
    EK_COUNT_STATE_ONLY,  /* reprocessed for the guard only */
    EK_COUNT_RELOADS_DONE,
    EK_COUNT_RELOADS_REFUSED,
    EK_COUNT_BYTES_IN,
    EK_COUNT_BYTES_OUT,
    EK_COUNT_HTTP_GOOD, /* responses by status: 2xx and 3xx */
    EK_COUNT_HTTP_REFUSED,
    EK_COUNT_HTTP_BROKEN,
    EK_COUNTERS
};

enum ek_gauge {
    EK_GAUGE_LISTS, /* counter of the guard, stored in the checkpoint */
    EK_GAUGE_PLAN_VERSION,
    EK_GAUGE_IN_FLIGHT,
    EK_GAUGE_QUEUED, /* messages waiting for a worker */
    EK_GAUGE_WORKERS,
    EK_GAUGE_READY,
    EK_GAUGE_PARTITIONS,
    EK_GAUGE_PAUSED,
    EK_GAUGE_RELOAD_OK,      /* the last reload succeeded, or there was none */
    EK_GAUGE_RELOAD_SECONDS, /* time since 1970 of the last successful reload, or of the start */
    EK_GAUGE_LIMIT_EXCEEDED, /* counters of the guard, one for each enum ek_bound */
    EK_GAUGE_LIMIT_EXCEEDED_LAST = EK_GAUGE_LIMIT_EXCEEDED + EK_BOUNDS_ALL - 1,
    /* counters of assembled lists (serve/assembly.h) */
    EK_GAUGE_ITEM_LISTS_COMPLETE,
    EK_GAUGE_ITEM_LISTS_INCOMPLETE,
    EK_GAUGE_ITEM_LISTS_UNKNOWN,
    EK_GAUGE_ITEMS_REPEATED,
    EK_GAUGE_ITEMS_LATE,
    EK_GAUGE_LISTS_EVICTED,
    EK_GAUGES
};

enum ek_time {
    EK_TIME_PROCESSING, /* of one message in a worker */
    EK_TIME_END_TO_END, /* from consumer to acknowledged output */
    EK_TIMES
};

struct ek_lag {
    char topic[250];
    int partition;
    int64_t messages; /* -1: unknown, not exported */
};

/* Create metrics with all values 0. Return NULL if memory runs out. */
struct ek_metrics *ek_metrics_new(void);
void ek_metrics_free(struct ek_metrics *m);

/* Add `more` to the counter `which`. Any thread. */
void ek_metrics_count(struct ek_metrics *m, enum ek_counter which, uint64_t more);
/* Return the value of a counter. */
uint64_t ek_metrics_counter(const struct ek_metrics *m, enum ek_counter which);
/* Set the gauge `which`. Any thread. */
void ek_metrics_gauge(struct ek_metrics *m, enum ek_gauge which, uint64_t value);
/* Return the value of a gauge. */
uint64_t ek_metrics_gauge_value(const struct ek_metrics *m, enum ek_gauge which);

/* Add a duration in nanoseconds to the histogram `which`. Any thread. */
void ek_metrics_time_ns(struct ek_metrics *m, enum ek_time which, uint64_t ns);

/* Replace the consumer lags by copies of lags [count]. Return 0, or EK_ENOMEM without replacing
 * them. */
int ek_metrics_lags(struct ek_metrics *m, const struct ek_lag *lags, size_t count);
/* Return the sum of the lags; -1 if one is unknown or there are none. */
int64_t ek_metrics_lag_sum(struct ek_metrics *m);

/* Append all metrics of this object. Return 0 or EK_ENOMEM. */
int ek_metrics_write(struct ek_metrics *m, struct ek_buf *out);

/* Append a label value: backslash, quote and line feed are escaped, invalid UTF-8 is replaced by
 * U+FFFD. Return 0 or EK_ENOMEM. */
int ek_metrics_label(const char *text, struct ek_buf *out);
/* Append a segment as a label value, escaped as by ek_metrics_label: `all` if dimension is NULL,
 * else dimension=value; value NULL: (other). Return 0 or EK_ENOMEM. */
int ek_metrics_segment(const char *dimension, const char *value, struct ek_buf *out);
/* Append the family `name` with one sample without labels. Return 0, EK_ENOMEM, or EK_EUSAGE for an
 * unknown family. */
int ek_metrics_single(const char *name, double value, struct ek_buf *out);
/* Append the limits of the guard that were reached as a JSON array: [{"limit": name, "text":
 * condition and effect}]. Return 0 or EK_ENOMEM. */
int ek_metrics_limits_json(const struct ek_metrics *m, struct ek_buf *out);

#endif
