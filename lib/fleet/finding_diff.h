/* Finding events of a fleet from successive plan records. All instances derive the same events in
 * the same order.
 *
 * A plan record has all open findings:
 * - A new finding is confirmed.
 * - A finding with a new class, or a factor outside the reported interval, is updated.
 * - A missing finding has recovered. It is dismissed if a later finding of the feature replaces it
 *   or the record has it as accepted.
 * - Void records (fleet/plan_record.h) change nothing.
 *
 * Manifest and rules must outlive it.
 */
#ifndef EK_FLEET_FINDING_DIFF_H
#define EK_FLEET_FINDING_DIFF_H

#include "fleet/plan_record.h"
#include "plan/open_findings.h"

struct ek_finding_diff;

/* Return 0, or EK_ENOMEM. */
int ek_finding_diff_new(struct ek_finding_diff **out, const struct ek_manifest *m,
                        const struct ek_rules *rules);
void ek_finding_diff_free(struct ek_finding_diff *n);

/* Apply a plan record. Return 0, EK_EFORMAT or EK_ENOMEM; a part may then be reported later. */
int ek_finding_diff_apply(struct ek_finding_diff *n, const void *bytes, size_t length,
                          struct ek_error *e);
/* Return 1 and the next finding to report, 0: none. It has no cell (-1), time or list. Strings are
 * valid until the next record. Finding numbers are those of the fleet. */
int ek_finding_diff_next(struct ek_finding_diff *n, struct ek_finding *out);
/* As ek_detector_members, for the findings of the fleet. */
int ek_finding_diff_members(const struct ek_finding_diff *n, uint32_t cause, int *features,
                            int most);

#endif
