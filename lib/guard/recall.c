#include "guard/recall.h"

#include "base/alloc.h"
#include "detect/pooled.h"
#include "guard/drift_event.h"
#include "guard/event.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"

#include <string.h>

static int recall_finding(struct ek_guard *g, struct ek_finding *f)
{
    const struct ek_assets *a = g->assets;
    struct ek_decision decision = ek_guard_decide(g, f);
    int members = ek_detector_members(g->detector, f->cause, g->members, a->manifest->item_count);
    f->state = EK_UPDATED;
    return ek_event_finding(&g->event, a->manifest, f, &decision, g->members, members);
}

static int tell_event(struct ek_guard *g, int (*tell)(void *context, const char *json),
                      void *context)
{
    const char *json = ek_buf_string(&g->event);
    return json ? tell(context, json) : EK_ENOMEM;
}

int ek_guard_recall(struct ek_guard *g, int (*tell)(void *context, const char *json), void *context)
{
    struct ek_finding f;
    int rc = EK_OK, place = 0;
    while (!rc && (place = ek_detector_confirmed(g->detector, place, &f)) > 0) {
        rc = recall_finding(g, &f);
        rc = rc ? rc : tell_event(g, tell, context);
    }
    if (rc || !ek_guard_plan_version(g))
        return rc;
    rc = ek_event_plan(&g->event, g->assets->manifest, ek_detector_registry(g->detector),
                       ek_control_plan(g->control), ek_detector_queries(g->detector), g->time_ms);
    return rc ? rc : tell_event(g, tell, context);
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_of(const struct ek_decided *m, const struct ek_ranks_view *v)
{
    return m->what == EK_DID_WITHDRAW && same(m->feature, v->feature) &&
           same(m->dimension, v->dimension) && same(m->value, v->value);
}

/* As it was decided; where that is forgotten, what is known of it now. */
static struct ek_decided withdrawal(const struct ek_guard *g, const struct ek_ranks_view *v)
{
    for (uint64_t i = ek_decisions_last(g->decisions); i > 0; i--) {
        const struct ek_decided *m = ek_decisions_at(g->decisions, i);
        if (m && is_of(m, v))
            return *m;
    }
    struct ek_decided m = ek_decided_of(EK_DID_WITHDRAW);
    m.time_ms = g->time_ms;
    m.feature = v->feature;
    m.dimension = v->dimension;
    m.value = v->value;
    m.rail = v->rail;
    m.figure = v->figure;
    m.limit = v->limit;
    return m;
}

static int recall_withdrawal(struct ek_guard *g, const struct ek_ranks_view *v)
{
    struct ek_decided m = withdrawal(g, v);
    ek_buf_clear(&g->event);
    return ek_decided_json(&g->event, &m);
}

static int recall_model(struct ek_guard *g, int (*tell)(void *context, const char *json),
                        void *context)
{
    struct ek_agreement_view v;
    if (!ek_guard_has_drifted(g))
        return EK_OK;
    ek_agreement_watch_view(g->agreement, &v);
    int rc = ek_event_model_drift(&g->event, &v, ek_detector_queries(g->detector), g->time_ms);
    return rc ? rc : tell_event(g, tell, context);
}

int ek_guard_recall_amiss(struct ek_guard *g, int (*tell)(void *context, const char *json),
                          void *context)
{
    struct ek_ranks_view v;
    int rc = EK_OK, at = 0;
    while (!rc && ek_guard_ranks(g, &at, &v)) {
        if (!v.withdrawn)
            continue;
        rc = recall_withdrawal(g, &v);
        rc = rc ? rc : tell_event(g, tell, context);
    }
    return rc ? rc : recall_model(g, tell, context);
}
