#include "guard/recall.h"

#include "base/alloc.h"
#include "decide/pooled.h"
#include "guard/event.h"
#include "guard/guard_internal.h"

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
