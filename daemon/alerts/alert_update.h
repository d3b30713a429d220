/* Alert update: the effect of a guard event (guard/event.h) on alerts. */
#ifndef EK_DAEMON_ALERTS_ALERT_UPDATE_H
#define EK_DAEMON_ALERTS_ALERT_UPDATE_H

#include "daemon/alerts/alert.h"
#include "guard/event.h"

enum ek_alert_update_kind {
    EK_ALERT_NO_UPDATE,
    EK_ALERT_FIRES,         /* `alert` is the new state */
    EK_ALERT_ENDS,          /* of kind, feature, segment and limit */
    EK_ALERT_FINDING_OPEN,  /* confirmed; `alert` is that of its incident */
    EK_ALERT_FINDING_CLOSED /* recovered or dismissed */
};

struct ek_alert_update {
    enum ek_alert_update_kind what;
    struct ek_alert alert;
    /* Of a finding. limit: blocks its action; "": none. */
    uint32_t episode, cause; /* cause 0: none */
    char limit[EK_ALERT_NAME_TEXT_BYTES];
};

/* Set *out from an event. Strings that are too long are cut. */
void ek_alert_update_read(struct ek_alert_update *out, const struct ek_event *v);

#endif
