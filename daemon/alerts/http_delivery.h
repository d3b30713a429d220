/* What goes to a sink over HTTP for an alert, and what its answer means. Threads: any. */
#ifndef EK_DAEMON_ALERTS_HTTP_DELIVERY_H
#define EK_DAEMON_ALERTS_HTTP_DELIVERY_H

#include "daemon/alerts/alert_delivery.h"
#include "daemon/base/http_client.h"
#include "daemon/config/config.h"

#include <stdio.h>

/* How long an alert stays that fires, in repetitions. */
enum { EK_ALERT_UNCHANGED = 4 };

struct ek_alert_rule ek_alert_get_rule(const struct ek_alert_sink *s);
/* Begins to tell the sink, through the slot of its number among `c->sinks`. EK_ENOMEM. */
int ek_alert_post(struct ek_http *h, const struct ek_config *c, size_t sink,
                  const struct ek_alert *a, int64_t wall_ms);
enum ek_alert_result ek_alert_check_response(const struct ek_http_response *answer);
/* What may be shown of what was answered: nothing where a secret of the sink is in it, one line. */
void ek_alert_format_response(const struct ek_alert_sink *s, const struct ek_http_response *answer,
                              char out[EK_HTTP_START_BYTES]);

/* A try of every sink: an alert that fires and one that ends, so that somebody sees them arrive. */
/* Writes a line for each. EK_EIO: one of them did not take it; EK_ECONFIG: there are none. */
int ek_alert_send_test(const struct ek_config *c, FILE *to, struct ek_error *e);

#endif
