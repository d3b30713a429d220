/* What pins and limits of the rules make of a decision, for their tests: what would act, where the
 * finding is the only one there is.
 *
 * A pin of the place, or of all traffic, is what acts there, whatever the mode is, and `none` and
 * `alert` let nothing act. Of the limits those count that one finding alone goes beyond: how much
 * of the traffic a segment value has is not known here.
 */
#ifndef EK_OFFLINE_RULES_SETTLED_H
#define EK_OFFLINE_RULES_SETTLED_H

#include "rules/rules.h"
#include "detect/finding.h"
#include "plan/policy.h"

enum { EK_SETTLED_BYTES = 60 };

/* Whether it was found there; NULL, NULL: in all traffic. */
bool ek_found_in(const struct ek_finding *f, const char *dimension, const char *value);
/* Changes action and mode of what ek_decide said. feature: its number in the manifest. now_ms: by
 * the times of the stream. by [EK_SETTLED_BYTES]: " by the pin at 9:5", or "" where nothing is
 * changed. */
void ek_rules_settle(const struct ek_rules *rules, int feature, const struct ek_finding *f,
                     int64_t now_ms, struct ek_decision *d, char *by);

#endif
