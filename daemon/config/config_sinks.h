/* HTTP alert sinks: elements of `alerts` in the configuration, except Kafka, of which there is
 * one. */
#ifndef EK_DAEMON_CONFIG_CONFIG_SINKS_H
#define EK_DAEMON_CONFIG_CONFIG_SINKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_config;

enum ek_sink_kind { EK_SINK_ALERTMANAGER, EK_SINK_WEBHOOK, EK_SINK_PAGERDUTY, EK_SINK_KINDS };
enum ek_sink_format { EK_FORMAT_GENERIC, EK_FORMAT_SLACK };
enum { EK_SINK_LABEL_BYTES = 24, EK_SINK_SECTION_BYTES = 32, EK_ALERT_SINKS_MAX = 16 };
/* Values of `severity`, in the order of enum ek_alert_severity. */
#define EK_ALERT_SEVERITY_NAMES "info warning critical"

struct ek_alert_sink {
    enum ek_sink_kind kind;
    char *url, *token, *ca_file, *routing_key; /* NULL: none; all but ca_file are secrets */
    int64_t format;                            /* enum ek_sink_format */
    int64_t severity;                          /* enum ek_alert_severity, minimum */
    int64_t repeat_ms;
    char label[EK_SINK_LABEL_BYTES]; /* "webhook"; "webhook-2" for the second */
    long line, column;               /* of the element */
};

struct ek_alert_sinks {
    struct ek_alert_sink *items;
    size_t count;
};

/* Return the kind with this key, or EK_SINK_KINDS. */
enum ek_sink_kind ek_sink_get_kind(const char *word);
/* Write the section of a kind, such as "alerts.webhook". */
void ek_sink_section(enum ek_sink_kind kind, char section[EK_SINK_SECTION_BYTES]);

/* Check a sink against the others, set its label and append it. Returns 0, EK_ECONFIG or EK_ENOMEM;
 * on failure the caller keeps it. */
int ek_config_add_sink(struct ek_config *c, struct ek_alert_sink *s, struct ek_error *e);
void ek_config_sinks_clear(struct ek_config *c);
bool ek_config_sinks_same(const struct ek_alert_sinks *a, const struct ek_alert_sinks *b);

#endif
