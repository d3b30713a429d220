/* Findings of a fleet: one per feature and segment, merged from the proposals of all instances.
 * Cells are cells of the pool. */
#ifndef EK_FLEET_FLEET_FINDINGS_H
#define EK_FLEET_FLEET_FINDINGS_H

#include "fleet/plan_record.h"
#include "fleet/pool.h"
#include "plan/open_findings.h"

struct ek_fleet_findings;

/* Create an empty set of findings. Pool, manifest and rules must outlive it. Return 0 or
 * EK_ENOMEM. */
int ek_fleet_findings_new(struct ek_fleet_findings **out, struct ek_fleet_pool *pool,
                          const struct ek_manifest *m, const struct ek_rules *rules);
void ek_fleet_findings_free(struct ek_fleet_findings *t);

/* Remove all open findings, to restore the state of the log, which had `episodes` findings so far.
 */
void ek_fleet_findings_reset(struct ek_fleet_findings *t, uint32_t episodes);
/* Add an open finding of the log; it has no owner until an instance proposes it. */
void ek_fleet_findings_restore(struct ek_fleet_findings *t, const struct ek_finding *f);
/* Return the number of findings so far. */
uint32_t ek_fleet_findings_episodes(const struct ek_fleet_findings *t);

/* Start a report interval: no open finding has a proposal yet. */
void ek_fleet_findings_start(struct ek_fleet_findings *t);
/* Add a proposal of instance `by`, which is copied, between _start and _finish. It opens a finding,
 * or supports the open one of the same feature and cell. Statistics are those of the instance that
 * had them before, else of the oldest proposal. No effect beyond EK_FLEET_FINDINGS_MAX findings. */
void ek_fleet_findings_propose(struct ek_fleet_findings *t, const struct ek_finding *f, int by);
/* Finish a report interval: queue events, and call `act` for each open finding. With `settled`,
 * also end findings without a proposal: as dismissed if the feature has a later finding in another
 * segment, else as recovered. */
void ek_fleet_findings_finish(struct ek_fleet_findings *t, bool settled, int64_t time_ms,
                              void (*act)(void *context, const struct ek_finding *f),
                              void *context);
/* Keep an open finding without changes. Use instead of ek_fleet_findings_propose if the instance
 * does not know the current accepted levels yet. A finding that is not open is ignored. */
void ek_fleet_findings_confirm_open(struct ek_fleet_findings *t, const struct ek_finding *f);
/* Return the open finding of a feature and cell, valid until the next report interval, or NULL. */
const struct ek_finding *ek_fleet_findings_find(struct ek_fleet_findings *t, int feature,
                                                int place);
/* Return the first open finding of a feature, valid until the next report interval, or NULL. */
const struct ek_finding *ek_fleet_findings_get(const struct ek_fleet_findings *t, int feature);
/* End the open finding of the feature and cell of `f`, which must exist, because its level was
 * accepted. It is reported as dismissed; *over gets it. */
void ek_fleet_findings_accept(struct ek_fleet_findings *t, const struct ek_finding *f,
                              int64_t time_ms, struct ek_finding *over);
/* Release findings of the feature that `by` proposed. They stay open until another instance
 * proposes them or all have settled. */
void ek_fleet_findings_release_source(struct ek_fleet_findings *t, int feature, int by);
/* Reset the pooled evidence of all open findings. */
void ek_fleet_findings_restart(struct ek_fleet_findings *t);
/* Queue an event of state suspected for an alarm of the pooled evidence. */
void ek_fleet_findings_suspect(struct ek_fleet_findings *t, const struct ek_fleet_alarm *a,
                               int64_t time_ms);
/* Append the open findings to a plan record. Errors are in w->rc. */
void ek_fleet_findings_write(const struct ek_fleet_findings *t, struct ek_serialize *w,
                             const struct ek_fleet_dimensions *d);
/* Set *out to the next finding event, oldest first. Its strings are valid until the finding ends or
 * the next report interval. Return 1, or 0 without an event. */
int ek_fleet_findings_next(struct ek_fleet_findings *t, struct ek_finding *out);
/* Return the number of finding events queued since the start. */
uint64_t ek_fleet_findings_count(const struct ek_fleet_findings *t);

#endif
