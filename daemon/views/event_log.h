/* Event log: the last events of the guard, the open findings, and the current plan.
 *
 * It retains at most `keep` events of EK_EVENT_LOG_BYTES_MAX bytes in total, but at least one, and
 * EK_EVENT_LOG_FINDINGS_MAX open findings; the oldest are removed. Functions that append return 0
 * or EK_ENOMEM. Threads: any.
 */
#ifndef EK_DAEMON_VIEWS_EVENT_LOG_H
#define EK_DAEMON_VIEWS_EVENT_LOG_H

#include "base/buf.h"
#include "guard/reported_findings.h"
#include "plan/rollout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_EVENT_LOG_FINDINGS_MAX = 1024, EK_EVENT_LOG_BYTES_MAX = 16 << 20 };

struct ek_event_log;

/* Effect of an event on counters. */
struct ek_event_log_change {
    int detected;                  /* 1: a finding with a routing action was confirmed */
    int enforced;                  /* cells that this plan routes and the previous did not */
    enum ek_guardrail rolled_back; /* guardrail that rolled back a route; or none */
};

/* Create an empty log that retains at most `keep` events. Return NULL if memory runs out. */
struct ek_event_log *ek_event_log_new(size_t keep);
void ek_event_log_free(struct ek_event_log *j);

/* Add copies of an event and its JSON; set *change to its effect on the open findings. now_ms:
 * monotonic. Return 0, or EK_ENOMEM without adding it. */
int ek_event_log_add(struct ek_event_log *j, const struct ek_event *v, const char *json,
                     int64_t now_ms, struct ek_event_log_change *change);

/* Remove the open findings and the plan. The events stay. */
void ek_event_log_reset(struct ek_event_log *j);

/* Append the events after number *after, from 1, as server-sent events, about `most` bytes in total
 * but at least one event, and set *after to the number of the last one. If events after *after were
 * removed, their count comes first. Ids are STARTED_MS-NUMBER, unique across restarts. Return 0, or
 * EK_ENOMEM with *after unchanged. */
int ek_event_log_stream(struct ek_event_log *j, int64_t started_ms, uint64_t *after, size_t most,
                        struct ek_buf *out);
/* Return the number of events so far. */
uint64_t ek_event_log_count(struct ek_event_log *j);
/* Append the last n events as a JSON array, oldest first. Return 0 or EK_ENOMEM. */
int ek_event_log_last(struct ek_event_log *j, size_t n, struct ek_buf *out);
/* Append the open findings of a feature (NULL: of all) as a JSON array, oldest first. Return 0 or
 * EK_ENOMEM. */
int ek_event_log_findings(struct ek_event_log *j, const char *feature, struct ek_buf *out);
/* Return the number of plan events and resets so far. */
uint64_t ek_event_log_plan_changes(struct ek_event_log *j);

/* Open findings and plan; valid during the call. */
struct ek_event_log_state {
    /* Oldest first; confirmed_ms: time of the first event that is not `suspected`. */
    const struct ek_reported_finding *finding;
    size_t findings;
    const struct ek_event *plan; /* NULL: none yet */
};
/* Call `visit` with a view of the log, which is locked meanwhile. Return its result. */
int ek_event_log_view(struct ek_event_log *j,
                      int (*visit)(void *context, const struct ek_event_log_state *v),
                      void *context);
/* Return the number of open findings. */
size_t ek_event_log_open(struct ek_event_log *j);

/* Append the metrics of open findings (by class and state, age of the oldest) and of plan entries.
 * now_ms: by the clock of ek_event_log_add. Return 0 or EK_ENOMEM. */
int ek_finding_metrics(struct ek_event_log *j, int64_t now_ms, struct ek_buf *out);

#endif
