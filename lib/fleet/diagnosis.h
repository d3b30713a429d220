/* Diagnosis of one feature that the pooled evidence suspects, from the list statistics of all
 * instances.
 *
 * It runs a detector of this feature on the rows of all instances in the order of their times. So a
 * change that is too weak for one instance is classified, localized, updated and ended as usual.
 * Category features have no diagnosis. Memory: some MB, as a detector of one feature.
 */
#ifndef EK_FLEET_DIAGNOSIS_H
#define EK_FLEET_DIAGNOSIS_H

#include "fleet/pool.h"
#include "fleet/row_samples.h"

enum {
    EK_FLEET_WAIT_REPORTS = 3, /* reports to wait for missing answers */
};

struct ek_fleet_diagnosis;

/* Create the diagnosis of an item feature. `number`: of the row request. The other arguments must
 * outlive it. Return 0, EK_ESTATE for a category, or EK_ENOMEM. */
int ek_fleet_diagnosis_new(struct ek_fleet_diagnosis **out, const struct ek_manifest *m,
                           const struct ek_profile *p, const struct ek_rules *rules, int feature,
                           uint32_t number, struct ek_error *e);
void ek_fleet_diagnosis_free(struct ek_fleet_diagnosis *c);
/* Return the number of the feature. */
int ek_fleet_diagnosis_feature(const struct ek_fleet_diagnosis *c);
/* Return the number of the row request. */
uint32_t ek_fleet_diagnosis_number(const struct ek_fleet_diagnosis *c);

/* Add an alarm of the pooled evidence, which is copied, raised by lists until time_ms. Alarms
 * beyond a limit are ignored. */
void ek_fleet_diagnosis_suspect(struct ek_fleet_diagnosis *c, const struct ek_fleet_alarm *a,
                                int64_t time_ms);
/* Mark the answer of an instance as complete, with or without rows. `instance`: its number in the
 * pool. */
void ek_fleet_diagnosis_mark_complete(struct ek_fleet_diagnosis *c, int instance);
/* Add a row of an instance; duplicates are ignored. `start`: of the instance's run. Return 0, or
 * EK_ENOMEM; the row may then count in part. */
int ek_fleet_diagnosis_row(struct ek_fleet_diagnosis *c, struct ek_fleet_pool *pool, int instance,
                           uint64_t start, const struct ek_fleet_row *row);
/* Process the pending rows, once per report interval. `instances`: number of instances that may
 * answer. Return 1 to continue, 0 if no more rows are needed, or -EK_ENOMEM. */
int ek_fleet_diagnosis_advance(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool,
                               int instances);
/* Process the pending rows between two reports, only after all instances have answered and only
 * until a finding is confirmed. From then on ek_fleet_diagnosis_advance processes the rows of all
 * instances together. Return 0, or EK_ENOMEM. */
int ek_fleet_diagnosis_check(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool,
                             int instances);
/* Set *out to the next confirmed finding from position `at`, which starts as 0; its cell is a cell
 * of the pool. Return the next position, or 0 at the end. Strings are valid until the next call
 * with `c`. */
int ek_fleet_diagnosis_finding(const struct ek_fleet_diagnosis *c, struct ek_fleet_pool *pool,
                               int at, struct ek_finding *out);

#endif
