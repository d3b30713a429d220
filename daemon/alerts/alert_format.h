/* An alert in the words of those who take it, as JSON.
 *
 * Who it is stands in labels (or the key), what changes in annotations (or the text). Formats:
 * Alertmanager's API v2, Slack's incoming webhooks, PagerDuty's Events API v2, and a plain one of
 * our own (docs/alerts.md). Pure. EK_ENOMEM. Threads: any.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_FORMAT_H
#define EK_DAEMON_ALERTS_ALERT_FORMAT_H

#include "base/json.h"
#include "daemon/alerts/alert.h"

/* What is the same for all alerts of a service. */
struct ek_alert_context {
    const char *service;
    const char *page;    /* where people reach our pages; NULL: nowhere */
    const char *runbook; /* where docs/runbooks.md is to be found */
};

/* now_ms: the clock of the machine; until_ms: after that it is over unless it is told again. */
int ek_alert_alertmanager(struct ek_buf *out, const struct ek_alert_context *about,
                          const struct ek_alert *a, int64_t now_ms, int64_t until_ms);
int ek_alert_slack(struct ek_buf *out, const struct ek_alert_context *about,
                   const struct ek_alert *a);
int ek_alert_pagerduty(struct ek_buf *out, const struct ek_alert_context *about,
                       const struct ek_alert *a, const char *routing_key);
int ek_alert_generic(struct ek_buf *out, const struct ek_alert_context *about,
                     const struct ek_alert *a);

/* Members that the formats of alerts share. */
enum { EK_ALERT_LINK_BYTES = 1200 };

/* Our page about the alert, "" where there is none; the place in the runbook. */
void ek_alert_page(const struct ek_alert_context *about, const struct ek_alert *a,
                   char out[EK_ALERT_LINK_BYTES]);

#endif
