/* The findings of a fleet: one per feature and cell, whoever proposes it.
 *
 * Cells are places of the pool. Owner: the caller. One thread at a time.
 */
#ifndef EK_FLEET_FLEET_FINDINGS_H
#define EK_FLEET_FLEET_FINDINGS_H

#include "fleet/plan_record.h"
#include "fleet/pool.h"
#include "plan/open_findings.h"

struct ek_fleet_told;

int ek_fleet_told_new(struct ek_fleet_told **out, struct ek_fleet_pool *pool,
                      const struct ek_manifest *m, const struct ek_rules *rules);
void ek_fleet_told_free(struct ek_fleet_told *t);

/* As the log has it: none but those restored, and so many episodes ever. */
void ek_fleet_told_forget(struct ek_fleet_told *t, uint32_t episodes);
void ek_fleet_told_restore(struct ek_fleet_told *t, const struct ek_finding *f);
uint32_t ek_fleet_told_episodes(const struct ek_fleet_told *t);

/* A tick: ek_fleet_told_begin, what is proposed, and ek_fleet_told_settle, which tells `act` of
 * each that is open, and, once `settled`, of each that nobody proposes any more: recovered,
 * or dismissed where another cell has been found for the feature since. */
void ek_fleet_told_begin(struct ek_fleet_told *t);
void ek_fleet_told_propose(struct ek_fleet_told *t, const struct ek_finding *f, int by);
void ek_fleet_told_settle(struct ek_fleet_told *t, bool settled, int64_t time_ms,
                          void (*act)(void *context, const struct ek_finding *f), void *context);
/* Whoever says so has not heard yet what is normal now: what is open goes on as it is, and nothing
 * begins. In place of ek_fleet_told_propose. */
void ek_fleet_told_keep(struct ek_fleet_told *t, const struct ek_finding *f);
/* The open one there, or the first of the feature; NULL: there is none. Valid until the next tick.
 */
const struct ek_finding *ek_fleet_told_find(struct ek_fleet_told *t, int feature, int place);
const struct ek_finding *ek_fleet_told_of(const struct ek_fleet_told *t, int feature);
/* It is normal now: it ends, and is told as dismissed, which *over is. */
void ek_fleet_told_accept(struct ek_fleet_told *t, const struct ek_finding *f, int64_t time_ms,
                          struct ek_finding *over);
/* What `by` proposed of the feature is nobody's: it goes on until somebody else has it, or all have
 * settled. */
void ek_fleet_told_orphan(struct ek_fleet_told *t, int feature, int by);
/* Forgets the pooled evidence on what is open. */
void ek_fleet_told_restart(struct ek_fleet_told *t);
/* The pooled evidence suspects something. */
void ek_fleet_told_suspect(struct ek_fleet_told *t, const struct ek_fleet_alarm *a,
                           int64_t time_ms);
/* The findings of the plan record. */
void ek_fleet_told_put(const struct ek_fleet_told *t, struct ek_serialize *w,
                       const struct ek_fleet_dimensions *d);
int ek_fleet_told_next(struct ek_fleet_told *t, struct ek_finding *out);
/* How many there were for it, ever. */
uint64_t ek_fleet_told_count(const struct ek_fleet_told *t);

#endif
