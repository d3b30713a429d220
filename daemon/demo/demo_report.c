#include "daemon/demo/demo_report.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { ENOUGH_SEARCHES = 500 };

void ek_demo_report_init(struct ek_demo_report *s)
{
    memset(s, 0, sizeof *s);
    s->findings.suspected = true;
    s->fault_from = s->fault_to = s->route_from = s->route_to = UINT64_MAX;
}

void ek_demo_report_release(struct ek_demo_report *s)
{
    ek_reported_findings_release(&s->findings);
}

const char *ek_demo_segment(const struct ek_event_place *at, char text[EK_DEMO_TEXT])
{
    if (at->dimension)
        snprintf(text, EK_DEMO_TEXT, "%s=%s", at->dimension,
                 at->value ? at->value : EK_SEGMENT_OTHER);
    else
        snprintf(text, EK_DEMO_TEXT, "all traffic");
    return text;
}

static bool is_ours(const struct ek_event_place *at)
{
    char segment[EK_DEMO_TEXT];
    return !strcmp(at->feature, EK_DEMO_FEATURE) &&
           !strcmp(ek_demo_segment(at, segment), EK_DEMO_SEGMENT);
}

/* Drop the oldest finding if there is no room. */
static int add_finding(struct ek_demo_report *s, const struct ek_event *v)
{
    struct ek_reported_findings *all = &s->findings;
    if (all->count == EK_DEMO_FINDINGS_MAX && ek_reported_findings_grow(all, v))
        ek_reported_findings_remove(all, all->item);
    return ek_reported_findings_follow(all, v);
}

static void add_plan(struct ek_demo_report *s, const struct ek_event_plan *p, uint64_t query)
{
    size_t used = 0;
    bool ours = false;
    s->plan[0] = 0;
    for (int i = 0; i < p->count; i++) {
        const struct ek_event_entry *e = &p->entry[i];
        char segment[EK_DEMO_TEXT];
        ours |= is_ours(&e->at) && ek_action_routes(e->action);
        if (used < sizeof s->plan)
            used += (size_t)snprintf(s->plan + used, sizeof s->plan - used, "%s%s, %s: %s",
                                     i ? "; " : "", e->at.feature, ek_demo_segment(&e->at, segment),
                                     ek_action_name(e->action));
    }
    s->plan_version = p->version;
    if (ours && !s->route_in_force && s->route_from == UINT64_MAX)
        s->route_from = query;
    if (!ours && s->route_in_force)
        s->route_to = query;
    s->route_in_force = ours;
}

int ek_demo_report_event(struct ek_demo_report *s, const struct ek_event *v)
{
    if (v->kind == EK_EVENT_FINDING)
        return add_finding(s, v);
    if (v->kind == EK_EVENT_PLAN)
        add_plan(s, &v->plan, v->query);
    return EK_OK;
}

void ek_demo_report_result(struct ek_demo_report *s, const struct ek_demo_result *r)
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

const struct ek_event_finding *ek_demo_finding(const struct ek_reported_finding *f)
{
    return f->end ? &f->end->finding : &f->event->finding;
}

const struct ek_reported_finding *ek_demo_report_finding(const struct ek_demo_report *s)
{
    for (size_t i = s->findings.count; i > 0; i--) {
        const struct ek_reported_finding *f = &s->findings.item[i - 1];
        if (is_ours(&f->event->finding.at) && ek_demo_finding(f)->state != EK_DISMISSED)
            return f;
    }
    return NULL;
}

const char *ek_demo_report_fault(const struct ek_demo_report *s)
{
    const struct ek_reported_finding *f = ek_demo_report_finding(s);
    if (s->early)
        return "searches were changed before the fault";
    if (s->back < s->sent || s->dead)
        return "not all searches were returned";
    if (!f || f->confirmed == UINT64_MAX)
        return "the fault was not found";
    if (s->route_from == UINT64_MAX || s->upstream.count < ENOUGH_SEARCHES)
        return "the fault was not routed";
    if (ek_metric_result(&s->guarded) <= ek_metric_result(&s->upstream))
        return "the rankings are not better than without evenkeel";
    if (s->route_in_force || s->route_to == UINT64_MAX || s->route_to < s->fault_to)
        return "the route did not end after the fault";
    return NULL;
}
