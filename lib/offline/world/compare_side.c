#include "offline/world/compare_side.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

void ek_compare_side_release(struct ek_compare_side *s)
{
    for (size_t i = 0; i < s->findings; i++)
        ek_free(s->finding[i].event);
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

/* Make room for one more of `size` bytes behind `count`. */
static int grow(void **items, size_t *capacity, size_t count, size_t size)
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

/* Whether a kept event is of the same episode, or also of the model. */
static bool same_episode(const struct ek_event *kept, const struct ek_event *v)
{
    if (kept->kind != v->kind)
        return false;
    return v->kind == EK_EVENT_MODEL_DRIFT ||
           (v->kind == EK_EVENT_FINDING && ek_event_same_episode(&kept->finding, &v->finding));
}

static struct ek_compared_finding *find_open(const struct ek_compare_side *s,
                                             const struct ek_event *v)
{
    for (size_t i = s->findings; i > 0; i--)
        if (s->finding[i - 1].ended == UINT64_MAX && same_episode(s->finding[i - 1].event, v))
            return &s->finding[i - 1];
    return NULL;
}

/* Texts are those of the event, which is copied. */
static int update(struct ek_compared_finding *f, const struct ek_event *v)
{
    struct ek_event *copy = ek_event_copy(v);
    if (!copy)
        return EK_ENOMEM;
    ek_free(f->event);
    f->event = copy;
    f->class = f->unit = f->action = f->mode = "";
    f->factor = NAN;
    if (v->kind == EK_EVENT_LIMIT) {
        f->at.feature = ek_bound_name(v->limit.bound);
        f->class = ek_event_kind_name(v->kind);
        f->text = ek_bound_text(v->limit.bound);
    } else if (v->kind == EK_EVENT_MODEL_DRIFT) {
        f->at.feature = "model and upstream";
        f->class = ek_event_kind_name(v->kind);
        f->text = copy->model_drift.text;
    } else {
        const struct ek_event_finding *own = &copy->finding;
        f->at = own->at;
        f->class = own->class == EK_CLASS_NONE ? "" : ek_class_name(own->class);
        f->unit = own->units ? own->unit[0] : "";
        f->action = ek_action_name(own->action);
        f->mode = ek_mode_name(own->mode);
        f->factor = own->factor;
        f->text = own->text;
    }
    return EK_OK;
}

/* A new one, unless there are too many. */
static int add_finding(struct ek_compare_side *s, const struct ek_event *v, uint64_t since)
{
    if (s->findings == EK_COMPARED_MAX) {
        s->left++;
        return EK_OK;
    }
    void *items = s->finding;
    int rc = grow(&items, &s->finding_room, s->findings, sizeof *s->finding);
    s->finding = items;
    if (rc)
        return rc;
    struct ek_compared_finding *f = &s->finding[s->findings];
    *f = (struct ek_compared_finding){.since = since, .confirmed = v->query, .ended = UINT64_MAX};
    rc = update(f, v);
    s->findings += !rc;
    return rc;
}

static void end(struct ek_compared_finding *f, const struct ek_event *v, const char *how)
{
    f->ended = v->query;
    f->end = how;
}

static int take_finding(struct ek_compare_side *s, const struct ek_event *v)
{
    struct ek_compared_finding *f = find_open(s, v);
    enum ek_finding_state state = v->finding.state;
    if (!f)
        return state == EK_CONFIRMED ? add_finding(s, v, v->finding.since_query) : EK_OK;
    if (state == EK_CONFIRMED || state == EK_UPDATED)
        return update(f, v);
    end(f, v, state == EK_RECOVERED ? "recovered" : "dismissed");
    return EK_OK;
}

static int take_drift(struct ek_compare_side *s, const struct ek_event *v)
{
    struct ek_compared_finding *f = find_open(s, v);
    bool drifted = v->model_drift.view.state == EK_AGREEMENT_DRIFTED;
    if (f && !drifted)
        end(f, v, "recovered");
    return f || !drifted ? EK_OK : add_finding(s, v, v->model_drift.view.since_query);
}

static int take_plan(struct ek_compare_side *s, const struct ek_event *v)
{
    if (s->plans == EK_COMPARED_MAX) {
        s->left++;
        return EK_OK;
    }
    void *items = s->plan;
    int rc = grow(&items, &s->plan_room, s->plans, sizeof *s->plan);
    s->plan = items;
    struct ek_event *copy = rc ? NULL : ek_event_copy(v);
    if (!copy)
        return EK_ENOMEM;
    s->plan[s->plans++] = (struct ek_compared_plan){.query = v->query,
                                                    .event = copy,
                                                    .entry = copy->plan.entry,
                                                    .count = (size_t)copy->plan.count};
    return EK_OK;
}

int ek_compare_side_event(struct ek_compare_side *s, const struct ek_event *v, struct ek_error *e)
{
    int rc = EK_OK;
    if (v->kind == EK_EVENT_FINDING)
        rc = take_finding(s, v);
    else if (v->kind == EK_EVENT_PLAN)
        rc = take_plan(s, v);
    else if (v->kind == EK_EVENT_MODEL_DRIFT)
        rc = take_drift(s, v);
    else if (v->kind == EK_EVENT_LIMIT)
        rc = add_finding(s, v, v->query);
    else if (v->kind == EK_EVENT_DECISION)
        s->withdrawn += v->decision.what == EK_DID_WITHDRAW;
    return rc ? ek_fail(e, EK_ENOMEM, "no memory for an event") : EK_OK;
}
