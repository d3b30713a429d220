/* Fleet status of this instance: events of stale plans and duplicate names, metrics, JSON.
 *
 * Times are from one monotonic clock. Threads: that of the fleet.
 */
#ifndef EK_DAEMON_FLEET_FLEET_STATUS_H
#define EK_DAEMON_FLEET_FLEET_STATUS_H

#include "base/buf.h"
#include "daemon/config/config.h"
#include "daemon/guard/guard_service.h"
#include "daemon/kafka/fleet_topics.h"
#include "fleet/pool.h"
#include "schema/manifest.h"

/* Outputs of events and warnings. */
struct ek_fleet_event_sink {
    struct ek_guard_service *guard;
    struct ek_log *log;
};

enum ek_fleet_change {
    EK_CHANGE_PLAN_STALE,
    EK_CHANGE_PLAN_RECOVERED,
    EK_CHANGE_DUPLICATE_INSTANCE,
    EK_CHANGE_INSTANCE_UNIQUE
};

/* Pass an event (docs/format/events.md) about an instance to the sink. A dropped event is logged.
 */
void ek_fleet_report_change(const struct ek_fleet_event_sink *m, const char *instance,
                            enum ek_fleet_change change);

/* Duplicate names: names of two processes each. The reports of one of them are dropped. Zero is the
 * initial state. */
struct ek_fleet_names {
    int shared;                           /* number at the last check */
    char reported[EK_FLEET_NAME_MAX + 1]; /* name with an open event; "": none */
    int64_t reported_ms;                  /* last time that it was a duplicate */
    int64_t warned_ms;
};

/* Check the pool of the leader for duplicate names; pool NULL: this instance is no leader. Each
 * name is logged, once a minute; one at a time has an event, which ends when the name was no
 * duplicate for EK_FLEET_EXPIRED_MS, since a new pool has not received both processes yet. */
void ek_fleet_names_check(struct ek_fleet_names *n, const struct ek_fleet_pool *pool,
                          int64_t now_ms, const struct ek_fleet_event_sink *m);

/* Values of status and metrics. */
struct ek_fleet_metrics_values {
    char name[EK_INSTANCE_BYTES]; /* of this instance; "": not known yet */
    struct ek_guard_service_fleet status;
    int64_t age_ms; /* of the plan; without one, since the first list */
    bool cut_off, is_leader;
    int instances, shared;              /* known to the leader; duplicate names */
    struct ek_fleet_pool_counts counts; /* reports received by the leader */
    struct ek_fleet_traffic traffic;
};

/* Append the status as a JSON object. Return 0 or EK_ENOMEM. */
int ek_fleet_metrics_json(const struct ek_fleet_metrics_values *f, struct ek_buf *out);
/* Append the metric families. Return 0 or EK_ENOMEM. */
int ek_fleet_metrics_write(const struct ek_fleet_metrics_values *f, struct ek_buf *out);

/* Append the pins of a plan record as a JSON array, in the format of ek_guard_pins_json. Return 0,
 * EK_EFORMAT for an invalid record, or EK_ENOMEM. */
int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out);
/* Append the accepted shifts of a plan record as a JSON array, in the format of
 * ek_guard_accepts_json. Return 0, EK_EFORMAT for an invalid record, or EK_ENOMEM. */
int ek_fleet_accepts_json(const void *bytes, size_t length, const struct ek_manifest *m,
                          struct ek_buf *out);

#endif
