/* Delivery queue of alerts: the next update for each sink, and when it is due.
 *
 * It stores no messages but reads the registry, so a sink always receives the current state.
 *  - A new alert waits `wait_ms` for others of its incident, an end equally long for a relapse.
 *  - Updates of a delivered alert are at least EK_ALERT_PACE_MS apart.
 *  - A firing alert is repeated every repeat_ms.
 *  - A failed delivery may have arrived, so the current state is sent afterwards, even if
 * unchanged.
 *  - A sink has one delivery in flight. Failures are retried with exponential backoff up to
 *    EK_ALERT_BACK_OFF_MAX_MS, or after its Retry-After; a refused update is not sent again.
 * now_ms is a monotonic clock. Threads: one at a time.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_DELIVERY_H
#define EK_DAEMON_ALERTS_ALERT_DELIVERY_H

#include "daemon/alerts/alert_registry.h"

enum {
    EK_ALERT_PACE_MS = 60000,
    EK_ALERT_BACK_OFF_MAX_MS = 60000,
    EK_ALERT_RETRY_AFTER_MAX_MS = 600000
};

struct ek_alert_rule {
    enum ek_alert_severity min_severity; /* lower severities are not sent */
    bool deduplicates; /* by identity, so alerts of an earlier process are sent again */
    int64_t repeat_ms; /* 0: never */
};

enum ek_alert_result { EK_ALERT_SENT, EK_ALERT_FAILED, EK_ALERT_REFUSED, EK_ALERT_RESULTS };

struct ek_alert_queue;

/* Create a queue for a registry, which must outlive it; rules [sinks] are copied. Return NULL if
 * memory runs out. */
struct ek_alert_queue *ek_alert_queue_new(struct ek_alert_registry *book,
                                          const struct ek_alert_rule *rules, size_t sinks,
                                          int64_t wait_ms);
void ek_alert_queue_free(struct ek_alert_queue *q);

/* Return the alert to send to a sink, longest due first, and mark the sink busy until
 * ek_alert_queue_finish. Return NULL if none is due or the sink is busy. The entry is valid until
 * the registry changes. */
const struct ek_alert_entry *ek_alert_queue_next(struct ek_alert_queue *q, size_t sink,
                                                 int64_t now_ms);
/* Send all updates without waiting for others of their incident or a relapse. For shutdown: the
 * next process considers open alerts delivered. */
void ek_alert_queue_skip_waits(struct ek_alert_queue *q);
/* Set the result of the delivery in flight to a sink, which is then free. retry_after_ms: delay
 * that the sink asked for, 0: none. */
void ek_alert_queue_finish(struct ek_alert_queue *q, size_t sink, enum ek_alert_result result,
                           int64_t retry_after_ms, int64_t now_ms);
/* Return the milliseconds until the next update is due: 0 if one is, -1 if there is none. */
int64_t ek_alert_queue_wait_ms(struct ek_alert_queue *q, int64_t now_ms);
/* Remove alerts from the registry that ended `wait_ms` ago, if all sinks have received the end. */
void ek_alert_queue_remove_ended(struct ek_alert_queue *q, int64_t now_ms);

struct ek_alert_backlog {
    size_t waiting;    /* due updates over all sinks, without repetitions */
    int64_t oldest_ms; /* time since the oldest was due */
};
/* Return the number of undelivered updates and the age of the oldest. */
struct ek_alert_backlog ek_alert_queue_backlog(struct ek_alert_queue *q, int64_t now_ms);

#endif
