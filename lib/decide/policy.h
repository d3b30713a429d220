/* What is done about a finding, by the rules: the action, and whether it is enforced. */
#ifndef EK_DECIDE_POLICY_H
#define EK_DECIDE_POLICY_H

#include "data/manifest.h"
#include "data/rules.h"
#include "decide/bounds.h"
#include "decide/finding.h"
#include "decide/plan.h"

struct ek_decision {
    struct ek_treatment treatment; /* what is done, or in observe would be */
    enum ek_mode mode;
    int enforced;          /* goes into the plan */
    enum ek_bound limited; /* the limit that says no to what would be enforced; else none */
};

/* have_model: whether there is a model to route with; without one nothing is enforced, and what is
 * told in observe mode is what a model would allow. */
struct ek_decision ek_decide(const struct ek_rules *rules, const struct ek_manifest *m,
                             const struct ek_plan *plan, int have_model,
                             const struct ek_finding *finding);

#endif
