/* A decision in the plan record (docs/format/fleet.md). */
#ifndef EK_FLEET_PLAN_RECORD_H
#define EK_FLEET_PLAN_RECORD_H

#include "detect/evidence_export.h"
#include "detect/finding.h"
#include "fleet/fleet_codec.h"
#include "fleet/fleet_plan_fields.h"
#include "plan/decisions.h"
#include "plan/plan.h"
#include "schema/manifest.h"

/* Texts are cut at EK_FLEET_TEXT_MAX bytes. */
void ek_fleet_decision_write(struct ek_serialize *w, const struct ek_decision_record *m);

/* One that was read, with its texts, which it points to: it stays where it is. */
struct ek_fleet_decision {
    struct ek_decision_record is;
    char text[7][EK_FLEET_TEXT_MAX + 1];
};

void ek_fleet_decision_read(struct ek_serialize *w, struct ek_fleet_decision *m);

/* The plan record, which the decider writes at each of its ticks, and the plans an instance keeps
 * of it (docs/format/fleet.md).
 *
 * A record has the whole plan by names, from when on it holds, all that the decider goes by when it
 * makes the next one, its last decisions, the findings that are open, and the features whose lists
 * it asks for. Which record counts is decided by their order in the
 * log, the same for everybody: one of a later term, or of the same term by the same decider, or of
 * the same term by a decider whose name comes later; and its version must be new. A record of a
 * lower term is that of a decider who has not noticed yet that another one decides.
 *
 * Of a list the newest plan counts that holds from its time on, so that all instances score the
 * lists of a moment alike and a list that comes again is scored as before. A list from more than
 * EK_FLEET_SAME_MS ahead or behind the stream's time gets the plan of now: faulty lists that come
 * late must not go unrouted. An instance that hears nothing keeps the plan it has.
 * Owner: the caller. One thread at a time.
 */
enum {
    EK_FLEET_PLANS = 16,          /* kept */
    EK_FLEET_SAME_MS = 60000,     /* of the stream's time */
    EK_FLEET_SILENT_MS = 10000,   /* without a record: cut off */
    EK_FLEET_FINDINGS_MAX = 1024, /* open in a record */
    EK_ROW_REQUESTS_MAX = 16,
    EK_FLEET_DECISIONS_MAX = 64, /* in a record */
};

struct ek_fleet_plan_head {
    struct ek_text decider;
    uint64_t term, version;
    uint32_t episodes; /* of the fleet, ever: findings are numbered */
    int64_t from_ms;   /* in the stream's time */
    int64_t clock_ms;  /* of the decider when it wrote the record */
    struct ek_fleet_dimensions dimensions;
};

/* Lists of a feature that the decider wants. */
struct ek_row_request {
    struct ek_text feature;
    uint32_t number; /* of the ask */
    uint32_t rows;   /* the newest, in a record at most */
};

/* Hears of the content of a record, in its order; what a NULL is for is not told. One that returns
 * other than 0 ends it. */
struct ek_fleet_plan_visitor {
    void *context;
    int (*entry)(void *context, const struct ek_fleet_entry *entry);
    int (*mode)(void *context, const struct ek_fleet_mode *mode);
    int (*desired)(void *context, const struct ek_fleet_entry *entry);
    int (*rollout)(void *context, const struct ek_fleet_rollout *rollout);
    int (*pin)(void *context, const struct ek_order *pin);
    int (*limits)(void *context, const struct ek_fleet_limits *limits);
    /* version of what is normal, and hash of the profile that it is of; then each that is accepted,
     * by versions, none beyond it */
    int (*normal)(void *context, uint64_t version, uint64_t profile);
    int (*accepted)(void *context, const struct ek_fleet_accept *accept);
    int (*decided)(void *context, const struct ek_decision_record *decided);
    int (*finding)(void *context, const struct ek_fleet_cell *cell, const struct ek_finding *f);
    int (*ask)(void *context, const struct ek_row_request *ask);
};

/* What a decider writes: the head; then, each list with its count before it, entries, modes, what
 * is wanted, rollouts, pins; the limits; what is normal; decisions, findings (cell and
 * ek_fleet_finding_walk), asks.
 */
void ek_fleet_plan_start(struct ek_serialize *w, struct ek_buf *out,
                         const struct ek_fleet_plan_head *head);
void ek_fleet_ask_walk(struct ek_serialize *w, struct ek_row_request *ask);

/* A record that was opened; good as long as its bytes. */
struct ek_fleet_plan {
    struct ek_fleet_plan_head head;
    const struct ek_manifest *manifest;
    struct ek_serialize content; /* behind the head */
};

/* Checks all of it. EK_EFORMAT. */
int ek_fleet_plan_open(struct ek_fleet_plan *p, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e);
/* Tells of its content; 0, or what a function returned. */
int ek_fleet_plan_visit(const struct ek_fleet_plan *p,
                        const struct ek_fleet_plan_visitor *callbacks);

/* Which of the records counts: kept by who reads the log, {0} before the first. */
struct ek_record_order {
    uint64_t term, version;
    char decider[EK_FLEET_NAME_MAX + 1];
};

enum ek_record_arrival {
    EK_FLEET_VOID,  /* of a lower term, or of a version that was there before */
    EK_FLEET_SAME,  /* the plan that is known: a sign of life */
    EK_FLEET_NEWER, /* it counts from here on */
};

/* A record by who decides: below 0 of an earlier decider than the named one of that term, 0 of the
 * same, above 0 of a later one. */
int ek_fleet_plan_compare(const struct ek_fleet_plan_head *head, uint64_t term,
                          const char *decider);
enum ek_record_arrival ek_record_order_check(struct ek_record_order *o,
                                             const struct ek_fleet_plan_head *head);

/* The plans of an instance, by the cells of its detector, which they hold. */
struct ek_instance_plans;

/* profile: its hash. */
int ek_instance_plans_new(struct ek_instance_plans **out, struct ek_detector *d, uint64_t profile);
/* Before the detector goes. */
void ek_instance_plans_free(struct ek_instance_plans *p);
/* Takes a record; its findings become claims of the detector. stream_ms: the stream's time now.
 * EK_EFORMAT, EK_ENOMEM leave the plans as they were. */
int ek_instance_plans_receive(struct ek_instance_plans *p, const void *bytes, size_t length,
                              int64_t clock_ms, int64_t stream_ms, struct ek_error *e);
/* The plan of a list of that time; never NULL, before the first it is empty. A list from before all
 * that are kept gets the oldest of them. Valid until the next record. */
const struct ek_plan *ek_instance_plans_get(const struct ek_instance_plans *p, int64_t time_ms,
                                            int64_t stream_ms);
/* What is normal for a list that is scored under a plan of these. */
const struct ek_level_offsets *ek_instance_plans_levels(const struct ek_instance_plans *p,
                                                        const struct ek_plan *plan);
/* Tells the detector what is normal by the newest record, in place of what it was told before or
 * had accepted alone; whether there was something to tell. To be called before lists are taken or
 * told after a record. */
bool ek_instance_plans_apply_accepted(struct ek_instance_plans *p);
/* The detector may have levels of another one, whose state it has taken over. */
void ek_instance_plans_clear_accepted(struct ek_instance_plans *p);
/* Version of what was told last; 0: nothing yet. */
uint64_t ek_instance_plans_normal(const struct ek_instance_plans *p);
/* What a control goes by that follows a plan of these; of the newest record but for the plan, and
 * valid until the next. */
struct ek_controller_memory ek_instance_plans_memory(const struct ek_instance_plans *p,
                                                     const struct ek_plan *plan);
/* How many records have counted. */
uint64_t ek_instance_plans_has_version(const struct ek_instance_plans *p);
/* ms since the last record that counted; -1 before the first. */
int64_t ek_instance_plans_age_ms(const struct ek_instance_plans *p, int64_t clock_ms);
/* How many plans came after they were to hold; entries that found no cell or feature here. */
uint64_t ek_instance_plans_late_count(const struct ek_instance_plans *p);
uint64_t ek_instance_plans_unresolved_count(const struct ek_instance_plans *p);
/* What the decider asks for; `feature` is its name in the manifest. Returns how many. */
int ek_instance_plans_row_requests(const struct ek_instance_plans *p,
                                   struct ek_row_request ask[EK_ROW_REQUESTS_MAX]);
/* Whether it asks for lists of a feature that no finding of the fleet is about here. */
bool ek_instance_plans_needs_rows(const struct ek_instance_plans *p);
const struct ek_record_order *ek_instance_plans_order(const struct ek_instance_plans *p);

#endif
