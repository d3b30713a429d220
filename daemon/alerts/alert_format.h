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
struct ek_alert_about {
    const char *service;
    const char *page;    /* where people reach our pages; NULL: nowhere */
    const char *runbook; /* where docs/runbooks.md is to be found */
};

/* now_ms: the clock of the machine; until_ms: after that it is over unless it is told again. */
int ek_alert_alertmanager(struct ek_buf *out, const struct ek_alert_about *about,
                          const struct ek_alert *a, int64_t now_ms, int64_t until_ms);
int ek_alert_slack(struct ek_buf *out, const struct ek_alert_about *about,
                   const struct ek_alert *a);
int ek_alert_pagerduty(struct ek_buf *out, const struct ek_alert_about *about,
                       const struct ek_alert *a, const char *routing_key);
int ek_alert_generic(struct ek_buf *out, const struct ek_alert_about *about,
                     const struct ek_alert *a);

/* Members that the formats of alerts share. */
enum { EK_ALERT_LINK_BYTES = 1200 };

/* Add a text, unless it is empty. */
void ek_alert_pair(struct ek_json_writer *w, const char *key, const char *text);
/* Add a number, unless it is not finite; as text for formats that have texts only. */
void ek_alert_number(struct ek_json_writer *w, const char *key, double value);
void ek_alert_number_text(struct ek_json_writer *w, const char *key, double value);
void ek_alert_time(struct ek_json_writer *w, const char *key, int64_t time_ms);
/* Add feature, segment, class, limit and instance, as far as the alert has them. */
void ek_alert_identity(struct ek_json_writer *w, const struct ek_alert *a);
/* Our page about the alert, "" where there is none; the place in the runbook. */
void ek_alert_page(const struct ek_alert_about *about, const struct ek_alert *a,
                   char out[EK_ALERT_LINK_BYTES]);
void ek_alert_runbook(const struct ek_alert_about *about, const struct ek_alert *a,
                      char out[EK_ALERT_LINK_BYTES]);

#endif
