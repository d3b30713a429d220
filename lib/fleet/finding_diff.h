/* What has become of the findings of a fleet: whoever reads the plan's log tells them as they come,
 * change and go, each instance the same in the same order.
 *
 * A record has all findings that are open. One that was not there before is confirmed; one whose
 * class changed, or whose factor left the interval that was told, is updated; one that is gone has
 * recovered, or is dismissed where a later one of the feature has come in its place, or where the
 * record has it as accepted. Records that
 * do not count (guard/fleet_plan.h) change nothing.
 * Owner: the caller. One thread at a time. Manifest and rules must outlive it.
 */
#ifndef EK_FLEET_FINDING_DIFF_H
#define EK_FLEET_FINDING_DIFF_H

#include "fleet/plan_record.h"
#include "plan/open_findings.h"

struct ek_finding_diff;

int ek_finding_diff_new(struct ek_finding_diff **out, const struct ek_manifest *m,
                        const struct ek_rules *rules);
void ek_finding_diff_free(struct ek_finding_diff *n);

/* Takes a record of the log. EK_EFORMAT, EK_ENOMEM: then a part of it may be told later. */
int ek_finding_diff_apply(struct ek_finding_diff *n, const void *bytes, size_t length,
                          struct ek_error *e);
/* The next that is to be told, 0 when there is none. It has no cell (-1), no time and no query;
 * texts are good until the next record is taken. Episodes are those of the fleet. */
int ek_finding_diff_next(struct ek_finding_diff *n, struct ek_finding *out);
/* As ek_detector_members, of the findings of the fleet. */
int ek_finding_diff_members(const struct ek_finding_diff *n, uint32_t cause, int *features,
                            int most);

#endif
