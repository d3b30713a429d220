#include "daemon/demo/demo_story.h"

#include "yaml/yaml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ENOUGH_SEARCHES = 500 };

void ek_demo_story_init(struct ek_demo_story *s)
{
    memset(s, 0, sizeof *s);
    s->fault_from = s->fault_to = s->route_from = s->route_to = UINT64_MAX;
}

/* An event is JSON, and so YAML: its tree has the typed readers. */
static void copy_text(const struct ek_node *map, const char *key, char out[EK_DEMO_WORD])
{
    const struct ek_node *n = ek_node_get(map, key);
    bool known = n && n->text && (n->quoted || strcmp(n->text, "null") != 0);
    snprintf(out, EK_DEMO_WORD, "%s", known ? n->text : "");
}

static double number(const struct ek_yaml *y, const struct ek_node *map, const char *key)
{
    double value;
    const struct ek_node *n = ek_node_get(map, key);
    return n && !ek_node_double(y, n, key, -INFINITY, INFINITY, &value, NULL) ? value : NAN;
}

static uint64_t query_of(const struct ek_yaml *y, const struct ek_node *map)
{
    double value = number(y, map, "query");
    return value >= 0 ? (uint64_t)value : UINT64_MAX;
}

static void copy_segment(const struct ek_node *map, char out[EK_DEMO_WORD])
{
    const struct ek_node *n = ek_node_get(map, "segment");
    const char *name = n && n->kind == EK_NODE_MAPPING && n->count ? n->children[0].text : NULL;
    if (name && n->children[1].text)
        snprintf(out, EK_DEMO_WORD, "%s=%s", name, n->children[1].text);
    else
        snprintf(out, EK_DEMO_WORD, "all traffic");
}

static bool is_ours(const char *feature, const char *segment)
{
    return !strcmp(feature, EK_DEMO_FEATURE) && !strcmp(segment, EK_DEMO_SEGMENT);
}

/* The finding of this episode, a new one when it has none; the oldest goes when there is no room.
 */
static struct ek_demo_finding *episode(struct ek_demo_story *s, const char *id)
{
    for (int i = 0; i < s->findings; i++)
        if (!strcmp(s->finding[i].episode, id))
            return &s->finding[i];
    if (s->findings == EK_DEMO_FINDINGS_MAX)
        memmove(s->finding, s->finding + 1, (size_t)--s->findings * sizeof *s->finding);
    struct ek_demo_finding *f = &s->finding[s->findings++];
    memset(f, 0, sizeof *f);
    snprintf(f->episode, sizeof f->episode, "%s", id);
    f->suspected = f->confirmed = UINT64_MAX;
    return f;
}

static void take_finding(struct ek_demo_story *s, const struct ek_yaml *y,
                         const struct ek_node *map)
{
    char id[EK_DEMO_WORD];
    copy_text(map, "episode", id);
    struct ek_demo_finding *f = episode(s, id);
    copy_text(map, "state", f->state);
    copy_text(map, "feature", f->feature);
    copy_text(map, "class", f->kind);
    copy_text(map, "reason", f->reason);
    copy_segment(map, f->segment);
    f->factor = number(y, map, "factor");
    f->low = number(y, map, "factor_low");
    f->high = number(y, map, "factor_high");
    f->share = number(y, map, "share");
    const struct ek_node *units = ek_node_get(map, "units");
    snprintf(f->unit, sizeof f->unit, "%s",
             units && units->count && units->children[0].text ? units->children[0].text : "");
    uint64_t query = query_of(y, map);
    if (f->suspected == UINT64_MAX)
        f->suspected = query;
    if (f->confirmed == UINT64_MAX && !strcmp(f->state, "confirmed"))
        f->confirmed = query;
}

static void take_plan(struct ek_demo_story *s, const struct ek_yaml *y, const struct ek_node *map)
{
    const struct ek_node *cells = ek_node_get(map, "cells");
    size_t used = 0;
    bool ours = false;
    s->plan[0] = 0;
    for (size_t i = 0; cells && i < cells->count; i++) {
        char feature[EK_DEMO_WORD], segment[EK_DEMO_WORD], action[EK_DEMO_WORD];
        copy_text(&cells->children[i], "feature", feature);
        copy_text(&cells->children[i], "action", action);
        copy_segment(&cells->children[i], segment);
        ours |= is_ours(feature, segment) && !strncmp(action, "route", 5);
        if (used < sizeof s->plan)
            used += (size_t)snprintf(s->plan + used, sizeof s->plan - used, "%s%s, %s: %s",
                                     i ? "; " : "", feature, segment, action);
    }
    double version = number(y, map, "version");
    s->plan_version = version >= 0 ? (uint64_t)version : 0;
    if (ours && !s->route_in_force && s->route_from == UINT64_MAX)
        s->route_from = query_of(y, map);
    if (!ours && s->route_in_force)
        s->route_to = query_of(y, map);
    s->route_in_force = ours;
}

int ek_demo_story_event(struct ek_demo_story *s, const char *json, size_t length,
                        struct ek_error *e)
{
    struct ek_yaml *y;
    char kind[EK_DEMO_WORD];
    int rc = ek_yaml_parse(&y, "event", json, length, e);
    if (rc)
        return rc;
    const struct ek_node *root = ek_yaml_root(y);
    if (root && root->kind == EK_NODE_MAPPING)
        copy_text(root, "event", kind);
    else
        kind[0] = 0;
    if (!strcmp(kind, "finding"))
        take_finding(s, y, root);
    else if (!strcmp(kind, "plan"))
        take_plan(s, y, root);
    else if (strcmp(kind, "decision") != 0) /* what it did to the plan, the plan says */
        rc = ek_fail(e, EK_EFORMAT, "'%.*s' is no event of the guard",
                     (int)(length < 80 ? length : 80), json);
    ek_yaml_free(y);
    return rc;
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
            strcmp(s->finding[i].state, "dismissed") != 0)
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
