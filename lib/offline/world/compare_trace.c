#include "offline/world/compare_trace.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

void ek_compare_trace_release(struct ek_compare_trace *s)
{
    ek_reported_findings_release(&s->reported);
    for (size_t i = 0; i < s->plans; i++)
        ek_free(s->plan[i].event);
    ek_free(s->finding);
    ek_free(s->plan);
    memset(s, 0, sizeof *s);
}

static bool same_entry(const struct ek_event_entry *a, const struct ek_event_entry *b)
{
    return ek_event_same_place(&a->at, &b->at) && a->action == b->action && a->mode == b->mode &&
           fabs(a->percent - b->percent) < EK_COMPARED_PERCENT / 2;
}

static bool has_entry(const struct ek_compared_plan *p, const struct ek_event_entry *entry)
{
    for (size_t i = 0; i < p->count; i++)
        if (same_entry(&p->entry[i], entry))
            return true;
    return false;
}

bool ek_compared_same_plan(const struct ek_compared_plan *a, const struct ek_compared_plan *b)
{
    bool all = a->count == b->count;
    for (size_t i = 0; all && i < a->count; i++)
        all = has_entry(b, &a->entry[i]);
    return all;
}

static int follow(struct ek_compare_trace *s, const struct ek_event *v)
{
    if (s->reported.count < EK_COMPARED_MAX || !ek_reported_findings_grow(&s->reported, v))
        return ek_reported_findings_follow(&s->reported, v);
    s->left++;
    return EK_OK;
}

/* Return a view; its strings belong to the event. */
static struct ek_compared_finding view_of(const struct ek_reported_finding *r)
{
    const struct ek_event *v = r->event;
    struct ek_compared_finding f = {
        .class = ek_event_kind_name(v->kind),
        .unit = "",
        .action = "",
        .mode = "",
        .end = r->end ? ek_finding_state_name(ek_event_finding_state(r->end)) : NULL,
        .factor = NAN,
        .since = r->confirmed,
        .confirmed = r->confirmed,
        .ended = r->end ? r->end->query : UINT64_MAX};
    if (v->kind == EK_EVENT_LIMIT) {
        f.at.feature = ek_bound_name(v->limit.bound);
        f.text = ek_bound_text(v->limit.bound);
    } else if (v->kind == EK_EVENT_MODEL_DRIFT) {
        f.at.feature = "model and upstream";
        f.text = v->model_drift.text;
        f.since = v->model_drift.view.since_query;
    } else {
        const struct ek_event_finding *own = &v->finding;
        f.at = own->at;
        f.class = own->class == EK_CLASS_NONE ? "" : ek_class_name(own->class);
        f.unit = own->units ? own->unit[0] : "";
        f.action = ek_action_name(own->action);
        f.mode = ek_mode_name(own->mode);
        f.factor = own->factor;
        f.text = own->text;
        f.since = own->since_query;
    }
    return f;
}

int ek_compare_trace_end(struct ek_compare_trace *s)
{
    s->finding = ek_calloc(s->reported.count + 1, sizeof *s->finding);
    if (!s->finding)
        return EK_ENOMEM;
    while (s->findings < s->reported.count) {
        s->finding[s->findings] = view_of(&s->reported.item[s->findings]);
        s->findings++;
    }
    return EK_OK;
}

static int receive_plan(struct ek_compare_trace *s, const struct ek_event *v)
{
    if (s->plans == EK_COMPARED_MAX) {
        s->left++;
        return EK_OK;
    }
    if (s->plans == s->plan_room) {
        size_t room = 2 * s->plans + 8;
        struct ek_compared_plan *more = ek_realloc(s->plan, room, sizeof *more);
        if (!more)
            return EK_ENOMEM;
        s->plan = more;
        s->plan_room = room;
    }
    struct ek_event *copy = ek_event_copy(v);
    if (!copy)
        return EK_ENOMEM;
    s->plan[s->plans++] = (struct ek_compared_plan){.query = v->query,
                                                    .event = copy,
                                                    .entry = copy->plan.entry,
                                                    .count = (size_t)copy->plan.count};
    return EK_OK;
}

int ek_compare_trace_event(struct ek_compare_trace *s, const struct ek_event *v, struct ek_error *e)
{
    int rc = EK_OK;
    if (v->kind == EK_EVENT_PLAN)
        rc = receive_plan(s, v);
    else if (v->kind == EK_EVENT_FINDING || v->kind == EK_EVENT_MODEL_DRIFT ||
             v->kind == EK_EVENT_LIMIT)
        rc = follow(s, v);
    else if (v->kind == EK_EVENT_DECISION)
        s->rolled_back += v->decision.kind == EK_DECIDED_ROLLBACK;
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}
