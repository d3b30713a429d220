#include "guard/replay_open.h"

#include "base/alloc.h"
#include "detect/evidence_export.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"

static int pass_event(struct ek_event *event, ek_replay_fn *receive, void *context)
{
    int rc = event ? receive(context, event) : EK_ENOMEM;
    ek_free(event);
    return rc;
}

static struct ek_event *open_finding(struct ek_guard *g, struct ek_finding *f)
{
    const struct ek_assets *a = g->assets;
    struct ek_decision decision = ek_guard_decide(g, f);
    int members =
        ek_detector_members(g->detector, f->cause, g->members, a->manifest->watched_count);
    f->state = EK_UPDATED;
    return ek_event_from_finding(a->manifest, f, &decision, g->members, members);
}

int ek_guard_replay_open(struct ek_guard *g, ek_replay_fn *receive, void *context)
{
    struct ek_finding f;
    int rc = EK_OK, place = 0;
    while (!rc && (place = ek_detector_confirmed(g->detector, place, &f)) > 0)
        rc = pass_event(open_finding(g, &f), receive, context);
    if (rc || !ek_guard_plan_version(g))
        return rc;
    return pass_event(ek_event_from_plan(g->assets->manifest, ek_detector_registry(g->detector),
                                         ek_controller_plan(g->control),
                                         ek_detector_list_count(g->detector), g->time_ms),
                      receive, context);
}

static bool is_of(const struct ek_decision_record *m, const struct ek_impact_view *v)
{
    const struct ek_event_place a = {m->feature, m->dimension, m->value},
                                b = {v->feature, v->dimension, v->value};
    return m->kind == EK_DECIDED_ROLLBACK && ek_event_same_place(&a, &b);
}

/* Return the rollback decision, or the current values if it was evicted. */
static struct ek_decision_record withdrawal(const struct ek_guard *g,
                                            const struct ek_impact_view *v)
{
    for (uint64_t i = ek_decisions_last(g->decisions); i > 0; i--) {
        const struct ek_decision_record *m = ek_decisions_at(g->decisions, i);
        if (m && is_of(m, v))
            return *m;
    }
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_ROLLBACK);
    m.time_ms = g->time_ms;
    m.feature = v->feature;
    m.dimension = v->dimension;
    m.value = v->value;
    m.guardrail = v->guardrail;
    m.observed = v->observed;
    m.limit = v->limit;
    return m;
}

static int replay_model(struct ek_guard *g, ek_replay_fn *receive, void *context)
{
    struct ek_agreement_view v;
    if (!ek_guard_has_drifted(g))
        return EK_OK;
    ek_agreement_watch_view(g->agreement, &v);
    return pass_event(
        ek_event_from_model_drift(&v, ek_detector_list_count(g->detector), g->time_ms), receive,
        context);
}

int ek_guard_replay_inconsistent(struct ek_guard *g, ek_replay_fn *receive, void *context)
{
    struct ek_impact_view v;
    int rc = EK_OK, at = 0;
    while (!rc && ek_guard_impact(g, &at, &v)) {
        struct ek_decision_record m = withdrawal(g, &v);
        rc = v.rolled_back ? pass_event(ek_event_from_decision(&m), receive, context) : EK_OK;
    }
    return rc ? rc : replay_model(g, receive, context);
}
