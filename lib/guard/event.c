#include "guard/event.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "guard/finding_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef void visit_text(void *context, const char **text);

static void visit_place(struct ek_event_place *at, visit_text *visit, void *context)
{
    visit(context, &at->feature);
    visit(context, &at->dimension);
    visit(context, &at->value);
}

static void visit_finding(struct ek_event_finding *f, visit_text *visit, void *context)
{
    const char **member = (const char **)(uintptr_t)f->member;
    visit_place(&f->at, visit, context);
    visit(context, &f->query_feature);
    visit(context, &f->trigger);
    visit(context, &f->reason);
    visit(context, &f->text);
    for (int i = 0; i < f->units; i++)
        visit(context, &f->unit[i]);
    for (int i = 0; i < f->members; i++)
        visit(context, &member[i]);
}

static void visit_decision(struct ek_decision_record *m, visit_text *visit, void *context)
{
    visit(context, &m->actor);
    visit(context, &m->reason);
    visit(context, &m->request);
    visit(context, &m->instance);
    visit(context, &m->feature);
    visit(context, &m->dimension);
    visit(context, &m->value);
}

/* Call `visit` for each string of an event. */
static void visit_texts(struct ek_event *v, visit_text *visit, void *context)
{
    switch (v->kind) {
    case EK_EVENT_FINDING:
        visit_finding(&v->finding, visit, context);
        return;
    case EK_EVENT_PLAN:
        for (int i = 0; i < v->plan.count; i++) {
            visit_place(&v->plan.entry[i].at, visit, context);
            visit(context, &v->plan.entry[i].query_feature);
        }
        return;
    case EK_EVENT_DECISION:
        visit_decision(&v->decision, visit, context);
        return;
    case EK_EVENT_LIMIT:
        for (int i = 0; i < v->limit.dimensions; i++)
            visit(context, &v->limit.dimension[i].dimension);
        visit(context, &v->limit.query_feature);
        return;
    case EK_EVENT_MODEL_DRIFT:
        visit(context, &v->model_drift.text);
        return;
    case EK_EVENT_FLEET:
        visit(context, &v->fleet.state);
        visit(context, &v->fleet.instance);
        visit(context, &v->fleet.text);
        return;
    case EK_EVENT_RELOAD:
        visit(context, &v->reload.file);
        visit(context, &v->reload.message);
        visit(context, &v->reload.outcome);
        return;
    case EK_EVENT_INPUT:
        visit(context, &v->input.condition);
        visit(context, &v->input.instance);
        visit(context, &v->input.text);
        visit(context, &v->input.topic);
        return;
    case EK_EVENT_TEXT:
        visit(context, &v->text);
        return;
    case EK_EVENT_KINDS:
        return;
    }
}

struct size {
    size_t texts, bytes;
};

static void add_size(void *context, const char **text)
{
    struct size *s = context;
    s->texts += *text != NULL;
    s->bytes += *text ? strlen(*text) : 0;
}

static void move_text(void *context, const char **text)
{
    char **end = context;
    if (!*text)
        return;
    size_t size = strlen(*text) + 1;
    memcpy(*end, *text, size);
    *text = *end;
    *end += size;
}

static size_t list_bytes(const struct ek_event *v)
{
    if (v->kind == EK_EVENT_FINDING)
        return (size_t)v->finding.members * sizeof *v->finding.member;
    return v->kind == EK_EVENT_PLAN ? (size_t)v->plan.count * sizeof *v->plan.entry : 0;
}

/* Layout: event, arrays, strings. */
struct ek_event *ek_event_copy(const struct ek_event *v)
{
    struct size size = {0};
    size_t lists = list_bytes(v);
    visit_texts((struct ek_event *)(uintptr_t)v, add_size, &size);
    struct ek_event *copy = ek_calloc(1, sizeof *copy + lists + size.bytes + size.texts);
    if (!copy)
        return NULL;
    char *end = (char *)(copy + 1);
    *copy = *v;
    copy->bytes = lists + size.bytes;
    if (lists && v->kind == EK_EVENT_FINDING)
        copy->finding.member = memcpy(end, v->finding.member, lists);
    else if (lists)
        copy->plan.entry = memcpy(end, v->plan.entry, lists);
    end += lists;
    visit_texts(copy, move_text, &end);
    return copy;
}

/* Return how well a unit matches: listed by the rules, of the quantity of the feature, or only near
 * the factor. */
static const char *match_of(const struct ek_unit_match *u)
{
    return u->listed ? "listed" : u->fit <= EK_UNIT_QUANTITY ? "fits" : "coincidence";
}

static int add_units(struct ek_event_finding *out, const struct ek_manifest *m,
                     const struct ek_finding *f, struct ek_buf *text)
{
    if (f->query_feature >= 0) {
        out->query_feature = m->query[f->query_feature]->name;
        if (ek_buf_printf(text, "query_feature:%s", out->query_feature))
            return EK_ENOMEM;
        out->ratio[0] = NAN;
        out->unit[out->units++] = ek_buf_string(text);
    }
    for (int i = 0; i < f->unit_count; i++) {
        out->ratio[out->units] = f->unit[i].unit->factor;
        out->match[out->units] = match_of(&f->unit[i]);
        out->unit[out->units++] = f->unit[i].unit->id;
    }
    return f->query_feature >= 0 && !out->unit[0] ? EK_ENOMEM : EK_OK;
}

static void copy_diagnosis(struct ek_event_finding *out, const struct ek_finding *f)
{
    out->state = f->state;
    out->number = f->episode;
    out->incident = f->cause;
    out->since_query = f->since_query;
    out->since_ms = f->since_ms;
    out->class = f->class;
    out->factor = f->factor;
    out->factor_low = f->factor_low;
    out->factor_high = f->factor_high;
    out->fraction = f->class == EK_CLASS_NONE ? NAN : f->share; /* 1 before the diagnosis */
    out->spread_ratio = f->spread_ratio;
    out->varies = f->varies;
    out->mix = f->mix;
    bool counts_values = ek_class_counts_values(f->class);
    out->value_fraction = counts_values ? f->value_share : NAN;
    out->trained_fraction = counts_values ? f->trained_share : NAN;
    out->exponent = f->class == EK_POWER ? f->exponent : NAN;
    bool has_offset = f->class == EK_OFFSET && f->offset != 0;
    out->offset = has_offset ? f->offset : NAN;
    out->offset_error = has_offset ? f->offset_error : NAN;
    out->trigger = f->signal;
    out->reason = f->reason;
    out->categories = f->category_count;
    memcpy(out->category, f->category, sizeof out->category);
}

static void copy_decision(struct ek_event_finding *out, const struct ek_decision *d)
{
    out->action = d->treatment.action;
    out->mode = d->mode;
    out->blocked_by = d->limited;
    out->paused = d->paused;
    out->no_model = d->no_model;
    out->stays = d->stays;
}

struct ek_event *ek_event_from_finding(const struct ek_manifest *m, const struct ek_finding *f,
                                       const struct ek_decision *decision, const int *members,
                                       int count)
{
    struct ek_event v = {.kind = EK_EVENT_FINDING, .query = f->query, .time_ms = f->time_ms};
    struct ek_event *out = NULL;
    struct ek_buf unit, text;
    int named = f->cause ? count : 0;
    const char **member = ek_calloc((size_t)named + 1, sizeof *member);
    ek_buf_init(&unit, 0);
    ek_buf_init(&text, 0);
    for (int i = 0; member && i < named; i++)
        member[i] = m->item[members[i]]->name;
    v.finding.at = (struct ek_event_place){m->item[f->feature]->name, f->dimension, f->value};
    v.finding.members = named;
    v.finding.member = member;
    copy_diagnosis(&v.finding, f);
    copy_decision(&v.finding, decision);
    if (member && !add_units(&v.finding, m, f, &unit) && !ek_finding_text(&text, m, f, decision) &&
        (v.finding.text = ek_buf_string(&text)))
        out = ek_event_copy(&v);
    ek_buf_release(&unit);
    ek_buf_release(&text);
    ek_free(member);
    return out;
}

void ek_event_entry_init(struct ek_event_entry *out, const struct ek_manifest *m,
                         const struct ek_cells *cells, const struct ek_plan_entry *e)
{
    *out = (struct ek_event_entry){.at = {m->item[e->feature]->name,
                                          ek_cells_dimension_name(cells, e->cell),
                                          ek_cells_value(cells, e->cell)},
                                   .action = e->treatment.action,
                                   .mode = e->mode,
                                   .percent = e->percent / 100.0,
                                   .source = e->by,
                                   .fault_cleared = ek_plan_awaits(e),
                                   .repair = e->repair};
    if (e->repair.query_feature >= 0)
        out->query_feature = m->query[e->repair.query_feature]->name;
}

struct ek_event *ek_event_from_plan(const struct ek_manifest *m, const struct ek_cells *cells,
                                    const struct ek_plan *plan, uint64_t query, int64_t time_ms)
{
    struct ek_event v = {.kind = EK_EVENT_PLAN, .query = query, .time_ms = time_ms};
    struct ek_event_entry *entry = ek_calloc((size_t)plan->count + 1, sizeof *entry);
    if (!entry)
        return NULL;
    for (int i = 0; i < plan->count; i++)
        ek_event_entry_init(&entry[i], m, cells, &plan->entry[i]);
    v.plan = (struct ek_event_plan){plan->version, plan->count, entry};
    struct ek_event *out = ek_event_copy(&v);
    ek_free(entry);
    return out;
}

struct ek_event *ek_event_from_decision(const struct ek_decision_record *m)
{
    const struct ek_event v = {
        .kind = EK_EVENT_DECISION, .query = m->query, .time_ms = m->time_ms, .decision = *m};
    return ek_event_copy(&v);
}

struct ek_event *ek_event_from_limit(enum ek_bound bound, int64_t most,
                                     const struct ek_cells *cells, const char *query_feature,
                                     uint64_t query, int64_t time_ms)
{
    struct ek_event v = {.kind = EK_EVENT_LIMIT, .query = query, .time_ms = time_ms};
    v.limit.bound = bound;
    v.limit.query_feature = query_feature;
    v.limit.most = most;
    v.limit.dimensions = bound == EK_BOUND_CELLS ? ek_cells_dimensions(cells) : 0;
    for (int i = 0; i < v.limit.dimensions; i++)
        v.limit.dimension[i] = ek_cells_get_share(cells, i);
    return ek_event_copy(&v);
}

static int write_drift(struct ek_buf *b, const struct ek_agreement_view *v)
{
    const double *now = v->now, *trained = v->trained;
    int rc =
        ek_buf_printf(b,
                      "model and upstream %s: over %d lists since list %" PRIu64
                      " Kendall tau is %.3f (reference %.3f), NDCG@10 under the upstream order "
                      "%.3f (%.3f), the first item the same in %.0f%% (%.0f%%)",
                      v->state == EK_AGREEMENT_DRIFTED ? "have drifted apart" : "rank alike again",
                      v->recent, v->since_query, now[EK_AGREEMENT_TAU], trained[EK_AGREEMENT_TAU],
                      now[EK_AGREEMENT_NDCG10], trained[EK_AGREEMENT_NDCG10],
                      100 * now[EK_AGREEMENT_TOP1], 100 * trained[EK_AGREEMENT_TOP1]);
    if (rc || v->state != EK_AGREEMENT_DRIFTED)
        return rc;
    if (v->is_upstream)
        return ek_buf_text(b, "; the model is another ranker than that of these lists, or reads "
                              "its features in another order: compare both with 'evenkeel eval "
                              "--teacher upstream'");
    return ek_buf_text(b,
                       "; a list that is routed now gets the order of the model, not that of the "
                       "upstream scorer: if that was changed on purpose, capture healthy "
                       "traffic, train with --teacher upstream and put the new model in place; "
                       "if not, an input of it has changed without a finding");
}

struct ek_event *ek_event_from_model_drift(const struct ek_agreement_view *view, uint64_t query,
                                           int64_t time_ms)
{
    struct ek_event v = {.kind = EK_EVENT_MODEL_DRIFT, .query = query, .time_ms = time_ms};
    struct ek_event *out = NULL;
    struct ek_buf text;
    ek_buf_init(&text, 0);
    v.model_drift.view = *view;
    if (!write_drift(&text, view) && (v.model_drift.text = ek_buf_string(&text)))
        out = ek_event_copy(&v);
    ek_buf_release(&text);
    return out;
}

const char *ek_event_kind_name(enum ek_event_kind kind)
{
    static const char *const names[EK_EVENT_KINDS] = {
        NULL, "finding", "plan", "decision", "limit", "model_drift", "fleet", "reload", "input"};
    return names[kind];
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

bool ek_event_same_place(const struct ek_event_place *a, const struct ek_event_place *b)
{
    return same_text(a->feature, b->feature) && same_text(a->dimension, b->dimension) &&
           same_text(a->value, b->value);
}

const char *ek_event_incident(const struct ek_event_finding *f, char text[EK_EVENT_INCIDENT_BYTES])
{
    if (f->incident)
        snprintf(text, EK_EVENT_INCIDENT_BYTES, "c-%" PRIu32, f->incident);
    else
        text[0] = 0;
    return text;
}

bool ek_event_same_episode(const struct ek_event *a, const struct ek_event *b)
{
    if (a->kind != b->kind || a->kind != EK_EVENT_FINDING)
        return a->kind == b->kind && a->kind == EK_EVENT_MODEL_DRIFT;
    return a->finding.number == b->finding.number &&
           same_text(a->finding.at.feature, b->finding.at.feature);
}

enum ek_finding_state ek_event_finding_state(const struct ek_event *v)
{
    if (v->kind == EK_EVENT_FINDING)
        return v->finding.state;
    return v->kind == EK_EVENT_MODEL_DRIFT && v->model_drift.view.state != EK_AGREEMENT_DRIFTED
               ? EK_RECOVERED
               : EK_CONFIRMED;
}

bool ek_event_entry_acts(const struct ek_event_entry *e)
{
    return ek_action_routes(e->action) && ek_mode_acts(e->mode);
}
