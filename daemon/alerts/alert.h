/* What an alert is: something that people are to know of, from its beginning to its end.
 *
 * One alert tells of one cause, however many features it has. Who it is stands in words alone, no
 * numbers: kind, feature, segment, class, limit, instance. So the same fault is the same alert
 * after a restart, and from another instance. Feature, segment and class are those of the finding
 * that was there first. Times are milliseconds since 1970, of the stream. Numbers that are not
 * known are NaN, texts "". Texts that are too long are cut between characters.
 * Value type, no memory of its own. Threads: any.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_H
#define EK_DAEMON_ALERTS_ALERT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_alert_kind {
    EK_ALERT_DRIFT,
    EK_ALERT_ROUTE_ROLLED_BACK,
    EK_ALERT_LIMIT_REACHED,
    EK_ALERT_PAUSED,
    EK_ALERT_FLEET_CUT_OFF,
    EK_ALERT_FLEET_NAME_SHARED,
    EK_ALERT_RELOAD_REFUSED,
    EK_ALERT_MODEL_DRIFT,
    EK_ALERT_TEST, /* of `run --test-alerts` */
    EK_ALERT_KINDS
};
enum ek_alert_severity { EK_ALERT_INFO, EK_ALERT_WARNING, EK_ALERT_CRITICAL };

enum {
    EK_ALERT_NAME_BYTES = 240,
    EK_ALERT_NAME_TEXT_BYTES = 40,
    EK_ALERT_TEXT_BYTES = 800,
    EK_ALERT_SENTENCE_BYTES = 1000,
    EK_ALERT_KEY_BYTES = 256 /* what PagerDuty takes */
};

struct ek_alert {
    enum ek_alert_kind kind;
    /* Who it is; "" where it has none. segment: "arm=B", "all". */
    char feature[EK_ALERT_NAME_BYTES], segment[EK_ALERT_NAME_BYTES];
    char class[EK_ALERT_NAME_TEXT_BYTES], limit[EK_ALERT_NAME_TEXT_BYTES];
    char instance[EK_ALERT_NAME_BYTES];
    /* What is known of it. */
    bool firing;
    int64_t since_ms, ended_ms;         /* the latter once it does not fire */
    char features[EK_ALERT_TEXT_BYTES]; /* all of its cause, "price, taxes" */
    int features_count;
    double factor, factor_low, factor_high, share;
    char summary[EK_ALERT_TEXT_BYTES];  /* what, where, since when, what is done: see _sentence */
    char evidence[EK_ALERT_TEXT_BYTES]; /* how we know */
    char action[EK_ALERT_TEXT_BYTES];   /* what is being done */
};

/* "drift", "route-withdrawn", ...: the place in the runbook, too. */
const char *ek_alert_kind_name(enum ek_alert_kind kind);
/* "EvenkeelDrift", ... */
const char *ek_alert_title(enum ek_alert_kind kind);
const char *ek_alert_severity_name(enum ek_alert_severity severity);
/* By what an alert is, never by what becomes of it: it is among the labels. */
enum ek_alert_severity ek_alert_get_severity(const struct ek_alert *a);

/* Whether both are the same alert of one service. */
bool ek_alert_same(const struct ek_alert *a, const struct ek_alert *b);
/* Who it is as one text: "evenkeel/hotel-ranker/drift/price/arm=B/scale"; a slash in a name is %2F.
 */
void ek_alert_key(const struct ek_alert *a, const char *service, char out[EK_ALERT_KEY_BYTES]);

/* Its features, where it has some, and its summary: a sentence for people. */
void ek_alert_sentence(const struct ek_alert *a, char out[EK_ALERT_SENTENCE_BYTES]);

/* Copies a text, cut before `size` between characters. */
void ek_alert_copy(char *out, size_t size, const char *text);

/* The sentences of an alert: what somebody understands who was asleep a minute ago.
 *
 * Pure. Threads: any.
 */
/* What an event of a finding says besides. Texts "" when it does not. */
struct ek_alert_finding {
    const char *action, *mode, *limit; /* limit: which keeps the action back */
    const char *text;                  /* the event's own sentence */
    const char *query_feature;         /* the factor is the value of this one */
    double exponent, spread_ratio;
};

/* Writes summary (the feature stands before it), evidence and action of a drift, by the rest. */
void ek_alert_format_drift(struct ek_alert *a, const struct ek_alert_finding *f);
/* Of all other kinds: action, and a summary behind which `detail` stands, the evidence. */
void ek_alert_format_other(struct ek_alert *a, const char *detail);

#endif
