/* State of a guard (struct ek_guard of evenkeel.h), and the steps from a list to findings, plan and
 * events, shared by the source files of lib/guard. */
#ifndef EK_GUARD_GUARD_INTERNAL_H
#define EK_GUARD_GUARD_INTERNAL_H

#include "detect/detector.h"
#include "evenkeel.h"
#include "serve/agreement_watch.h"
#include "serve/assembly.h"
#include "serve/assets.h"
#include "guard/limit_counters.h"
#include "serve/context.h"
#include "plan/route_controller.h"
#include "plan/decisions.h"
#include "guard/event.h"
#include "guard/plan_json.h"
#include "guard/save.h"
#include "plan/open_findings.h"
#include "guard/event_clock.h"
#include "guard/live_sketches.h"

#include <stdbool.h>

/* Limits of pending events: number, total bytes, bytes of one. */
enum { EK_EVENTS_MAX = 4096, EK_EVENTS_BYTES_MAX = 16 << 20, EK_EVENT_BYTES_MAX = 4 << 20 };

struct ek_fleet_instance;
struct ek_finding_diff;
struct ek_comparisons;
struct ek_incident_log;
struct ek_list_sample;

struct ek_guard {
    const struct ek_assets *assets;
    struct ek_detector *detector;
    struct ek_live_sketches *sketches;
    struct ek_agreement_watch *agreement; /* NULL: as ek_guard_agreement */
    struct ek_comparisons *comparisons;
    struct ek_open_findings open;
    struct ek_controller *control;        /* in a fleet, holds the current plan of the fleet */
    struct ek_fleet_instance *member;     /* NULL: not in a fleet */
    struct ek_finding_diff *finding_diff; /* findings of the fleet, with `member` */
    bool follows_fleet;                   /* the plan is from a plan record of the fleet */
    struct ek_context *own;               /* for ek_guard_observe */
    struct ek_assembly *assembly;         /* NULL: messages are lists */
    struct ek_plan_history plan_history;  /* plans of pending lists */
    struct ek_context *list_context;      /* for emitted lists */
    struct ek_list_sample *sample;        /* of ek_guard_choose */
    struct ek_event_clock stream_clock;
    int64_t time_ms, clock_ms;              /* current event time and clock of the caller */
    struct ek_buf json;                     /* of the last event */
    struct ek_event *events[EK_EVENTS_MAX]; /* ring */
    uint64_t emitted, fetched;
    size_t event_bytes;                    /* of the ring */
    struct ek_plan_document plan_document; /* of ek_guard_plan */
    struct ek_decisions *decisions;
    struct ek_incident_log *incidents;
    struct ek_event *last_event;      /* last popped event */
    struct ek_limit_counters limits;  /* limits of the guard; the detector has separate counters */
    unsigned reported_limits;         /* reported limits, as bits */
    uint64_t reuses;                  /* processed reuses of cells */
    uint64_t adopted;                 /* lists of merged guards, or of a restored state */
    struct ek_checkpoint_index saved; /* index of the last checkpoint */
    int *members;                     /* [item features] scratch */
};

/* Initialize a zeroed guard; on error nothing remains allocated. Return 0, EK_ESTATE for assets
 * that do not fit, or EK_ENOMEM. */
int ek_guard_make(struct ek_guard *g, const struct ek_assets *assets, struct ek_error *e);
/* Free the members of a guard, not the guard itself. */
void ek_guard_release(struct ek_guard *g);
/* Restore a complete state of the same manifest into a new guard. *fit is the completeness of the
 * state, and is set to the result of the restore. Return 0, EK_ENOMEM, or EK_EFORMAT for a damaged
 * state; on error release the guard. */
int ek_guard_load_into(struct ek_guard *g, const struct ek_state *state,
                       enum ek_restore_result *fit, struct ek_error *e);
/* Queue an event and take ownership, also on error. A full ring drops the oldest events. Return 0,
 * EK_ENOMEM for NULL, or EK_ELIMIT above EK_EVENT_BYTES_MAX, which no event of a guard has: that of
 * a full plan with the longest names fits. */
int ek_guard_emit(struct ek_guard *g, struct ek_event *event);
/* Queue an event of the current plan. `query`: number of the next list. Return 0 or EK_ENOMEM. */
int ek_guard_report_plan(struct ek_guard *g, uint64_t query);
/* Process the pending events of the detector: queue them, update the desired plan, then the plan.
 * `query`: number of the next list. Return 0 or EK_ENOMEM. */
int ek_guard_process_findings(struct ek_guard *g, uint64_t query);
/* Update event time by a list or an item; now_ms: clock of the caller at its arrival. */
void ek_guard_update_clock(struct ek_guard *g, int64_t time_ms, int64_t now_ms);
/* Reset plan, sketches and statistics of cells that got another segment value. Call after each
 * possible reuse, before storing by cell. */
void ek_guard_reset_reused(struct ek_guard *g);
/* Process a list in the context: detector, findings, plan. `time_ms`: of the list. Return 0,
 * EK_ESTATE for a list of another manifest, or EK_ENOMEM. */
int ek_guard_process_list(struct ek_guard *g, struct ek_context *c, int64_t time_ms,
                          struct ek_error *e);
/* Set the routing of a list with these cells [count] in the context, by `plan`. */
void ek_guard_treat(const struct ek_guard *g, struct ek_context *c, const struct ek_plan *plan,
                    const int16_t *cells, int count);
/* Return the plan for lists of this event time; valid until the next call. */
const struct ek_plan *ek_guard_plan_at(const struct ek_guard *g, int64_t time_ms);
/* Return the decision for a finding under the current plan. */
struct ek_decision ek_guard_decide(const struct ek_guard *g, const struct ek_finding *f);
/* Queue an event of a finding. members [count]: features of its incident. Return 0 or EK_ENOMEM. */
int ek_guard_report_finding(struct ek_guard *g, const struct ek_finding *f,
                            const struct ek_decision *decision, const int *members, int count);
/* Replace the plan of the controller by the current plan of the fleet. Return 1 if it changed, else
 * 0. */
int ek_guard_apply_fleet_plan(struct ek_guard *g);

#endif
