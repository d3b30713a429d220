/* Alert registry: firing alerts, and ended alerts until all sinks have received the end.
 *
 * Built from events in order. Findings of one incident form one alert: it fires when the first is
 * confirmed and ends when the last has recovered or been dismissed. At most `limit` alerts; beyond,
 * an ended alert is evicted, delivered ends first, and if all fire the new alert is dropped. The
 * open findings are stored with their alert, since an evicted alert takes them along.
 * An alert without an end event (a limit) ends EK_ALERT_BRIEF_MS after its last event, once it
 * blocks no open finding.
 * now_ms is a monotonic clock, wall_ms the wall clock. Threads: one at a time.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_REGISTRY_H
#define EK_DAEMON_ALERTS_ALERT_REGISTRY_H

#include "daemon/alerts/alert.h"
#include "daemon/config/config.h"

#include <stddef.h>

enum { EK_ALERT_BRIEF_MS = 3600000 };

/* Last delivery of an alert to a sink (daemon/alerts/alerts.h). */
struct ek_alert_delivered {
    uint32_t revision; /* delivered revision; 0: none */
    bool firing;       /* as delivered */
    bool uncertain;    /* a later delivery failed and may have arrived */
    int64_t last_ms;   /* time of the delivery */
    int64_t failed_ms; /* time of the last failed one since then */
};

struct ek_alert_entry {
    struct ek_alert alert;
    uint32_t revision;   /* incremented by changes that need a notification; from 1 */
    bool ours;           /* sent by this instance; in a fleet by the leader */
    bool is_inherited;   /* began in an earlier process or on another instance */
    int64_t fired_ms;    /* start, monotonic */
    int64_t changed_ms;  /* last revision */
    int64_t received_ms; /* last event */
    int busy;            /* deliveries in flight; the entry must not be removed */
    struct ek_alert_delivered delivered[EK_ALERT_SINKS_MAX];
};

struct ek_alert_times {
    int64_t now_ms, wall_ms;
};

struct ek_alert_registry;

/* Create an empty registry of at most `limit` alerts. Return NULL if memory runs out. */
struct ek_alert_registry *ek_alert_registry_new(size_t limit);
void ek_alert_registry_free(struct ek_alert_registry *b);

/* Apply the update of an event, which is copied. ours: this instance sends it. replayed: the state
 * was open before a restart. Return 0, or EK_ENOMEM if the alert is dropped. */
int ek_alert_registry_add(struct ek_alert_registry *b, const struct ek_alert_update *n, bool ours,
                          bool replayed, struct ek_alert_times when);
/* Mark all alerts as sent by this instance. The previous leader may be gone without sending their
 * ends. */
void ek_alert_registry_become_leader(struct ek_alert_registry *b);
/* Start the replay of all open findings by ek_alert_registry_add. */
void ek_alert_registry_start_replay(struct ek_alert_registry *b);
/* Stop the replay. Findings that were not replayed have ended; a limit that blocks a replayed
 * finding continues. */
void ek_alert_registry_stop_replay(struct ek_alert_registry *b, struct ek_alert_times when);
/* End all alerts of the guard, because it was reset. */
void ek_alert_registry_reset(struct ek_alert_registry *b, struct ek_alert_times when);
/* End alerts without an end event EK_ALERT_BRIEF_MS after their last event. */
void ek_alert_registry_age(struct ek_alert_registry *b, struct ek_alert_times when);

/* Return the number of stored alerts. */
size_t ek_alert_registry_count(const struct ek_alert_registry *b);
/* Return alert `number`, 0 .. count - 1, which the registry owns. Valid until the alert is removed
 * or evicted; a busy alert is neither. */
struct ek_alert_entry *ek_alert_registry_get(struct ek_alert_registry *b, size_t number);
/* Remove and free alert `number`, which must not be busy; the last one gets its number. */
void ek_alert_registry_remove(struct ek_alert_registry *b, size_t number);
/* Return the number of evicted alerts, without dropped new ones. */
uint64_t ek_alert_registry_dropped_count(const struct ek_alert_registry *b);

#endif
