/* HTTP delivery of alerts: request for each kind of sink, JSON in the format of the sink,
 * classification of responses, and test alerts. */
#ifndef EK_DAEMON_ALERTS_HTTP_DELIVERY_H
#define EK_DAEMON_ALERTS_HTTP_DELIVERY_H

#include "base/json.h"
#include "daemon/alerts/alert.h"
#include "daemon/alerts/alerts.h"
#include "daemon/base/http_client.h"
#include "daemon/config/config.h"

#include <stdio.h>

/* A firing alert expires after this many repeat intervals. */
enum { EK_ALERT_UNCHANGED = 4 };

/* Return the delivery rule of a configured sink. */
struct ek_alert_rule ek_alert_get_rule(const struct ek_alert_sink *s);
/* Start a request to sink number `sink` of `c->sinks`, in the client's slot with that number, which
 * must be free. The alert is not kept. Return 0, or EK_ENOMEM with the slot free. */
int ek_alert_send(struct ek_http *h, const struct ek_config *c, size_t sink,
                  const struct ek_alert *a, int64_t wall_ms);
/* Return the result of a delivery: SENT for 2xx; FAILED, to retry, for no response, 408, 429 and
 * 5xx; REFUSED for other statuses. */
enum ek_alert_result ek_alert_check_response(const struct ek_http_response *response);
/* Write a response for the log, as one line. Its text is replaced if it contains a secret of the
 * sink. */
void ek_alert_format_response(const struct ek_alert_sink *s,
                              const struct ek_http_response *response,
                              char out[EK_HTTP_START_BYTES]);

/* Send a firing and a resolved test alert to each sink and print one line for each. Return 0,
 * EK_EIO if a sink did not accept one, or EK_ECONFIG without sinks. */
int ek_alert_send_test(const struct ek_config *c, FILE *to, struct ek_error *e);

/* JSON of an alert for the sinks: Alertmanager API v2, Slack incoming webhooks, PagerDuty Events
 * API v2, and the generic format of docs/alerts.md.
 *
 * The identity is in labels (or the key), variable data in annotations (or the text). Functions
 * append to `out` and return 0 or EK_ENOMEM. */

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
/* Append a Slack message of text and blocks. Return 0 or EK_ENOMEM. */
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
