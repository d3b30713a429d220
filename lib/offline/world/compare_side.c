#include "offline/world/compare_side.h"

#include "base/alloc.h"
#include "yaml/yaml.h"
#include "guard/event.h"

#include <math.h>
#include <string.h>

static void place_release(struct ek_compared_place *p)
{
    ek_free(p->feature);
    ek_free(p->dimension);
    ek_free(p->value);
}

static void finding_release(struct ek_compared_finding *f)
{
    place_release(&f->at);
    ek_free(f->episode);
    ek_free(f->class);
    ek_free(f->unit);
    ek_free(f->action);
    ek_free(f->mode);
    ek_free(f->text);
}

static void plan_release(struct ek_compared_plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        place_release(&p->entry[i].at);
        ek_free(p->entry[i].action);
        ek_free(p->entry[i].mode);
    }
    ek_free(p->entry);
}

void ek_compare_side_release(struct ek_compare_side *s)
{
    for (size_t i = 0; i < s->findings; i++)
        finding_release(&s->finding[i]);
    for (size_t i = 0; i < s->plans; i++)
        plan_release(&s->plan[i]);
    ek_free(s->finding);
    ek_free(s->plan);
    memset(s, 0, sizeof *s);
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

bool ek_compared_same_place(const struct ek_compared_place *a, const struct ek_compared_place *b)
{
    return same(a->feature, b->feature) && same(a->dimension, b->dimension) &&
           same(a->value, b->value);
}

static bool same_entry(const struct ek_compared_entry *a, const struct ek_compared_entry *b)
{
    return ek_compared_same_place(&a->at, &b->at) && same(a->action, b->action) &&
           same(a->mode, b->mode) && fabs(a->percent - b->percent) < EK_COMPARED_PERCENT / 2;
}

static bool has_entry(const struct ek_compared_plan *p, const struct ek_compared_entry *entry)
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

/* An event is JSON, and so YAML: its tree has the typed readers. */
struct event {
    const struct ek_yaml *y;
    const struct ek_node *map;
};

/* "" for a key that is not there, or null. */
static const char *word(const struct ek_node *map, const char *key)
{
    const struct ek_node *n = ek_node_get(map, key);
    return n && n->text && (n->quoted || strcmp(n->text, "null") != 0) ? n->text : "";
}

static double number(const struct event *v, const char *key)
{
    double value;
    const struct ek_node *n = ek_node_get(v->map, key);
    return n && !ek_node_double(v->y, n, key, -INFINITY, INFINITY, &value, NULL) ? value : NAN;
}

static uint64_t query(const struct event *v, const char *key)
{
    int64_t value;
    const struct ek_node *n = ek_node_get(v->map, key);
    return n && !ek_node_int(v->y, n, key, 0, INT64_MAX, &value, NULL) ? (uint64_t)value : 0;
}

/* In place of what was there. */
static int put(char **to, const char *text)
{
    char *copy = ek_strdup(text);
    if (!copy)
        return EK_ENOMEM;
    ek_free(*to);
    *to = copy;
    return EK_OK;
}

static int read_place(const struct ek_node *map, struct ek_compared_place *out)
{
    const struct ek_node *segment = ek_node_get(map, "segment");
    int rc = put(&out->feature, word(map, "feature"));
    if (rc || !segment || segment->kind != EK_NODE_MAPPING || !segment->count)
        return rc;
    rc = put(&out->dimension, segment->children[0].text);
    return rc || !segment->children[1].text ? rc : put(&out->value, segment->children[1].text);
}

/* Room for one more of `size` bytes behind `count`. */
static int room(void **items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return EK_OK;
    size_t wanted = 2 * count + 8;
    void *more = ek_realloc(*items, wanted, size);
    if (!more)
        return EK_ENOMEM;
    *items = more;
    *capacity = wanted;
    return EK_OK;
}

static struct ek_compared_finding *episode(const struct ek_compare_side *s, const char *id)
{
    for (size_t i = s->findings; i > 0; i--)
        if (s->finding[i - 1].ended == UINT64_MAX && !strcmp(s->finding[i - 1].episode, id))
            return &s->finding[i - 1];
    return NULL;
}

/* A new one; *out NULL when there are too many. */
static int add_finding(struct ek_compare_side *s, const char *id, const struct event *v,
                       const char *since, struct ek_compared_finding **out)
{
    *out = NULL;
    if (s->findings == EK_COMPARED_MAX) {
        s->left++;
        return EK_OK;
    }
    void *items = s->finding;
    int rc = room(&items, &s->finding_room, s->findings, sizeof *s->finding);
    s->finding = items;
    if (rc)
        return rc;
    struct ek_compared_finding *f = &s->finding[s->findings];
    *f = (struct ek_compared_finding){.factor = NAN,
                                      .since = query(v, since),
                                      .confirmed = query(v, "query"),
                                      .ended = UINT64_MAX};
    s->findings++;
    *out = f;
    return put(&f->episode, id);
}

static int tell_anew(struct ek_compared_finding *f, const struct event *v)
{
    const struct ek_node *units = ek_node_get(v->map, "units");
    const char *unit = units && units->count ? units->children[0].text : NULL;
    f->factor = number(v, "factor");
    int rc = put(&f->class, word(v->map, "class"));
    if (!rc)
        rc = put(&f->unit, unit ? unit : "");
    if (!rc)
        rc = put(&f->action, word(v->map, "action"));
    if (!rc)
        rc = put(&f->mode, word(v->map, "mode"));
    return rc ? rc : put(&f->text, word(v->map, "text"));
}

static void end(struct ek_compared_finding *f, const struct event *v, const char *how)
{
    f->ended = query(v, "query");
    f->end = how;
}

static int take_finding(struct ek_compare_side *s, const struct event *v)
{
    const char *id = word(v->map, "episode"), *state = word(v->map, "state");
    struct ek_compared_finding *f = episode(s, id);
    int rc = EK_OK;
    if (!f && !strcmp(state, "confirmed")) {
        rc = add_finding(s, id, v, "since_query", &f);
        if (!rc && f)
            rc = read_place(v->map, &f->at);
    }
    if (rc || !f)
        return rc;
    if (!strcmp(state, "confirmed") || !strcmp(state, "updated"))
        return tell_anew(f, v);
    end(f, v, !strcmp(state, "recovered") ? "recovered" : "dismissed");
    return EK_OK;
}

/* Model and upstream, and limits: told as findings with a name in place of a feature. */
static int take_other(struct ek_compare_side *s, const struct event *v, const char *kind,
                      const char *name, const char *since)
{
    struct ek_compared_finding *f;
    int rc = add_finding(s, kind, v, since, &f);
    if (!rc && f)
        rc = put(&f->at.feature, name);
    if (!rc && f)
        rc = tell_anew(f, v);
    return rc || !f ? rc : put(&f->class, kind);
}

static int take_drift(struct ek_compare_side *s, const struct event *v)
{
    static const char kind[] = "model_drift";
    struct ek_compared_finding *f = episode(s, kind);
    bool drifted = !strcmp(word(v->map, "state"), "drifted");
    if (f && !drifted)
        end(f, v, "recovered");
    return f || !drifted ? EK_OK : take_other(s, v, kind, "model and upstream", "since_query");
}

static int read_entry(const struct event *v, struct ek_compared_entry *out)
{
    double percent = number(v, "percent");
    out->percent = isnan(percent) ? 100 : percent;
    int rc = read_place(v->map, &out->at);
    if (!rc)
        rc = put(&out->action, word(v->map, "action"));
    return rc ? rc : put(&out->mode, word(v->map, "mode"));
}

static int take_plan(struct ek_compare_side *s, const struct event *v)
{
    const struct ek_node *cells = ek_node_get(v->map, "cells");
    size_t count = cells ? cells->count : 0;
    if (s->plans == EK_COMPARED_MAX) {
        s->left++;
        return EK_OK;
    }
    void *items = s->plan;
    int rc = room(&items, &s->plan_room, s->plans, sizeof *s->plan);
    s->plan = items;
    if (rc)
        return rc;
    struct ek_compared_plan *p = &s->plan[s->plans];
    *p = (struct ek_compared_plan){.query = query(v, "query")};
    p->entry = ek_calloc(count, sizeof *p->entry);
    if (!p->entry)
        return EK_ENOMEM;
    p->count = count;
    s->plans++;
    for (size_t i = 0; !rc && i < count; i++) {
        const struct event cell = {v->y, &cells->children[i]};
        rc = read_entry(&cell, &p->entry[i]);
    }
    return rc;
}

int ek_compare_side_event(struct ek_compare_side *s, const char *json, struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_parse(&y, "event", json, strlen(json), e);
    if (rc == EK_ENOMEM)
        return rc;
    if (rc) {
        s->left++;
        return EK_OK;
    }
    const struct event v = {y, ek_yaml_root(y)};
    if (ek_event_is(json, "finding"))
        rc = take_finding(s, &v);
    else if (ek_event_is(json, "plan"))
        rc = take_plan(s, &v);
    else if (ek_event_is(json, "model_drift"))
        rc = take_drift(s, &v);
    else if (ek_event_is(json, "limit"))
        rc = take_other(s, &v, "limit", word(v.map, "limit"), "query");
    else if (ek_event_is(json, "decision"))
        s->withdrawn += !strcmp(word(v.map, "what"), "withdraw");
    ek_yaml_free(y);
    return rc ? ek_fail(e, EK_ENOMEM, "no memory for an event") : EK_OK;
}
