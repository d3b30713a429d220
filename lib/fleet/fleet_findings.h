/* Findings of a fleet: one per feature and segment, merged from the proposals of all instances.
 * Cells are cells of the pool. */
#ifndef EK_FLEET_FLEET_FINDINGS_H
#define EK_FLEET_FLEET_FINDINGS_H

#include "fleet/plan_record.h"
#include "fleet/pool.h"
#include "plan/open_findings.h"

struct ek_fleet_findings;

/* Return 0, or EK_ENOMEM. The arguments must outlive the findings. */
int ek_fleet_findings_new(struct ek_fleet_findings **out, struct ek_fleet_pool *pool,
                          const struct ek_manifest *m, const struct ek_rules *rules);
void ek_fleet_findings_free(struct ek_fleet_findings *t);

/* Reset to the state of the log: no open finding until restored, and `episodes` findings so far. */
void ek_fleet_findings_reset(struct ek_fleet_findings *t, uint32_t episodes);
/* Add an open finding of the log; it has no owner until an instance proposes it. */
void ek_fleet_findings_restore(struct ek_fleet_findings *t, const struct ek_finding *f);
/* Return the number of findings so far. */
uint32_t ek_fleet_findings_episodes(const struct ek_fleet_findings *t);

/* One report interval: ek_fleet_findings_start, then proposals, then ek_fleet_findings_finish.
 * Finish calls `act` for each open finding. After `settled`, it also ends findings without a
 * proposal: as dismissed if the feature has a later finding in another segment, else as
 * recovered. */
void ek_fleet_findings_start(struct ek_fleet_findings *t);
/* Add the proposal of instance `by`. */
void ek_fleet_findings_propose(struct ek_fleet_findings *t, const struct ek_finding *f, int by);
void ek_fleet_findings_finish(struct ek_fleet_findings *t, bool settled, int64_t time_ms,
                              void (*act)(void *context, const struct ek_finding *f),
                              void *context);
/* Keep an open finding without changes. Use instead of ek_fleet_findings_propose if the instance
 * does not know the current accepted levels yet. A finding that is not open is ignored. */
void ek_fleet_findings_confirm_open(struct ek_fleet_findings *t, const struct ek_finding *f);
/* Return the open finding of the feature and cell, or the first of the feature; NULL: none. Valid
 * until the next report interval. */
const struct ek_finding *ek_fleet_findings_find(struct ek_fleet_findings *t, int feature,
                                                int place);
const struct ek_finding *ek_fleet_findings_get(const struct ek_fleet_findings *t, int feature);
/* End a finding whose level was accepted. It is reported as dismissed; *over gets it. */
void ek_fleet_findings_accept(struct ek_fleet_findings *t, const struct ek_finding *f,
                              int64_t time_ms, struct ek_finding *over);
/* Release findings of the feature that `by` proposed. They stay open until another instance
 * proposes them or all have settled. */
void ek_fleet_findings_release_source(struct ek_fleet_findings *t, int feature, int by);
/* Reset the pooled evidence of all open findings. */
void ek_fleet_findings_restart(struct ek_fleet_findings *t);
/* Report an alarm of the pooled evidence as suspected. */
void ek_fleet_findings_suspect(struct ek_fleet_findings *t, const struct ek_fleet_alarm *a,
                               int64_t time_ms);
/* Write the findings of a plan record. */
void ek_fleet_findings_write(const struct ek_fleet_findings *t, struct ek_serialize *w,
                             const struct ek_fleet_dimensions *d);
/* Return 1 and the next finding event, 0: none. */
int ek_fleet_findings_next(struct ek_fleet_findings *t, struct ek_finding *out);
/* Return the total number of reported findings. */
uint64_t ek_fleet_findings_count(const struct ek_fleet_findings *t);

#endif
