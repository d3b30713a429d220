/* The findings of a fleet: one per feature and cell, whoever proposes it.
 *
 * Cells are places of the pool. Owner: the caller. One thread at a time.
 */
#ifndef EK_FLEET_FLEET_FINDINGS_H
#define EK_FLEET_FLEET_FINDINGS_H

#include "fleet/plan_record.h"
#include "fleet/pool.h"
#include "plan/open_findings.h"

struct ek_fleet_findings;

int ek_fleet_findings_new(struct ek_fleet_findings **out, struct ek_fleet_pool *pool,
                          const struct ek_manifest *m, const struct ek_rules *rules);
void ek_fleet_findings_free(struct ek_fleet_findings *t);

/* As the log has it: none but those restored, and so many episodes ever. */
void ek_fleet_findings_reset(struct ek_fleet_findings *t, uint32_t episodes);
void ek_fleet_findings_restore(struct ek_fleet_findings *t, const struct ek_finding *f);
uint32_t ek_fleet_findings_episodes(const struct ek_fleet_findings *t);

/* A tick: ek_fleet_findings_start, what is proposed, and ek_fleet_findings_finish, which tells
 * `act` of each that is open, and, once `settled`, of each that nobody proposes any more:
 * recovered, or dismissed where another cell has been found for the feature since. */
void ek_fleet_findings_start(struct ek_fleet_findings *t);
void ek_fleet_findings_propose(struct ek_fleet_findings *t, const struct ek_finding *f, int by);
void ek_fleet_findings_finish(struct ek_fleet_findings *t, bool settled, int64_t time_ms,
                              void (*act)(void *context, const struct ek_finding *f),
                              void *context);
/* Whoever says so has not heard yet what is normal now: what is open goes on as it is, and nothing
 * begins. In place of ek_fleet_findings_propose. */
void ek_fleet_findings_confirm_open(struct ek_fleet_findings *t, const struct ek_finding *f);
/* The open one there, or the first of the feature; NULL: there is none. Valid until the next tick.
 */
const struct ek_finding *ek_fleet_findings_find(struct ek_fleet_findings *t, int feature,
                                                int place);
const struct ek_finding *ek_fleet_findings_get(const struct ek_fleet_findings *t, int feature);
/* It is normal now: it ends, and is told as dismissed, which *over is. */
void ek_fleet_findings_accept(struct ek_fleet_findings *t, const struct ek_finding *f,
                              int64_t time_ms, struct ek_finding *over);
/* What `by` proposed of the feature is nobody's: it goes on until somebody else has it, or all have
 * settled. */
void ek_fleet_findings_release_source(struct ek_fleet_findings *t, int feature, int by);
/* Forgets the pooled evidence on what is open. */
void ek_fleet_findings_restart(struct ek_fleet_findings *t);
/* The pooled evidence suspects something. */
void ek_fleet_findings_suspect(struct ek_fleet_findings *t, const struct ek_fleet_alarm *a,
                               int64_t time_ms);
/* The findings of the plan record. */
void ek_fleet_findings_write(const struct ek_fleet_findings *t, struct ek_serialize *w,
                             const struct ek_fleet_dimensions *d);
int ek_fleet_findings_next(struct ek_fleet_findings *t, struct ek_finding *out);
/* How many there were for it, ever. */
uint64_t ek_fleet_findings_count(const struct ek_fleet_findings *t);

#endif
