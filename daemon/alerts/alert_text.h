/* The sentences of an alert: what somebody understands who was asleep a minute ago.
 *
 * Pure. Threads: any.
 */
#ifndef EK_DAEMON_ALERT_TEXT_H
#define EK_DAEMON_ALERT_TEXT_H

#include "daemon/alerts/alert.h"

/* What an event of a finding says besides. Texts "" when it does not. */
struct ek_alert_finding {
    const char *action, *mode, *limit; /* limit: which keeps the action back */
    const char *text;                  /* the event's own sentence */
    const char *query_feature;         /* the factor is the value of this one */
    double exponent, spread_ratio;
};

/* Writes summary (the feature stands before it), evidence and action of a drift, by the rest. */
void ek_alert_tell_drift(struct ek_alert *a, const struct ek_alert_finding *f);
/* Of all other kinds: action, and a summary behind which `detail` stands, the evidence. */
void ek_alert_tell_other(struct ek_alert *a, const char *detail);

#endif
