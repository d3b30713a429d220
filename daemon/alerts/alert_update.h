/* Alert news: what an event (guard/event.h) means for alerts.
 *
 * Pure; texts that are too long are cut. Threads: any.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_UPDATE_H
#define EK_DAEMON_ALERTS_ALERT_UPDATE_H

#include "daemon/alerts/alert.h"
#include "guard/event.h"

enum ek_alert_update_kind {
    EK_ALERT_NO_UPDATE,
    EK_ALERT_FIRES,         /* the alert as it is from now on */
    EK_ALERT_ENDS,          /* the alert of this kind, feature, segment and limit */
    EK_ALERT_FINDING_OPEN,  /* a finding is confirmed; the alert is that of its cause */
    EK_ALERT_FINDING_CLOSED /* recovered or dismissed */
};

struct ek_alert_update {
    enum ek_alert_update_kind what;
    struct ek_alert alert;
    /* Of a finding; limit: what keeps it from being routed, else "". */
    uint32_t episode, cause; /* cause 0: none */
    char limit[EK_ALERT_NAME_TEXT_BYTES];
};

void ek_alert_read(struct ek_alert_update *out, const struct ek_event *v);

#endif
