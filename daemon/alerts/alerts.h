/* Alert service, which sends alerts to all configured sinks over HTTP on a separate thread, and its
 * delivery queue, which selects the next update for each sink.
 *
 * Events are queued without waiting, so sinks delay neither the stage nor each other. Registry
 * (daemon/alerts/alert_registry.h) and delivery queue belong to the thread. At most
 * EK_ALERTS_INTAKE_MAX events of EK_ALERTS_INTAKE_BYTES_MAX bytes are queued; others are dropped,
 * logged and counted. All functions accept NULL: no alerts. Configuration and log must outlive the
 * service. Threads: any, except _new, _start, _stop and _free. The internal lock is a leaf.
 */
#ifndef EK_DAEMON_ALERTS_ALERTS_H
#define EK_DAEMON_ALERTS_ALERTS_H

#include "base/buf.h"
#include "daemon/alerts/alert_registry.h"
#include "daemon/config/config.h"

#include <stdbool.h>

enum {
    EK_ALERTS_INTAKE_MAX = 8192,
    EK_ALERTS_INTAKE_BYTES_MAX = 16 << 20,
    EK_ALERTS_DRAIN_MS = 1000
};

struct ek_alerts;
struct ek_event;
struct ek_log;

/* Create the service, or set *out to NULL if there are no sinks. `c` and `log` must outlive it.
 * Events are queued until ek_alerts_start. Return 0 or EK_ENOMEM. */
int ek_alerts_new(struct ek_alerts **out, const struct ek_config *c, struct ek_log *log,
                  struct ek_error *e);
/* Set the name of this fleet instance, which is copied, for alerts about one instance. Call before
 * the start. */
void ek_alerts_set_instance(struct ek_alerts *a, const char *instance);
/* Start the thread, which sends the queued events. Return 0, or EK_EIO if it does not start. */
int ek_alerts_start(struct ek_alerts *a, struct ek_error *e);
/* Begin shutdown without waiting: all updates are sent at once. Events are accepted until
 * ek_alerts_stop. */
void ek_alerts_finish(struct ek_alerts *a);
/* Stop, and wait until all alerts are sent, for at most EK_ALERTS_DRAIN_MS and until
 * service.shutdown_timeout after ek_alerts_finish. Later events are not sent. */
void ek_alerts_stop(struct ek_alerts *a);
/* Free the service, after ek_alerts_stop. NULL is allowed. */
void ek_alerts_free(struct ek_alerts *a);

/* Queue a copy of an event, without waiting. ours: this instance sends its alert. Events without an
 * alert are ignored. Without memory or space the event is dropped, logged and counted. */
void ek_alerts_receive(struct ek_alerts *a, const struct ek_event *v, bool ours);
/* Queue a copy of an event of the replay of open findings; ours: as in ek_alerts_receive. Return 0,
 * also for an event without an alert, or EK_ENOMEM if it is dropped. */
int ek_alerts_replay(struct ek_alerts *a, const struct ek_event *v, bool ours);
/* Changes that are no events. */
enum ek_alerts_change {
    EK_ALERTS_REPLAY_STARTED, /* of the open findings of a checkpoint: alerts keep their state */
    EK_ALERTS_REPLAY_ENDED,   /* alerts of findings that it did not contain end */
    EK_ALERTS_GUARD_RESET,    /* all alerts of the guard end */
    EK_ALERTS_NEW_LEADER,     /* this instance sends the fleet's alerts */
    EK_ALERTS_CHANGES
};

/* Queue a change. */
void ek_alerts_report(struct ek_alerts *a, enum ek_alerts_change change);

/* Append the metric families. Return 0 or EK_ENOMEM. */
int ek_alerts_metrics(struct ek_alerts *a, struct ek_buf *out);

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
 * now_ms is a monotonic clock. Threads: one at a time. */
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

/* Return the alert to send to a sink, longest due first, and mark the sink busy. Return NULL if
 * none is due, the sink is busy, or it backs off after a failure. The registry owns the entry, and
 * keeps it until ek_alert_queue_finish for this sink; its content changes with events. */
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
