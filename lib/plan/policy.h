/* Decision for a finding by the rules: action, mode and repair. Pure functions. */
#ifndef EK_PLAN_POLICY_H
#define EK_PLAN_POLICY_H

#include "assets/profile.h"
#include "schema/manifest.h"
#include "rules/rules.h"
#include "detect/bounds.h"
#include "detect/finding.h"
#include "plan/plan.h"

#include <stdbool.h>

/* Means of mitigation. */
struct ek_means {
    bool model;    /* a routable network scores lists */
    bool features; /* feature values are repaired, for the output or for the user's own ranker */
    bool ranker;   /* the user's ranker scores the repaired values, and scores are written */
    const struct ek_profile *profile; /* for `features` */
};

/* Return whether anything can be mitigated. */
static inline bool ek_means_any(const struct ek_means *m)
{
    return m->model || m->features;
}

struct ek_decision {
    struct ek_treatment treatment; /* treatment; in observe mode the possible one */
    struct ek_plan_repair repair;  /* of a treatment of features */
    enum ek_mode mode;             /* of the segment of the finding */
    bool desired;                  /* a treatment is requested, subject to modes and limits */
    enum ek_bound limited;         /* limit that prevents it, or EK_BOUND_NONE */
    bool paused;                   /* prevented by a pause */
    bool rolled_back;              /* ended by a guardrail; the mode is observe */
    bool no_model;                 /* nothing can be mitigated: there is no model for it */
    const char *unable;            /* why a query feature is not repaired, a static string; NULL */
    bool stays;                    /* the fault has cleared, and the route waits for an operator */
};

/* Return the decision of the rules for a finding. If `means` has no means of mitigation no
 * treatment is desired, and observe mode reports the treatment that a model would allow. */
struct ek_decision ek_decide(const struct ek_rules *rules, const struct ek_manifest *m,
                             const struct ek_means *means, const struct ek_finding *finding);

/* Return the repair for a finding that `action` allows: EK_ACT_AUTO, REPAIR, FILL or BLANK; by
 * EK_REPAIR_UNKNOWN if there is none. query: the feature is a query feature. Decision table:
 * docs/repair.md. */
struct ek_plan_repair ek_repair_decide(enum ek_action action, const struct ek_finding *f,
                                       const struct ek_profile *profile, bool query);
/* Return the action that a repair carries out: EK_ACT_REPAIR, FILL or BLANK; EK_ACT_ALERT for none.
 */
enum ek_action ek_repair_action(const struct ek_plan_repair *r);

#endif
