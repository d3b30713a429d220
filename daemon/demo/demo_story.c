#include "daemon/demo/demo_story.h"

#include <stdio.h>
#include <string.h>

enum { ENOUGH_SEARCHES = 500 };

void ek_demo_story_init(struct ek_demo_story *s)
{
    memset(s, 0, sizeof *s);
    s->fault_from = s->fault_to = s->route_from = s->route_to = UINT64_MAX;
}

static void copy_text(char out[EK_DEMO_WORD], const char *text)
{
    snprintf(out, EK_DEMO_WORD, "%s", text ? text : "");
}

static void copy_segment(const struct ek_event_place *at, char out[EK_DEMO_WORD])
{
    if (at->dimension)
        snprintf(out, EK_DEMO_WORD, "%s=%s", at->dimension,
                 at->value ? at->value : EK_SEGMENT_OTHER);
    else
        snprintf(out, EK_DEMO_WORD, "all traffic");
}

static bool is_ours(const char *feature, const char *segment)
{
    return !strcmp(feature, EK_DEMO_FEATURE) && !strcmp(segment, EK_DEMO_SEGMENT);
}

/* The finding of this episode, a new one when it has none; the oldest goes when there is no room.
 */
static struct ek_demo_finding *find_finding(struct ek_demo_story *s,
                                            const struct ek_event_finding *v)
{
    for (int i = 0; i < s->findings; i++)
        if (s->finding[i].episode == v->episode && !strcmp(s->finding[i].feature, v->at.feature))
            return &s->finding[i];
    if (s->findings == EK_DEMO_FINDINGS_MAX)
        memmove(s->finding, s->finding + 1, (size_t)--s->findings * sizeof *s->finding);
    struct ek_demo_finding *f = &s->finding[s->findings++];
    memset(f, 0, sizeof *f);
    f->episode = v->episode;
    f->suspected = f->confirmed = UINT64_MAX;
    return f;
}

static void add_finding(struct ek_demo_story *s, const struct ek_event_finding *v, uint64_t query)
{
    struct ek_demo_finding *f = find_finding(s, v);
    f->state = v->state;
    copy_text(f->feature, v->at.feature);
    copy_text(f->kind, v->class == EK_CLASS_NONE ? "" : ek_class_name(v->class));
    copy_text(f->reason, v->reason);
    copy_text(f->unit, v->units ? v->unit[0] : "");
    copy_segment(&v->at, f->segment);
    f->factor = v->factor;
    f->low = v->factor_low;
    f->high = v->factor_high;
    f->share = v->share;
    if (f->suspected == UINT64_MAX)
        f->suspected = query;
    if (f->confirmed == UINT64_MAX && v->state == EK_CONFIRMED)
        f->confirmed = query;
}

static bool routes(enum ek_action action)
{
    return action == EK_ACT_ROUTE || action == EK_ACT_ROUTE_SPREAD || action == EK_ACT_ROUTE_SOURCE;
}

static void add_plan(struct ek_demo_story *s, const struct ek_event_plan *p, uint64_t query)
{
    size_t used = 0;
    bool ours = false;
    s->plan[0] = 0;
    for (int i = 0; i < p->count; i++) {
        const struct ek_event_entry *e = &p->entry[i];
        char segment[EK_DEMO_WORD];
        copy_segment(&e->at, segment);
        ours |= is_ours(e->at.feature, segment) && routes(e->action);
        if (used < sizeof s->plan)
            used +=
                (size_t)snprintf(s->plan + used, sizeof s->plan - used, "%s%s, %s: %s",
                                 i ? "; " : "", e->at.feature, segment, ek_action_name(e->action));
    }
    s->plan_version = p->version;
    if (ours && !s->route_in_force && s->route_from == UINT64_MAX)
        s->route_from = query;
    if (!ours && s->route_in_force)
        s->route_to = query;
    s->route_in_force = ours;
}

void ek_demo_story_event(struct ek_demo_story *s, const struct ek_event *v)
{
    if (v->kind == EK_EVENT_FINDING)
        add_finding(s, &v->finding, v->query);
    else if (v->kind == EK_EVENT_PLAN)
        add_plan(s, &v->plan, v->query);
}

void ek_demo_story_result(struct ek_demo_story *s, const struct ek_demo_result *r)
{
    s->back++;
    s->untouched += r->untouched;
    s->routed += r->routed;
    s->early += r->number < s->fault_from && !r->untouched;
    s->others += !r->concerned && !r->untouched;
    if (!r->broken || !r->routed)
        return;
    ek_metric_add(&s->upstream, r->upstream, EK_EMPTY_SKIP);
    ek_metric_add(&s->guarded, r->guarded, EK_EMPTY_SKIP);
    ek_metric_add(&s->clean, r->clean, EK_EMPTY_SKIP);
}

const struct ek_demo_finding *ek_demo_story_finding(const struct ek_demo_story *s)
{
    for (int i = s->findings - 1; i >= 0; i--)
        if (is_ours(s->finding[i].feature, s->finding[i].segment) &&
            s->finding[i].state != EK_DISMISSED)
            return &s->finding[i];
    return NULL;
}

const char *ek_demo_story_fault(const struct ek_demo_story *s)
{
    const struct ek_demo_finding *f = ek_demo_story_finding(s);
    if (s->early)
        return "searches were changed before anything was wrong";
    if (s->back < s->sent || s->dead)
        return "not every search came back";
    if (!f || f->confirmed == UINT64_MAX)
        return "the price of arm B was not found";
    if (s->route_from == UINT64_MAX || s->upstream.count < ENOUGH_SEARCHES)
        return "the price of arm B was not routed";
    if (ek_metric_result(&s->guarded) <= ek_metric_result(&s->upstream))
        return "the rankings are no better than an unguarded pipeline's";
    if (s->route_in_force || s->route_to == UINT64_MAX || s->route_to < s->fault_to)
        return "the route was not withdrawn after the fault";
    return NULL;
}
