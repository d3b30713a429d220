/* Alert: a condition that operators must notice, with start and end; its texts, and the updates of
 * alerts by events.
 *
 * One alert covers one incident with any number of features. Its identity consists of strings:
 * kind, feature, segment, class, limit, instance. So the same fault gives the same alert after a
 * restart and from another instance. Feature, segment and class are those of the incident's first
 * finding. Times are event time in milliseconds since 1970. Unknown numbers are NaN, unknown
 * strings "". Strings that are too long are cut between characters. Value type.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_H
#define EK_DAEMON_ALERTS_ALERT_H

#include "base/buf.h"
#include "guard/event.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_alert_kind {
    EK_ALERT_DRIFT,
    EK_ALERT_ROUTE_ROLLED_BACK,
    EK_ALERT_LIMIT_REACHED,
    EK_ALERT_PAUSED,
    EK_ALERT_FLEET_PLAN_STALE,
    EK_ALERT_FLEET_DUPLICATE_INSTANCE,
    EK_ALERT_RELOAD_REFUSED,
    EK_ALERT_MODEL_DRIFT,
    EK_ALERT_UNDECODABLE,
    EK_ALERT_PARTLY_UNDECODABLE,
    EK_ALERT_SILENT,
    EK_ALERT_STALLED,
    EK_ALERT_UNREACHABLE,
    EK_ALERT_TOPIC_MISSING,
    EK_ALERT_MESSAGES_LOST,
    EK_ALERT_DEGRADED,
    EK_ALERT_UNMAPPED,
    EK_ALERT_TEST, /* run --test-alerts */
    EK_ALERT_KINDS
};
enum ek_alert_severity { EK_ALERT_INFO, EK_ALERT_WARNING, EK_ALERT_CRITICAL };

enum {
    EK_ALERT_NAME_BYTES = 240,
    EK_ALERT_NAME_TEXT_BYTES = 40,
    EK_ALERT_TEXT_BYTES = 800,
    EK_ALERT_SENTENCE_BYTES = 1000,
    EK_ALERT_KEY_BYTES = 256 /* limit of PagerDuty */
};

struct ek_alert {
    enum ek_alert_kind kind;
    /* Identity; "" if not applicable. segment: "arm=B", "all". */
    char feature[EK_ALERT_NAME_BYTES], segment[EK_ALERT_NAME_BYTES];
    char class[EK_ALERT_NAME_TEXT_BYTES], limit[EK_ALERT_NAME_TEXT_BYTES];
    char instance[EK_ALERT_NAME_BYTES];
    /* Current state. */
    bool firing, accepted;              /* accepted: it ended as operators accepted its level */
    int64_t since_ms, ended_ms;         /* ended_ms: only if it is not firing */
    char features[EK_ALERT_TEXT_BYTES]; /* all of the incident: "price, taxes" */
    int features_count;
    double factor, factor_low, factor_high, share;
    char summary[EK_ALERT_TEXT_BYTES];  /* effect, segment, start; without features and action */
    char evidence[EK_ALERT_TEXT_BYTES]; /* sentence of the event */
    char action[EK_ALERT_TEXT_BYTES];   /* action taken */
};

/* Return the name of a kind, a static string, which is also the anchor in the runbook: "drift",
 * "route-rolled-back", ... */
const char *ek_alert_kind_name(enum ek_alert_kind kind);
/* Return the name of a kind for Alertmanager, a static string: "EvenkeelDrift", ... */
const char *ek_alert_title(enum ek_alert_kind kind);
/* Return the name of a severity, a static string: "info", "warning" or "critical". */
const char *ek_alert_severity_name(enum ek_alert_severity severity);
/* Return the severity of an alert. It depends on the identity only, since it is a label. */
enum ek_alert_severity ek_alert_get_severity(const struct ek_alert *a);

/* Return true if both have the same identity. */
bool ek_alert_same(const struct ek_alert *a, const struct ek_alert *b);
/* Write the identity as a key: "evenkeel/hotel-ranker/drift/price/arm=B/scale". A slash in a name
 * becomes %2F; a key that is too long is cut and ends with a hash. */
void ek_alert_key(const struct ek_alert *a, const char *service, char out[EK_ALERT_KEY_BYTES]);

/* Write feature, if any, summary, action and the other features of the incident as one sentence,
 * cut to fit; for an alert that ended, with the end instead of the action. The summary is that of
 * the feature alone. */
void ek_alert_sentence(const struct ek_alert *a, char out[EK_ALERT_SENTENCE_BYTES]);

/* Copy a string to `out`, cut between characters to fit `size` bytes with the nul. */
void ek_alert_copy(char *out, size_t size, const char *text);

/* Set summary, evidence and action of an alert, for all kinds except drift and route. detail:
 * copied as the evidence, and appended to the summary. */
void ek_alert_format_other(struct ek_alert *a, const char *detail);

/* Effect of a guard event on alerts. */
enum ek_alert_update_kind {
    EK_ALERT_NO_UPDATE,
    EK_ALERT_FIRES,         /* `alert` is the new state */
    EK_ALERT_ENDS,          /* of kind, feature, segment and limit */
    EK_ALERT_FINDING_OPEN,  /* confirmed; `alert` is that of its incident */
    EK_ALERT_FINDING_CLOSED /* recovered or dismissed */
};

struct ek_alert_update {
    enum ek_alert_update_kind what;
    struct ek_alert alert;
    /* Of a finding. limit: blocks its action; "": none. */
    uint32_t episode, cause; /* cause 0: none */
    char limit[EK_ALERT_NAME_TEXT_BYTES];
};

/* Set *out to the update of the alerts by an event, EK_ALERT_NO_UPDATE if it has none. All strings
 * are copied; strings that are too long are cut. */
void ek_alert_update_read(struct ek_alert_update *out, const struct ek_event *v);

#endif
