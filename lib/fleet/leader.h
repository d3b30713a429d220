/* Leader of a fleet: makes one plan from the reports of all instances.
 *
 * Each instance may run one as a standby that follows the plan log and reports. The owner of the
 * first partition is the leader. It merges the confirmed findings by feature and segment into one
 * finding of the fleet, with the statistics of the oldest as long as its instance lives. A finding
 * without proposals has recovered, and the rules end its plan entry. Pooled evidence (fleet/pool.h)
 * detects changes that are too weak for one instance, and a diagnosis (fleet/diagnosis.h)
 * classifies them.
 *
 * A new leader continues the plan and the findings of the log with the next version. Findings that
 * no instance proposes within EK_FLEET_EXPIRED_MS have recovered.
 *
 * Early reports raise no false alarms: R advances by (R + n) exp(sum) (detect/evidence_export.h),
 * and an early report with a large sum has few lists n. Heartbeats and statistics that change with
 * every list wait for the periodic report.
 *
 * `clock_ms` is the caller's clock; plans use event time. Manifest, profile and rules must outlive
 * the leader.
 */
#ifndef EK_FLEET_LEADER_H
#define EK_FLEET_LEADER_H

#include "fleet/plan_record.h"
#include "fleet/pool.h"

/* Fractions of the false-alarm budget for each instance alone and for the pooled evidence. A list
 * of evidence costs more for one instance than for all. */
#define EK_FLEET_SHARE_LOCAL  (7. / 8)
#define EK_FLEET_SHARE_POOLED (1. / 8)

enum {
    EK_FLEET_LEAD_MS = 2000, /* event time between a decision and the start of its plan */
    EK_FLEET_ALARMS_MAX = 64 /* of the pooled evidence, per report interval */
};

struct ek_leader_setup {
    const struct ek_manifest *manifest;
    const struct ek_profile *profile;
    const struct ek_rules *rules;
    struct ek_means means;
    const char *name; /* instance name, at most EK_FLEET_NAME_MAX bytes; copied */
    int places;       /* maximum number of pooled cells; 0: EK_FLEET_PLACES_DEFAULT_MAX */
};

struct ek_leader;

/* Create a standby. The setup is copied; its objects must outlive the leader. Return 0 or
 * EK_ENOMEM. */
int ek_leader_new(struct ek_leader **out, const struct ek_leader_setup *setup, struct ek_error *e);
void ek_leader_free(struct ek_leader *d);

/* Apply the next plan record of the log, including its own. A record of a later leader stops this
 * leader. Return 0, EK_EFORMAT or EK_ENOMEM. */
int ek_leader_apply_record(struct ek_leader *d, const void *bytes, size_t length,
                           struct ek_error *e);
/* Process a record of an instance: an evidence report, rows, comparisons or an operator command,
 * which the leader applies and publishes with the next plan record. Return 0, EK_ENOMEM,
 * EK_EFORMAT, or EK_ESTATE for a record of another manifest; on error the record has no effect. */
int ek_leader_receive(struct ek_leader *d, const void *bytes, size_t length, int64_t clock_ms,
                      struct ek_error *e);
/* Start as leader after the log was read to its end. No effect if it is leader. */
void ek_leader_start(struct ek_leader *d, int64_t clock_ms);
/* Stop as leader; the instance is a standby. */
void ek_leader_stop(struct ek_leader *d);
/* Return whether the instance is leader, and not a standby. */
bool ek_leader_is_active(const struct ek_leader *d);
/* Advance one report interval; call about once per second. As leader, append the plan record to
 * `out` once event time is known. Return 0, also without a record, EK_ENOMEM, or EK_ELIMIT if `out`
 * is full. */
int ek_leader_advance(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out,
                      struct ek_error *e);
/* Process records between two report intervals. Append a plan record only if the plan changes or a
 * finding or decision is new. Return 0, also without a record, EK_ENOMEM, or EK_ELIMIT if `out` is
 * full. */
int ek_leader_check(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out, struct ek_error *e);

/* Pass replies to operator commands (fleet/command_record.h) to `write`. Call after the plan
 * record of the last ek_leader_advance or ek_leader_check was written. Return 0, or the error of
 * `write`. */
int ek_leader_write_replies(struct ek_leader *d,
                            int (*write)(void *context, const void *bytes, size_t length),
                            void *context);

/* Set *out to the next finding event, oldest first. Finding numbers are those of the fleet, and the
 * cell is a cell of the pool. Strings are valid as long as the leader. The last EK_EPISODES_MAX
 * events are retained. Return 1, or 0 without an event. */
int ek_leader_next(struct ek_leader *d, struct ek_finding *out);
/* Return the pool of evidence, which the leader owns. */
const struct ek_fleet_pool *ek_leader_pool(const struct ek_leader *d);
/* Return the current plan with cells of the pool, valid until the next call that changes the
 * leader. */
const struct ek_plan *ek_leader_plan(const struct ek_leader *d);
/* Return the version of the current plan in the log. */
uint64_t ek_leader_version(const struct ek_leader *d);

#endif
