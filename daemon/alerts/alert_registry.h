/* The book of alerts: which fire, and which have ended and somebody has not been told so yet.
 *
 * Made of events, in their order. Findings of one cause are one alert: it fires with the first one
 * that is confirmed and ends with the last one that is recovered or dismissed. What is recalled
 * from a state goes on, it is no news. At most `limit` alerts; beyond that one that has ended goes,
 * of these what everybody knows first, and where all fire the newcomer is lost.
 * Its findings are those that an alert stands for, with that alert: one that was dropped for others
 * takes its findings along although they are open (so plan/open_findings.h does not serve).
 * An alert without an end of its own (a limit) ends EK_ALERT_BRIEF_MS after it was told last and no
 * open finding is held back by it.
 * Time: now_ms is a clock of this process that only rises; wall_ms that of the machine.
 * Owner: the caller. Threads: one at a time.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_REGISTRY_H
#define EK_DAEMON_ALERTS_ALERT_REGISTRY_H

#include "daemon/alerts/alert.h"
#include "daemon/alerts/alert_update.h"
#include "daemon/config/config_sinks.h"

#include <stddef.h>

enum { EK_ALERT_BRIEF_MS = 3600000 };

/* What a sink has been told of an alert (daemon/alerts/alert_delivery.h). */
struct ek_alert_delivered {
    uint32_t news;   /* of the alert, when it was told last; 0: never */
    bool firing;     /* it was told to fire */
    bool unsure;     /* telling it failed since; what seems lost may have arrived */
    int64_t last_ms; /* when it was told last */
};

struct ek_alert_entry {
    struct ek_alert alert;
    uint32_t news;      /* counts what is worth a message of its own; from 1 */
    bool ours;          /* it is for us to tell: in a fleet one instance does */
    bool old;           /* it was there before us: that it fires is no news */
    int64_t born_ms;    /* when it fired, by our clock */
    int64_t changed_ms; /* when the last news came */
    int64_t heard_ms;   /* when the last event came */
    int busy;           /* somebody is being told of it: it must stay */
    struct ek_alert_delivered told[EK_ALERT_SINKS_MAX];
};

struct ek_alert_times {
    int64_t now_ms, wall_ms;
};

struct ek_alert_registry;

struct ek_alert_registry *ek_alert_registry_new(size_t limit);
void ek_alert_registry_free(struct ek_alert_registry *b);

/* Takes what an event says. ours: it is for us to tell. recalled: it was so before. EK_ENOMEM: it
 * is lost. */
int ek_alert_registry_add(struct ek_alert_registry *b, const struct ek_alert_update *n, bool ours,
                          bool recalled, struct ek_alert_times when);
/* From here on all of it is for us to tell: whoever did is gone, and may not come to an end of it.
 */
void ek_alert_registry_become_leader(struct ek_alert_registry *b);
/* Between these all findings that are open are told again; those that are not have ended. A limit
 * that holds one of them back goes on with it. */
void ek_alert_registry_start_replay(struct ek_alert_registry *b);
void ek_alert_registry_stop_replay(struct ek_alert_registry *b, struct ek_alert_times when);
/* The guard has begun anew: whatever it had found has ended. */
void ek_alert_registry_reset(struct ek_alert_registry *b, struct ek_alert_times when);
/* Ends what has no end of its own. */
void ek_alert_registry_age(struct ek_alert_registry *b, struct ek_alert_times when);

size_t ek_alert_registry_count(const struct ek_alert_registry *b);
struct ek_alert_entry *ek_alert_registry_get(struct ek_alert_registry *b, size_t number);
/* Removes one that is not busy; the last one takes its number. */
void ek_alert_registry_remove(struct ek_alert_registry *b, size_t number);
/* Alerts that had to go for others because there were too many; newcomers are not among them. */
uint64_t ek_alert_registry_dropped_count(const struct ek_alert_registry *b);

#endif
