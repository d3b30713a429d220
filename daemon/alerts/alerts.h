/* Alert service: sends alerts to all configured sinks over HTTP, on a separate thread.
 *
 * Events are queued without waiting, so sinks delay neither the stage nor each other. Registry
 * (daemon/alerts/alert_registry.h) and delivery queue (daemon/alerts/alert_delivery.h) belong to
 * the thread. At most EK_ALERTS_INTAKE_MAX events of EK_ALERTS_INTAKE_BYTES_MAX bytes are queued;
 * others are dropped, logged and counted. All functions accept NULL: no alerts. Configuration and
 * log must outlive it. Threads: any, except _new, _start, _stop and _free. The internal lock is a
 * leaf.
 */
#ifndef EK_DAEMON_ALERTS_ALERTS_H
#define EK_DAEMON_ALERTS_ALERTS_H

#include "base/buf.h"
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

/* Create the service, or set *out to NULL if there are no sinks. Events are queued until
 * ek_alerts_start. Return 0 or EK_ENOMEM. */
int ek_alerts_new(struct ek_alerts **out, const struct ek_config *c, struct ek_log *log,
                  struct ek_error *e);
/* Set the name of this fleet instance, for alerts about one instance. Call before the start. */
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
 * alert are ignored. */
void ek_alerts_receive(struct ek_alerts *a, const struct ek_event *v, bool ours);
/* Begin a replay of the open findings of a checkpoint. Alerts keep their state until it ends. */
void ek_alerts_start_replay(struct ek_alerts *a);
/* Queue an event of the replay, as ek_alerts_receive. Return 0, or EK_ENOMEM if it is dropped. */
int ek_alerts_replay(struct ek_alerts *a, const struct ek_event *v, bool ours);
/* Finish the replay: alerts of findings that it did not contain end. */
void ek_alerts_stop_replay(struct ek_alerts *a);
/* Send the fleet's alerts from this instance, because it is the new leader. */
void ek_alerts_become_leader(struct ek_alerts *a);
/* End all alerts of the guard, because it was reset. */
void ek_alerts_reset(struct ek_alerts *a);

/* Append the metric families. Return 0 or EK_ENOMEM. */
int ek_alerts_metrics(struct ek_alerts *a, struct ek_buf *out);

#endif
