/* A case: one feature that the pooled evidence suspects, and what the lists of all instances say.
 *
 * It is a detector of that feature alone, whose lists are the rows that the instances answer with,
 * in the order of their times. So a change that no instance could see is named, put on the cell
 * that explains it, told on and ended as any other. Features that are categories have no case.
 * Owner: the caller. Memory: some MB, as a detector of one feature has.
 */
#ifndef EK_FLEET_DIAGNOSIS_H
#define EK_FLEET_DIAGNOSIS_H

#include "fleet/pool.h"
#include "fleet/row_samples.h"

enum {
    EK_FLEET_WAIT_REPORTS = 3, /* for answers, before it is looked at without */
};

struct ek_fleet_diagnosis;

/* number: of the ask. EK_ESTATE for a category; EK_ENOMEM. */
int ek_fleet_diagnosis_new(struct ek_fleet_diagnosis **out, const struct ek_manifest *m,
                           const struct ek_profile *p, const struct ek_rules *rules, int feature,
                           uint32_t number, struct ek_error *e);
void ek_fleet_diagnosis_free(struct ek_fleet_diagnosis *c);
int ek_fleet_diagnosis_feature(const struct ek_fleet_diagnosis *c);
uint32_t ek_fleet_diagnosis_number(const struct ek_fleet_diagnosis *c);

/* An alarm of the pooled evidence, raised by lists until time_ms. */
void ek_fleet_diagnosis_suspect(struct ek_fleet_diagnosis *c, const struct ek_fleet_alarm *a,
                                int64_t time_ms);
/* The instance (its number in the pool) has answered, with rows or without any. */
void ek_fleet_diagnosis_is_complete(struct ek_fleet_diagnosis *c, int instance);
/* A row of an instance, of the run that began at `start`; one that came before counts once.
 * EK_ENOMEM: a part of it counts. */
int ek_fleet_diagnosis_row(struct ek_fleet_diagnosis *c, struct ek_fleet_pool *pool, int instance,
                           uint64_t start, const struct ek_fleet_row *row);
/* Takes the rows that have come into account. instances: as many as may answer. Returns 1 while it
 * goes on, 0 when there is nothing left to ask for, EK_ENOMEM negative. */
int ek_fleet_diagnosis_advance(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool,
                               int instances);
/* The same between two ticks, as long as nothing is confirmed, and not before all have answered: of
 * what is confirmed the rows of all instances are taken together, tick by tick. EK_ENOMEM. */
int ek_fleet_diagnosis_check(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool,
                             int instances);
/* As ek_detector_confirmed; the cell is a place of the pool. */
int ek_fleet_diagnosis_finding(const struct ek_fleet_diagnosis *c, struct ek_fleet_pool *pool,
                               int at, struct ek_finding *out);

#endif
