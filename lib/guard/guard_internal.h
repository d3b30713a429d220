/* The inside of a guard, for the files that make it: guard.c, and those that save, load and merge
 * it. */
#ifndef EK_GUARD_GUARD_INTERNAL_H
#define EK_GUARD_GUARD_INTERNAL_H

#include "detect/detector.h"
#include "evenkeel.h"
#include "serve/agreement_watch.h"
#include "serve/assembly.h"
#include "serve/assets.h"
#include "plan/limit_counters.h"
#include "serve/context.h"
#include "plan/route_controller.h"
#include "plan/decisions.h"
#include "guard/event.h"
#include "guard/save.h"
#include "plan/open_findings.h"
#include "guard/guard.h"
#include "guard/live_sketches.h"

#include <stdbool.h>

/* Of events that nobody has fetched: how many, bytes of all, of one. */
enum { EK_EVENTS_MAX = 4096, EK_EVENTS_BYTES_MAX = 16 << 20, EK_EVENT_BYTES_MAX = 4 << 20 };

struct ek_fleet_instance;
struct ek_finding_diff;
struct ek_comparisons;

struct ek_guard {
    const struct ek_assets *assets;
    struct ek_detector *detector;
    struct ek_live_sketches *traffic;
    struct ek_agreement_watch *agreement; /* NULL: score/agreement.h says when */
    struct ek_comparisons *trials;
    struct ek_open_findings open;
    struct ek_controller *control;    /* the plan; in a fleet, that of now */
    struct ek_fleet_instance *member; /* NULL: outside a fleet */
    struct ek_finding_diff *news;     /* findings of the fleet, with the member */
    bool follows;                 /* the plan is the fleet's, not one from before it was heard */
    struct ek_context *own;       /* of who has one thread only */
    struct ek_assembly *assembly; /* NULL: messages are lists */
    struct ek_plan_history past;  /* that its queries have */
    struct ek_context *whole;     /* for the lists it gives out */
    struct ek_event_clock stream_clock;
    int64_t time_ms, clock_ms;              /* now: by the stream, by the caller */
    struct ek_buf json;                     /* of the event last taken as JSON */
    struct ek_event *events[EK_EVENTS_MAX]; /* ring */
    uint64_t told, fetched;
    size_t event_bytes; /* of those in the ring */
    struct ek_decisions *decisions;
    struct ek_event *taken_event;     /* the one last taken */
    struct ek_limit_counters beyond;  /* the limits of the guard; the detector counts its own */
    unsigned said;                    /* limits that were told, as bits */
    uint64_t taken;                   /* cells that changed hands, as far as they were looked at */
    uint64_t adopted;                 /* lists of other guards, or of an earlier one */
    struct ek_checkpoint_index saved; /* what the last base had */
    int *members;                     /* [F] scratch */
};

/* Makes one in place, of zeros; after a failure nothing is left in it. And gives back what it has.
 */
int ek_guard_make(struct ek_guard *g, const struct ek_assets *assets, struct ek_error *e);
void ek_guard_release(struct ek_guard *g);
/* As ek_guard_load, into one with nothing seen yet, of a state that is complete and of its
 * manifest: *fit says how complete, and then what it was. After a failure it is of no use. */
int ek_guard_load_into(struct ek_guard *g, const struct ek_state *state,
                       enum ek_restore_result *fit, struct ek_error *e);
/* Append an event to the ring, which owns it from then on, after a failure too. When the ring is
 * full, the oldest goes. EK_ENOMEM: it is NULL; EK_ELIMIT: it is larger than EK_EVENT_BYTES_MAX. */
int ek_guard_emit(struct ek_guard *g, struct ek_event *event);
/* The same of the plan; query: the first that is scored under it. */
int ek_guard_report_plan(struct ek_guard *g, uint64_t query);
/* What the detector tells: what is done about it, and told; query: the first that is scored under
 * what the plan is then. EK_ENOMEM. */
int ek_guard_process_findings(struct ek_guard *g, uint64_t query);
/* A list, or an item of one, has come: its time, and now by the caller when it was read. */
void ek_guard_update_clock(struct ek_guard *g, int64_t time_ms, int64_t now_ms);
/* What is kept by the cells that have changed hands is another value's: to be called whenever some
 * may have, before anything more is kept. */
void ek_guard_reset_reused(struct ek_guard *g);
/* A whole list that the context has read: what the detector makes of it, and what is told of that.
 * time_ms: of the list. */
int ek_guard_process_list(struct ek_guard *g, struct ek_context *c, int64_t time_ms,
                          struct ek_error *e);
/* What a plan has for a list of these cells, into the context. */
void ek_guard_treat(const struct ek_guard *g, struct ek_context *c, const struct ek_plan *plan,
                    const int16_t *cells, int count);
/* The plan that a list of that time is scored under; valid until the next call. */
const struct ek_plan *ek_guard_plan_at(const struct ek_guard *g, int64_t time_ms);
/* What the rules have done about a finding, under the plan of now. */
struct ek_decision ek_guard_decide(const struct ek_guard *g, const struct ek_finding *f);
/* Tells a finding as an event. members [count]: features that share its cause. */
int ek_guard_report_finding(struct ek_guard *g, const struct ek_finding *f,
                            const struct ek_decision *decision, const int *members, int count);
/* Takes the fleet's plan of now; whether it is another one. */
int ek_guard_apply_fleet_plan(struct ek_guard *g);

#endif
