/* Members that the formats of alerts share. */
#ifndef EK_DAEMON_ALERT_PARTS_H
#define EK_DAEMON_ALERT_PARTS_H

#include "base/json.h"
#include "daemon/alerts/alert_format.h"

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
