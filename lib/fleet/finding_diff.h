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

/* Create a state without findings. Manifest and rules must outlive it. Return 0 or EK_ENOMEM. */
int ek_finding_diff_new(struct ek_finding_diff **out, const struct ek_manifest *m,
                        const struct ek_rules *rules);
void ek_finding_diff_free(struct ek_finding_diff *n);

/* Apply a plan record and queue the events that follow from it. Return 0, EK_EFORMAT without a
 * change, or EK_ENOMEM; a part may then be reported later. */
int ek_finding_diff_apply(struct ek_finding_diff *n, const void *bytes, size_t length,
                          struct ek_error *e);
/* Set *out to the next finding event, oldest first. It has no cell (-1), time or list; its number
 * is that of the fleet. Strings are valid until the next record. Return 1, or 0 without an event.
 */
int ek_finding_diff_next(struct ek_finding_diff *n, struct ek_finding *out);
/* Return whether the last record has an open finding of a feature and segment; dimension NULL: all
 * traffic, value NULL: (other). */
bool ek_finding_diff_has(const struct ek_finding_diff *n, const char *feature,
                         const char *dimension, const char *value);
/* Write the features of incident `cause` of the fleet to features [most]. Return their number, at
 * most `most`. */
int ek_finding_diff_members(const struct ek_finding_diff *n, uint32_t cause, int *features,
                            int most);

#endif
