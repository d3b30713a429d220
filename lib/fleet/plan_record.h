/* Plan record of a fleet, and the plans that an instance retains (docs/dev/formats/fleet.md).
 *
 * The leader writes the record at each report interval. It has the whole plan by names, its start
 * time, the controller state, the last decisions, the open findings, and the row requests.
 *
 * The log order decides which records are valid, equally on all instances. A valid record has a
 * later term, or the same term and leader, or the same term and a leader with a later name; and a
 * new version. A lower term is that of a previous leader that does not know its successor yet.
 *
 * The plan of a list is the last plan that starts at or before its event time. So all
 * instances score lists of one time alike, and a redelivered list is scored as before. A list more
 * than EK_FLEET_SAME_MS from current event time gets the current plan, so that late lists with a
 * fault are routed. Without new records an instance keeps its last plan.
 */
#ifndef EK_FLEET_PLAN_RECORD_H
#define EK_FLEET_PLAN_RECORD_H

#include "detect/evidence_export.h"
#include "detect/finding.h"
#include "fleet/fleet_codec.h"
#include "fleet/fleet_plan_fields.h"
#include "plan/decisions.h"
#include "plan/plan.h"
#include "schema/manifest.h"

/* Append a decision to a started record; strings are truncated at EK_FLEET_TEXT_MAX bytes. Errors
 * are in w->rc. */
void ek_fleet_decision_write(struct ek_serialize *w, const struct ek_decision_record *m);

/* Decoded decision and the strings it refers to; must not be moved. */
struct ek_fleet_decision {
    struct ek_decision_record is;
    char text[7][EK_FLEET_TEXT_MAX + 1];
};

/* Read a decision into *m, whose strings are in *m, so it must not be moved. Errors are in w->rc.
 */
void ek_fleet_decision_read(struct ek_serialize *w, struct ek_fleet_decision *m);

enum {
    EK_FLEET_PLANS = 16,          /* retained */
    EK_FLEET_SAME_MS = 60000,     /* event time */
    EK_FLEET_SILENT_MS = 10000,   /* without a record: the plan is stale */
    EK_FLEET_FINDINGS_MAX = 1024, /* open findings per record */
    EK_ROW_REQUESTS_MAX = 16,
    EK_FLEET_DECISIONS_MAX = 64, /* per record */
};

struct ek_fleet_plan_head {
    struct ek_text decider;
    uint64_t term, version;
    uint32_t episodes; /* number of findings of the fleet so far */
    int64_t from_ms;   /* start of the plan in event time */
    int64_t clock_ms;  /* of the leader at the write */
    struct ek_fleet_dimensions dimensions;
};

/* Request of the leader for rows of a feature. */
struct ek_row_request {
    struct ek_text feature;
    uint32_t number; /* of the request */
    uint32_t rows;   /* last rows, at most this number per record */
};

/* Callbacks for the content of a record in its order, each optional. A nonzero result ends the
 * visit. */
struct ek_fleet_plan_visitor {
    void *context;
    int (*entry)(void *context, const struct ek_fleet_entry *entry);
    int (*mode)(void *context, const struct ek_fleet_mode *mode);
    int (*desired)(void *context, const struct ek_fleet_entry *entry);
    int (*rollout)(void *context, const struct ek_fleet_rollout *rollout);
    int (*pin)(void *context, const struct ek_order *pin);
    int (*limits)(void *context, const struct ek_fleet_limits *limits);
    /* version of the accepted levels and hash of their profile; then each accept in order of
     * version */
    int (*normal)(void *context, uint64_t version, uint64_t profile);
    int (*accepted)(void *context, const struct ek_fleet_accept *accept);
    int (*decided)(void *context, const struct ek_decision_record *decided);
    int (*finding)(void *context, const struct ek_fleet_cell *cell, const struct ek_finding *f);
    int (*request)(void *context, const struct ek_row_request *request);
};

/* Start a plan record at the end of `out` and write its head. The caller then writes, each array
 * after its length: entries, modes, desired entries, rollouts, pins; limits; accepted levels;
 * decisions; findings (cell and ek_fleet_finding_walk); row requests. */
void ek_fleet_plan_start(struct ek_serialize *w, struct ek_buf *out,
                         const struct ek_fleet_plan_head *head);
/* Read or write a row request; the name read is a view into the record. Errors are in w->rc. */
void ek_row_request_walk(struct ek_serialize *w, struct ek_row_request *request);

/* Open record; a view into its bytes. */
struct ek_fleet_plan {
    struct ek_fleet_plan_head head;
    const struct ek_manifest *manifest;
    struct ek_serialize content; /* rest of the record */
};

/* Open and check a whole record, which must outlive *p. Return 0, or EK_EFORMAT with *p undefined.
 */
int ek_fleet_plan_open(struct ek_fleet_plan *p, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e);
/* Pass the content of an open record to the callbacks. Return 0, or the first nonzero result of a
 * callback, which ends the visit. */
int ek_fleet_plan_visit(const struct ek_fleet_plan *p,
                        const struct ek_fleet_plan_visitor *callbacks);

/* Position in the log, which decides the validity of records; starts as {0}. */
struct ek_record_order {
    uint64_t term, version;
    char decider[EK_FLEET_NAME_MAX + 1];
};

enum ek_record_arrival {
    EK_FLEET_VOID,  /* lower term or known version */
    EK_FLEET_SAME,  /* the current plan: a heartbeat */
    EK_FLEET_NEWER, /* a new plan */
};

/* Compare the leader of a record with the named leader of this term. Return < 0 if it is earlier, 0
 * if the same, > 0 if later. */
int ek_fleet_plan_compare(const struct ek_fleet_plan_head *head, uint64_t term,
                          const char *decider);
/* Return the class of the next record of the log, and update the position *o by it. */
enum ek_record_arrival ek_record_order_check(struct ek_record_order *o,
                                             const struct ek_fleet_plan_head *head);

/* Plans of an instance. They retain the cells of its detector. */
struct ek_instance_plans;

/* Create an empty history of plans for a detector, which must outlive it. `profile`: hash of the
 * profile. Return 0 or EK_ENOMEM. */
int ek_instance_plans_new(struct ek_instance_plans **out, struct ek_detector *d, uint64_t profile);
/* Free the plans, before the detector. NULL is allowed. */
void ek_instance_plans_free(struct ek_instance_plans *p);
/* Apply a plan record; its findings become findings of the fleet in the detector. `stream_ms`:
 * current event time. Return 0, EK_EFORMAT or EK_ENOMEM; on error the plans are unchanged. */
int ek_instance_plans_receive(struct ek_instance_plans *p, const void *bytes, size_t length,
                              int64_t clock_ms, int64_t stream_ms, struct ek_error *e);
/* Return the plan of a list of this event time; empty before the first plan, never NULL. A list
 * before all retained plans gets the oldest plan. Valid until the next record. */
const struct ek_plan *ek_instance_plans_get(const struct ek_instance_plans *p, int64_t time_ms,
                                            int64_t stream_ms);
/* Return the accepted levels of lists under a plan of ek_instance_plans_get. Valid until the next
 * record. */
const struct ek_level_offsets *ek_instance_plans_levels(const struct ek_instance_plans *p,
                                                        const struct ek_plan *plan);
/* Set the accepted levels of the last record in the detector, in place of all others. Call before
 * processing lists or reports after a record. Return whether the detector changed. */
bool ek_instance_plans_apply_accepted(struct ek_instance_plans *p);
/* Mark the accepted levels of the detector as unknown, after it took over another state: the next
 * ek_instance_plans_apply_accepted sets them again. */
void ek_instance_plans_clear_accepted(struct ek_instance_plans *p);
/* Return the version of the levels last set in the detector; 0: none yet. */
uint64_t ek_instance_plans_normal(const struct ek_instance_plans *p);
/* Return the controller state of the last record together with `plan`. Valid until the next
 * record. */
struct ek_controller_memory ek_instance_plans_memory(const struct ek_instance_plans *p,
                                                     const struct ek_plan *plan);
/* Return the number of valid records received so far. */
uint64_t ek_instance_plans_has_version(const struct ek_instance_plans *p);
/* Return the time since the last valid record in ms; -1: none yet. */
int64_t ek_instance_plans_age_ms(const struct ek_instance_plans *p, int64_t clock_ms);
/* Return the number of plans that arrived after their start. */
uint64_t ek_instance_plans_late_count(const struct ek_instance_plans *p);
/* Return the number of plan entries without a known cell or feature, over all records. */
uint64_t ek_instance_plans_unresolved_count(const struct ek_instance_plans *p);
/* Copy the row requests of the leader to `request`; `feature` is a name of the manifest. Return
 * their number. */
int ek_instance_plans_row_requests(const struct ek_instance_plans *p,
                                   struct ek_row_request request[EK_ROW_REQUESTS_MAX]);
/* Return whether a row request concerns a feature without a finding of the fleet. */
bool ek_instance_plans_needs_rows(const struct ek_instance_plans *p);
/* Return the position in the log, which the plans own. */
const struct ek_record_order *ek_instance_plans_order(const struct ek_instance_plans *p);

#endif
