/* What the guard reported, kept for those who ask: the last events, the findings that are open, the
 * plan in force.
 *
 * Invariants: at most `keep` events, of EK_EVENT_LOG_BYTES_MAX bytes together (but one in any
 * case), and EK_EVENT_LOG_FINDINGS_MAX open findings; older ones go. Owner: the caller. Threads:
 * any.
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

/* What an event changed, for counters. */
struct ek_event_log_change {
    int detected;                /* 1: a finding was confirmed whose action is to route */
    int enforced;                /* cells routed by this plan and not by the one before */
    int drifted;                 /* 1: model and upstream no longer rank alike */
    enum ek_guardrail withdrawn; /* a route, by this; none: none was */
};

struct ek_event_log *ek_event_log_new(size_t keep);
void ek_event_log_free(struct ek_event_log *j);

/* Keep an event, and `json`, which it is. now_ms: by any clock that does not go back. EK_ENOMEM: it
 * is lost, the rest stays. */
int ek_event_log_add(struct ek_event_log *j, const struct ek_event *v, const char *json,
                     int64_t now_ms, struct ek_event_log_change *change);

/* Nothing is open and no plan in force; what happened stays. */
void ek_event_log_reset(struct ek_event_log *j);

/* Appends events after number *after as lines and moves it on; the first event is number 1. */
int ek_event_log_since(struct ek_event_log *j, uint64_t *after, struct ek_buf *out);
/* The same as server-sent events, as many as have `most` bytes, one at least; and before them how
 * many are not kept any more. Ids are STARTED_MS-NUMBER, which another process does not have. */
int ek_event_log_stream(struct ek_event_log *j, int64_t started_ms, uint64_t *after, size_t most,
                        struct ek_buf *out);
/* Events ever. */
uint64_t ek_event_log_count(struct ek_event_log *j);
/* Appends the last n events as a JSON array, oldest first. */
int ek_event_log_last(struct ek_event_log *j, size_t n, struct ek_buf *out);
/* Appends the open findings as a JSON array, oldest first. */
int ek_event_log_findings(struct ek_event_log *j, struct ek_buf *out);
/* The same of one feature. */
int ek_event_log_feature_findings(struct ek_event_log *j, const char *feature, struct ek_buf *out);
/* Appends the plan in force as a JSON object; version 0 without cells before the first. */
int ek_event_log_plan(struct ek_event_log *j, struct ek_buf *out);

/* What is open and in force; good during the call. */
struct ek_event_log_state {
    /* Oldest first; confirmed_ms: when the journal got the first event that is not `suspected`. */
    const struct ek_reported_finding *finding;
    size_t findings;
    const struct ek_event *plan; /* NULL: there was none yet */
};
/* Call `look` with the journal locked. Returns what it returns. */
int ek_event_log_view(struct ek_event_log *j,
                      int (*look)(void *context, const struct ek_event_log_state *v),
                      void *context);
size_t ek_event_log_open(struct ek_event_log *j);

/* The open findings as Prometheus text: how many, of which class, and the age of the oldest;
 * and how much the plan acts on. */
/* now_ms: by the clock of ek_event_log_add. Appends; EK_ENOMEM. */
int ek_finding_metrics(struct ek_event_log *j, int64_t now_ms, struct ek_buf *out);

#endif
