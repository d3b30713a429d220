/* What the rules say of a finding: what is to be done about it, and how far. */
#ifndef EK_PLAN_POLICY_H
#define EK_PLAN_POLICY_H

#include "schema/manifest.h"
#include "rules/rules.h"
#include "detect/bounds.h"
#include "detect/finding.h"

#include <stdbool.h>

struct ek_decision {
    struct ek_treatment treatment; /* what is done, or in observe would be */
    enum ek_mode mode;             /* of its own cell */
    bool desired;                  /* it is to be done, as far as modes and limits let it */
    enum ek_bound limited;         /* the limit that says no (guard/control.h); else none */
    bool paused;                   /* a person says no, for all */
    bool stays;                    /* its fault is gone, and a person has to end it */
};

/* have_model: whether there is a model to route with; without one nothing is wanted, and what is
 * told in observe mode is what a model would allow. */
struct ek_decision ek_decide(const struct ek_rules *rules, const struct ek_manifest *m,
                             int have_model, const struct ek_finding *finding);

#endif
