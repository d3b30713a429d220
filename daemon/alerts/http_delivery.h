/* HTTP delivery of alerts: request for each kind of sink, classification of responses. */
#ifndef EK_DAEMON_ALERTS_HTTP_DELIVERY_H
#define EK_DAEMON_ALERTS_HTTP_DELIVERY_H

#include "daemon/alerts/alert_delivery.h"
#include "daemon/base/http_client.h"
#include "daemon/config/config.h"

#include <stdio.h>

/* A firing alert expires after this many repeat intervals. */
enum { EK_ALERT_UNCHANGED = 4 };

/* Return the delivery rule of a configured sink. */
struct ek_alert_rule ek_alert_get_rule(const struct ek_alert_sink *s);
/* Start a request to sink number `sink` of `c->sinks`, in the client's slot with that number.
 * Return 0 or EK_ENOMEM. */
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

#endif
