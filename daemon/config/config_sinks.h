/* Where alerts go over HTTP: the elements of `alerts` in the configuration, but for Kafka, of which
 * there is one.
 *
 * An element is read into the configuration's `sink`, by the option table, and then put behind the
 * others. Owner: the configuration. Threads: as that.
 */
#ifndef EK_DAEMON_CONFIG_SINKS_H
#define EK_DAEMON_CONFIG_SINKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_config;
struct ek_option;

enum ek_sink_kind { EK_SINK_ALERTMANAGER, EK_SINK_WEBHOOK, EK_SINK_PAGERDUTY, EK_SINK_KINDS };
enum ek_sink_format { EK_FORMAT_GENERIC, EK_FORMAT_SLACK };
enum { EK_SINK_LABEL_BYTES = 24, EK_ALERT_SINKS_MAX = 16 };
/* The values of `severity`, in the order of enum ek_alert_severity. */
#define EK_ALERT_SEVERITY_WORDS "info warning critical"

struct ek_alert_sink {
    enum ek_sink_kind kind;
    char *url, *token, *ca_file, *routing_key; /* NULL: none; secrets all but the third */
    int64_t format;                            /* enum ek_sink_format */
    int64_t severity;                          /* enum ek_alert_severity: the least */
    int64_t repeat_ms;
    char label[EK_SINK_LABEL_BYTES]; /* "webhook", the second one "webhook-2" */
    long line, column;               /* of its element */
};

struct ek_alert_sinks {
    struct ek_alert_sink *items;
    size_t count;
};

/* By its key in an element; EK_SINK_KINDS: none of them. And the other way. */
enum ek_sink_kind ek_sink_kind_of(const char *word);
const char *ek_sink_kind_name(enum ek_sink_kind kind);
/* Whether the option is one of an element that goes into `sinks`; then of this kind. */
bool ek_sink_option(const struct ek_option *o, enum ek_sink_kind kind);
bool ek_sink_option_any(const struct ek_option *o);

/* An element of that kind begins, with the built-in values. EK_ENOMEM. */
int ek_config_sink_begin(struct ek_config *c, enum ek_sink_kind kind, long line, long column,
                         struct ek_error *e);
/* It has ended: holds it against itself and the others and keeps it. EK_ECONFIG, EK_ENOMEM. */
int ek_config_sink_end(struct ek_config *c, struct ek_error *e);
/* Forgets the one that is being read. */
void ek_config_sink_drop(struct ek_config *c);
void ek_config_sinks_clear(struct ek_config *c);
bool ek_config_sinks_same(const struct ek_alert_sinks *a, const struct ek_alert_sinks *b);

#endif
