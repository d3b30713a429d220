/* What an event (docs/format/events.md) says about an alert.
 *
 * Pure; texts that are too long are cut. Threads: any.
 */
#ifndef EK_DAEMON_ALERT_READ_H
#define EK_DAEMON_ALERT_READ_H

#include "daemon/alerts/alert.h"

enum ek_alert_news_what {
    EK_ALERT_NO_NEWS,
    EK_ALERT_FIRES,         /* the alert as it is from now on */
    EK_ALERT_ENDS,          /* the alert of this kind, feature, segment and limit */
    EK_ALERT_FINDING_OPEN,  /* a finding is confirmed; the alert is that of its cause */
    EK_ALERT_FINDING_CLOSED /* recovered or dismissed */
};

struct ek_alert_news {
    enum ek_alert_news_what what;
    struct ek_alert alert;
    /* Of a finding; limit: what keeps it from being routed, else "". */
    char episode[EK_ALERT_NAME_BYTES + 16], cause[EK_ALERT_WORD_BYTES], limit[EK_ALERT_WORD_BYTES];
};

/* True when it is one that alerts are made of, by its first bytes. */
bool ek_alert_concerns(const char *json);
/* EK_EFORMAT: no JSON object. EK_ENOMEM. */
int ek_alert_read(struct ek_alert_news *out, const char *json);

#endif
