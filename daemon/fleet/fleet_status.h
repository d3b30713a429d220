/* What is told of the instances of a fleet beside figures: whether one hears the plan, and names
 * that two processes go by, of which one is not listened to. Times are of one clock. Threads: that
 * of the fleet.
 */
#ifndef EK_DAEMON_FLEET_FLEET_STATUS_H
#define EK_DAEMON_FLEET_FLEET_STATUS_H

#include "base/buf.h"
#include "daemon/config/instance.h"
#include "daemon/guard/guard_service.h"
#include "daemon/kafka/fleet_topics.h"
#include "fleet/pool.h"
#include "schema/manifest.h"

/* Where events and warnings go. */
struct ek_fleet_event_sink {
    struct ek_guard_service *guard;
    struct ek_log *log;
};

enum ek_fleet_change {
    EK_CHANGE_PLAN_STALE,
    EK_CHANGE_PLAN_RECOVERED,
    EK_CHANGE_NAME_SHARED,
    EK_CHANGE_NAME_FREE
};

/* An event (docs/format/events.md) of that instance; one that is lost is told in the log. */
void ek_fleet_report_change(const struct ek_fleet_event_sink *m, const char *instance,
                            enum ek_fleet_change change);

/* Names that two processes go by. Value type; begin with all 0. */
struct ek_fleet_names {
    int shared;                       /* at the last look */
    char told[EK_FLEET_NAME_MAX + 1]; /* of which the event was told; "": none */
    int64_t told_ms;                  /* the last time that it was seen shared */
    int64_t warned_ms;
};

/* pool: of who decides, NULL: this instance does not. Each name is told in the log, once in a
 * while; of several names one at a time is an event, the next when that one is free. It is when it
 * was not seen shared for EK_FLEET_EXPIRED_MS: a pool that is new, or none, has not seen it yet. */
void ek_fleet_names_check(struct ek_fleet_names *n, const struct ek_fleet_pool *pool,
                          int64_t now_ms, const struct ek_fleet_event_sink *m);

/* How this instance stands in its fleet, for people: an object of the status, series for /metrics.
 * Value type. */
struct ek_fleet_metrics_values {
    char name[EK_INSTANCE_BYTES]; /* of this instance; "": nothing is known yet */
    struct ek_guard_service_fleet heard;
    int64_t age_ms; /* of the plan; since lists came where none was heard */
    bool cut_off, decides;
    int instances, shared; /* heard of by who decides; names that two processes go by */
    struct ek_fleet_pool_counts counts; /* of records taken by it */
    struct ek_fleet_traffic traffic;
};

int ek_fleet_metrics_json(const struct ek_fleet_metrics_values *f, struct ek_buf *out);
int ek_fleet_metrics_write(const struct ek_fleet_metrics_values *f, struct ek_buf *out);

/* What people have said that stands in the plan of a fleet, for who shows it. */
/* Append the pins, or the accepts, of a plan record as a JSON array, as ek_guard_pins_json and
 * ek_guard_accepts_json do. EK_EFORMAT, EK_ENOMEM. */
int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out);
int ek_fleet_accepts_json(const void *bytes, size_t length, const struct ek_manifest *m,
                          struct ek_buf *out);

#endif
