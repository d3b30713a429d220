/* Counters of the stage and their Prometheus text.
 *
 * Invariants: counters only rise; labels come from fixed lists, so the number of series is bounded
 * (but for the partitions assigned). Seconds and bytes are base units. Threads: any; each value is
 * atomic on its own, a page is no snapshot of one moment.
 * Owner: the caller.
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
    EK_COUNT_CONSUMED, /* messages taken from the input */
    EK_COUNT_PASSED,   /* outputs acknowledged: as they came */
    EK_COUNT_ROUTED,   /* outputs acknowledged: with other scores */
    EK_COUNT_DEAD,     /* dead letters acknowledged */
    EK_COUNT_DEAD_FORMAT,
    EK_COUNT_DEAD_LIMIT,
    EK_COUNT_DEAD_STATE,
    EK_COUNT_DEAD_DELIVERY,
    EK_COUNT_DEAD_OTHER,
    EK_COUNT_DEAD_PASSED,   /* become a dead letter in place of an output: as it came */
    EK_COUNT_DEAD_ROUTED,   /* with other scores */
    EK_COUNT_SHADOW_SCORED, /* lists tried both ways (daemon/guard/shadow_scorer.h) */
    EK_COUNT_SHADOW_SKIPPED,
    EK_COUNT_SCORE_FAILED,          /* forwarded as it came, because it could not be scored */
    EK_COUNT_UNDECODABLE_FORWARDED, /* as it came, while paused */
    EK_COUNT_TRUNCATED,             /* acknowledged without a part of what the message came with */
    EK_COUNT_EVENTS,
    EK_COUNT_DETECTED,
    EK_COUNT_ENFORCED,
    EK_COUNT_ROLLED_BACK, /* by guardrails, one for each enum ek_guardrail */
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
    EK_COUNT_OUTPUT_ONLY, /* read again and not counted again by the guard */
    EK_COUNT_STATE_ONLY,  /* read again for the guard alone */
    EK_COUNT_RELOADS_DONE,
    EK_COUNT_RELOADS_REFUSED,
    EK_COUNT_BYTES_IN,
    EK_COUNT_BYTES_OUT,
    EK_COUNT_HTTP_GOOD, /* answers, by the class of their status: 2xx and 3xx */
    EK_COUNT_HTTP_REFUSED,
    EK_COUNT_HTTP_BROKEN,
    EK_COUNTERS
};

enum ek_gauge {
    EK_GAUGE_LISTS, /* life-long counter of the guard */
    EK_GAUGE_PLAN_VERSION,
    EK_GAUGE_IN_FLIGHT,
    EK_GAUGE_QUEUED, /* messages read that no worker has taken yet */
    EK_GAUGE_WORKERS,
    EK_GAUGE_READY,
    EK_GAUGE_PARTITIONS,
    EK_GAUGE_PAUSED,
    EK_GAUGE_RELOAD_OK,      /* the last reload was taken, or there was none */
    EK_GAUGE_RELOAD_SECONDS, /* since 1970, of the last that was taken; of the start */
    EK_GAUGE_LIMIT_EXCEEDED, /* counters of the guard, one for each enum ek_bound */
    EK_GAUGE_LIMIT_EXCEEDED_LAST = EK_GAUGE_LIMIT_EXCEEDED + EK_BOUNDS_ALL - 1,
    /* counters of lists that come item by item (serve/assembly.h) */
    EK_GAUGE_ITEM_LISTS_COMPLETE,
    EK_GAUGE_ITEM_LISTS_INCOMPLETE,
    EK_GAUGE_ITEM_LISTS_UNKNOWN,
    EK_GAUGE_ITEMS_REPEATED,
    EK_GAUGE_ITEMS_LATE,
    EK_GAUGE_LISTS_EVICTED,
    EK_GAUGES
};

enum ek_time {
    EK_TIME_PROCESSING, /* of one message with a worker, until the producer has it */
    EK_TIME_END_TO_END, /* from the consumer to the acknowledgement of its output */
    EK_TIMES
};

struct ek_lag {
    char topic[250];
    int partition;
    int64_t messages; /* behind the end; -1 unknown, then not shown */
};

struct ek_metrics *ek_metrics_new(void);
void ek_metrics_free(struct ek_metrics *m);

void ek_metrics_count(struct ek_metrics *m, enum ek_counter which, uint64_t more);
uint64_t ek_metrics_counter(const struct ek_metrics *m, enum ek_counter which);
void ek_metrics_gauge(struct ek_metrics *m, enum ek_gauge which, uint64_t value);
uint64_t ek_metrics_gauge_value(const struct ek_metrics *m, enum ek_gauge which);

/* Adds one message's time to a histogram. */
void ek_metrics_time_ns(struct ek_metrics *m, enum ek_time which, uint64_t ns);

/* Replaces the lags shown; EK_ENOMEM keeps the old ones. */
int ek_metrics_lags(struct ek_metrics *m, const struct ek_lag *lags, size_t count);
/* Sum of the lags; -1 while one is not known. */
int64_t ek_metrics_lag_sum(struct ek_metrics *m);

/* Appends everything in Prometheus' text format. */
int ek_metrics_write(struct ek_metrics *m, struct ek_buf *out);

/* Appends a text as it stands between the quotes of a label: backslash, quote and line end are
 * escaped, bytes that are no UTF-8 replaced by U+FFFD. */
int ek_metrics_label(const char *text, struct ek_buf *out);
/* The same of a segment: `all`, or dimension=value; value NULL: the pool. */
int ek_metrics_segment(const char *dimension, const char *value, struct ek_buf *out);
/* The head of a family of one series without labels, and its sample. */
int ek_metrics_single(const char *name, double value, struct ek_buf *out);

#endif
