/* Alerts over HTTP: events in, on any thread and without waiting; out of a thread of its own to all
 * sinks of the configuration.
 *
 * What a sink does, or does not, holds up neither who tells an event nor the other sinks. The book
 * (daemon/alerts/alert_registry.h) and the queue (daemon/alerts/alert_delivery.h) belong to that
 * thread; what comes waits for it, at most EK_ALERTS_INTAKE_MAX events of
 * EK_ALERTS_INTAKE_BYTES_MAX bytes. All functions take NULL for alerts that nobody wants. Owner:
 * the caller; configuration and log must outlive it. Threads: any, but for _new, _start, _stop and
 * _free. The lock inside is a leaf.
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

/* *out NULL: the configuration has no sinks. Nothing is sent before ek_alerts_start. */
int ek_alerts_new(struct ek_alerts **out, const struct ek_config *c, struct ek_log *log,
                  struct ek_error *e);
/* Before the start: the name of this instance in its fleet, for what each has of its own. a may be
 * NULL. */
void ek_alerts_has_profile(struct ek_alerts *a, const char *instance);
int ek_alerts_start(struct ek_alerts *a, struct ek_error *e);
/* The process ends: from now on nothing waits to be told. What is heard until ek_alerts_stop is
 * still taken. Does not wait. */
void ek_alerts_finish(struct ek_alerts *a);
/* The same, and waits until all is told, for at most EK_ALERTS_DRAIN_MS and until
 * service.shutdown_timeout after ek_alerts_finish. What is heard from then on is not told. */
void ek_alerts_stop(struct ek_alerts *a);
void ek_alerts_free(struct ek_alerts *a);

/* Takes an event. ours: it is for this instance to tell of it. */
void ek_alerts_receive(struct ek_alerts *a, const struct ek_event *v, bool ours);
/* What was open when the state was written goes on: what is told in between, and nothing else, is
 * open. EK_ENOMEM: it is lost. */
void ek_alerts_start_replay(struct ek_alerts *a);
int ek_alerts_replay(struct ek_alerts *a, const struct ek_event *v, bool ours);
void ek_alerts_stop_replay(struct ek_alerts *a);
/* In a fleet: the instance that told of alerts is another one no more, but this one. */
void ek_alerts_become_leader(struct ek_alerts *a);
/* The guard has begun anew: whatever it had found has ended. */
void ek_alerts_reset(struct ek_alerts *a);

/* Appends the families of /metrics. EK_ENOMEM. */
int ek_alerts_metrics(struct ek_alerts *a, struct ek_buf *out);

#endif
