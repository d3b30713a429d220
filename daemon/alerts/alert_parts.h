/* What the formats of alerts are put together from. */
#ifndef EK_DAEMON_ALERT_PARTS_H
#define EK_DAEMON_ALERT_PARTS_H

#include "daemon/alerts/alert_format.h"

enum { EK_ALERT_LINK_BYTES = 1200 };

/* Appends "key":"text", behind a comma where something stands before it; nothing for "". */
int ek_alert_pair(struct ek_buf *out, const char *key, const char *text);
/* The same with a number as text, for formats that know texts only; nothing for NaN. */
int ek_alert_number_text(struct ek_buf *out, const char *key, double value);
/* And as a number. */
int ek_alert_number(struct ek_buf *out, const char *key, double value);
int ek_alert_time(struct ek_buf *out, const char *key, int64_t time_ms);
/* Opens "key":{ or "key":[ (key NULL: without one), behind a comma where there is something. */
int ek_alert_open(struct ek_buf *out, const char *key, char bracket);

/* Feature, segment, class, limit, instance: what there is. */
int ek_alert_identity(struct ek_buf *out, const struct ek_alert *a);
/* Our page about the alert, "" where there is none; the place in the runbook. */
void ek_alert_page(const struct ek_alert_about *about, const struct ek_alert *a,
                   char out[EK_ALERT_LINK_BYTES]);
void ek_alert_runbook(const struct ek_alert_about *about, const struct ek_alert *a,
                      char out[EK_ALERT_LINK_BYTES]);

#endif
