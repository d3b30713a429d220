/* Action and mode for a finding, according to the rules. */
#ifndef EK_PLAN_POLICY_H
#define EK_PLAN_POLICY_H

#include "schema/manifest.h"
#include "rules/rules.h"
#include "detect/bounds.h"
#include "detect/finding.h"

#include <stdbool.h>

struct ek_decision {
    struct ek_treatment treatment; /* treatment; in observe mode the possible one */
    enum ek_mode mode;             /* of the segment of the finding */
    bool desired;                  /* a treatment is requested, subject to modes and limits */
    enum ek_bound limited;         /* limit that prevents it, or EK_BOUND_NONE */
    bool paused;                   /* prevented by a pause */
    bool stays;                    /* the fault has cleared, and the route waits for an operator */
};

/* Return the decision for a finding. have_model: a routable model is loaded. Without a model no
 * treatment is desired, and observe mode reports the treatment that a model would allow. */
struct ek_decision ek_decide(const struct ek_rules *rules, const struct ek_manifest *m,
                             int have_model, const struct ek_finding *finding);

#endif
