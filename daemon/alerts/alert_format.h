/* JSON of an alert for the sinks: Alertmanager API v2, Slack incoming webhooks, PagerDuty Events
 * API v2, and the generic format of docs/alerts.md.
 *
 * The identity is in labels (or the key), variable data in annotations (or the text). Functions
 * append to `out` and return 0 or EK_ENOMEM.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_FORMAT_H
#define EK_DAEMON_ALERTS_ALERT_FORMAT_H

#include "base/json.h"
#include "daemon/alerts/alert.h"

/* Fields that all alerts of a service share. */
struct ek_alert_context {
    const char *service;
    const char *page;    /* public URL of the pages; NULL: none */
    const char *runbook; /* URL or path of docs/runbooks.md; NULL: none */
};

/* Append a firing or resolved alert. now_ms: wall clock; until_ms: endsAt of a firing alert, which
 * then resolves unless repeated. Return 0 or EK_ENOMEM. */
int ek_alert_alertmanager(struct ek_buf *out, const struct ek_alert_context *context,
                          const struct ek_alert *a, int64_t now_ms, int64_t until_ms);
/* Append a message of text and blocks. Return 0 or EK_ENOMEM. */
int ek_alert_slack(struct ek_buf *out, const struct ek_alert_context *context,
                   const struct ek_alert *a);
/* Append a trigger or resolve event for the service of `routing_key`. Return 0 or EK_ENOMEM. */
int ek_alert_pagerduty(struct ek_buf *out, const struct ek_alert_context *context,
                       const struct ek_alert *a, const char *routing_key);
/* Append the object of docs/alerts.md. Return 0 or EK_ENOMEM. */
int ek_alert_generic(struct ek_buf *out, const struct ek_alert_context *context,
                     const struct ek_alert *a);

enum { EK_ALERT_LINK_BYTES = 1200 };

/* Write the URL of the feature's page; "" without a public URL. */
void ek_alert_page_url(const struct ek_alert_context *context, const struct ek_alert *a,
                       char out[EK_ALERT_LINK_BYTES]);

#endif
