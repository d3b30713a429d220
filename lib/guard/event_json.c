#include "guard/event_json.h"

#include "lists/codec_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DIGITS = 6, SHORT_DIGITS = 4 };

static void add_number(struct ek_json_writer *w, const char *key, double value)
{
    ek_json_add_rounded(w, key, value, DIGITS);
}

static void add_known_number(struct ek_json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        add_number(w, key, value);
}

static void add_known_text(struct ek_json_writer *w, const char *key, const char *text)
{
    if (text)
        ek_json_add_text(w, key, text);
}

/* Append the finding id, such as "price-17". */
static void add_episode(struct ek_json_writer *w, const char *feature, uint32_t episode)
{
    char text[EK_NAME_BYTES_MAX + sizeof "-4294967295"];
    snprintf(text, sizeof text, "%s-%" PRIu32, feature, episode);
    ek_json_add_text(w, "finding_id", text);
}

void ek_json_add_segment(struct ek_json_writer *w, const char *key, const char *dimension,
                         const char *value)
{
    if (!dimension) {
        ek_json_add_null(w, key);
        return;
    }
    ek_json_open(w, key, '{');
    ek_json_add_text(w, dimension, value ? value : EK_SEGMENT_OTHER);
    ek_json_close(w, '}');
}

int ek_segment_json(struct ek_buf *out, const char *dimension, const char *value)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_add_segment(&w, NULL, dimension, value);
    return w.rc;
}

static void add_place(struct ek_json_writer *w, const struct ek_event_place *at)
{
    ek_json_add_text(w, "feature", at->feature);
    ek_json_add_segment(w, "segment", at->dimension, at->value);
}

static void add_head(struct ek_json_writer *w, const struct ek_event *v)
{
    ek_json_add_count(w, "list", v->query);
    ek_json_add_integer(w, "time_ms", v->time_ms);
}

static void add_texts(struct ek_json_writer *w, const char *key, const char *const *text, int count)
{
    ek_json_open(w, key, '[');
    for (int i = 0; i < count; i++)
        ek_json_add_text(w, NULL, text[i]);
    ek_json_close(w, ']');
}

static void add_extent(struct ek_json_writer *w, const struct ek_event_finding *f)
{
    ek_json_add_text(w, "class", f->class == EK_CLASS_NONE ? NULL : ek_class_name(f->class));
    add_number(w, "factor", f->factor);
    add_number(w, "factor_low", f->factor_low);
    add_number(w, "factor_high", f->factor_high);
    add_number(w, "fraction", f->fraction);
    if (!ek_class_counts_values(f->class))
        return;
    add_number(w, "value_fraction", f->value_fraction);
    add_number(w, "trained_fraction", f->trained_fraction);
}

/* Add the exact ratio of each unit. */
static void add_matches(struct ek_json_writer *w, const struct ek_event_finding *f)
{
    ek_json_open(w, "unit_matches", '[');
    for (int i = 0; i < f->units; i++) {
        if (!f->match[i]) /* a query feature */
            continue;
        ek_json_open(w, NULL, '{');
        ek_json_add_text(w, "unit", f->unit[i]);
        ek_json_add_real(w, "ratio", f->ratio[i]);
        ek_json_add_text(w, "match", f->match[i]);
        ek_json_close(w, '}');
    }
    ek_json_close(w, ']');
}

static void add_diagnosis(struct ek_json_writer *w, const struct ek_event_finding *f)
{
    add_extent(w, f);
    add_number(w, "spread_ratio", f->spread_ratio);
    if (f->varies)
        ek_json_add_flag(w, "varies", true);
    if (f->mix)
        ek_json_add_flag(w, "mix", true);
    if (f->class == EK_POWER)
        add_number(w, "exponent", f->exponent);
    if (f->class == EK_OFFSET) {
        add_number(w, "offset", f->offset);
        add_number(w, "offset_error", f->offset_error);
    }
    add_texts(w, "units", f->unit, f->units);
    if (f->units)
        add_matches(w, f);
}

static void add_categories(struct ek_json_writer *w, const struct ek_event_finding *f)
{
    ek_json_open(w, "categories", '[');
    for (int i = 0; i < f->categories; i++) {
        const struct ek_category_change *c = &f->category[i];
        ek_json_open(w, NULL, '{');
        ek_json_add_number(w, "value", (double)c->value); /* category codes need all digits */
        add_number(w, "fraction", c->share);
        add_number(w, "trained", c->trained);
        ek_json_close(w, '}');
    }
    ek_json_close(w, ']');
}

static void add_true(struct ek_json_writer *w, const char *key, bool flag)
{
    if (flag)
        ek_json_add_flag(w, key, true);
}

static void add_action(struct ek_json_writer *w, const struct ek_event_finding *f)
{
    ek_json_add_text(w, "mitigation", ek_action_name(f->action));
    ek_json_add_text(w, "mode", ek_mode_name(f->mode));
    if (f->blocked_by != EK_BOUND_NONE)
        ek_json_add_text(w, "blocked_by", ek_bound_name(f->blocked_by));
    add_true(w, "paused", f->paused);
    add_true(w, "stays", f->stays);
    add_true(w, "no_model", f->no_model);
    add_known_text(w, "reason", f->reason);
}

static void add_cause(struct ek_json_writer *w, const struct ek_event_finding *f)
{
    char cause[EK_EVENT_INCIDENT_BYTES];
    ek_json_add_text(w, "incident_id", f->incident ? ek_event_incident(f, cause) : NULL);
}
static void add_finding(struct ek_json_writer *w, const struct ek_event *v)
{
    const struct ek_event_finding *f = &v->finding;
    add_episode(w, f->at.feature, f->number);
    ek_json_add_text(w, "state", ek_finding_state_name(f->state));
    add_head(w, v);
    add_place(w, &f->at);
    add_diagnosis(w, f);
    if (f->class == EK_NEW_CATEGORY)
        add_categories(w, f);
    ek_json_add_text(w, "trigger", f->trigger);
    ek_json_add_count(w, "since_list", f->since_query);
    ek_json_add_integer(w, "since_ms", f->since_ms);
    add_action(w, f);
    add_cause(w, f);
    if (f->incident)
        add_texts(w, "features", f->member, f->members);
    ek_json_add_text(w, "text", f->text);
}

void ek_json_add_problem(struct ek_json_writer *w, const struct ek_event_finding *f)
{
    add_cause(w, f);
    ek_json_add_text(w, "feature", f->at.feature);
    if (f->incident)
        add_texts(w, "features", f->member, f->members);
    else
        ek_json_add_null(w, "features");
    ek_json_add_segment(w, "segment", f->at.dimension, f->at.value);
    ek_json_add_text(w, "state", ek_finding_state_name(f->state));
    add_extent(w, f);
    ek_json_add_integer(w, "since_ms", f->since_ms);
    ek_json_add_count(w, "since_list", f->since_query);
    add_episode(w, f->at.feature, f->number);
    ek_json_add_text(w, "text", f->text);
}

/* Append the shortest decimal that gives back the double. */
static void add_exact(struct ek_json_writer *w, const char *key, double number)
{
    char text[EK_JSON_NUMBER_BYTES];
    ek_json_add_raw(w, key, text, ek_json_double(text, number));
}

/* Append what the repair of an entry needs (docs/format/events.md). */
static void add_repair(struct ek_json_writer *w, const struct ek_plan_repair *r,
                       const char *query_feature)
{
    bool number = r->by <= EK_REPAIR_OFFSET && r->by != EK_REPAIR_QUERY_FEATURE && r->number != 1;
    ek_json_open(w, "repair", '{');
    ek_json_add_text(w, "by", ek_repair_by_name(r->by));
    if (r->by == EK_REPAIR_QUERY_FEATURE)
        ek_json_add_text(w, "query_feature", query_feature);
    if (number)
        add_exact(w, "number", r->number);
    add_true(w, "exact", r->exact);
    if (r->by == EK_REPAIR_POWER)
        add_exact(w, "scale", r->scale);
    if (r->by == EK_REPAIR_OFFSET)
        add_exact(w, "error", r->scale);
    ek_json_close(w, '}');
}

void ek_json_add_plan_entry(struct ek_json_writer *w, const struct ek_event_entry *e)
{
    add_place(w, &e->at);
    ek_json_add_text(w, "mitigation", ek_action_name(e->action));
    ek_json_add_text(w, "mode", ek_mode_name(e->mode));
    ek_json_add_rounded(w, "percent", e->percent, SHORT_DIGITS);
    ek_json_add_text(w, "source", ek_plan_source_name(e->source));
    add_true(w, "fault_cleared", e->fault_cleared);
    if (e->repair.by != EK_REPAIR_UNKNOWN)
        add_repair(w, &e->repair, e->query_feature);
}

static void add_plan(struct ek_json_writer *w, const struct ek_event *v)
{
    ek_json_add_count(w, "version", v->plan.version);
    add_head(w, v);
    ek_json_open(w, "entries", '[');
    for (int i = 0; i < v->plan.count; i++) {
        ek_json_open(w, NULL, '{');
        ek_json_add_plan_entry(w, &v->plan.entry[i]);
        ek_json_close(w, '}');
    }
    ek_json_close(w, ']');
}

/* Append null for an empty string. */
static void add_stated(struct ek_json_writer *w, const char *key, const char *text)
{
    ek_json_add_text(w, key, text && *text ? text : NULL);
}

static void add_decided_place(struct ek_json_writer *w, const struct ek_decision_record *m)
{
    const struct ek_event_place at = {m->feature, m->dimension, m->value};
    if (!m->feature)
        return;
    add_place(w, &at);
    if (m->action != EK_ACT_NONE)
        ek_json_add_text(w, "mitigation", ek_action_name(m->action));
    if (m->percent >= 0)
        add_number(w, "percent", m->percent / 100.);
    if (m->finding)
        add_episode(w, m->feature, m->finding);
}

static void add_evidence(struct ek_json_writer *w, const struct ek_decision_record *m)
{
    if (m->class != EK_CLASS_NONE)
        ek_json_add_text(w, "class", ek_class_name(m->class));
    add_known_number(w, "factor", m->factor);
    add_known_number(w, "factor_low", m->factor_low);
    add_known_number(w, "factor_high", m->factor_high);
    add_known_number(w, "fraction", m->fraction);
    if (m->guardrail != EK_GUARDRAIL_NONE)
        ek_json_add_text(w, "guardrail", ek_guardrail_name(m->guardrail));
    add_known_number(w, "observed", m->observed);
    add_known_number(w, "limit", m->limit);
}

void ek_json_add_decision(struct ek_json_writer *w, const struct ek_decision_record *m)
{
    ek_json_add_text(w, "event", ek_event_kind_name(EK_EVENT_DECISION));
    ek_json_add_count(w, "sequence", m->number);
    ek_json_add_count(w, "list", m->query);
    ek_json_add_integer(w, "time_ms", m->time_ms);
    ek_json_add_text(w, "type", ek_decision_kind_name(m->kind));
    add_stated(w, "actor", m->actor);
    ek_json_open(w, "plan", '{');
    ek_json_add_count(w, "before", m->before);
    ek_json_add_count(w, "after", m->after);
    ek_json_close(w, '}');
    if (m->accept) {
        ek_json_add_count(w, "accept", m->accept);
        ek_json_add_count(w, "version", m->normal);
    }
    add_decided_place(w, m);
    add_evidence(w, m);
    add_known_text(w, "request", m->request);
    add_known_text(w, "instance", m->instance);
    add_stated(w, "reason", m->reason);
}

int ek_decision_record_json(struct ek_buf *out, const struct ek_decision_record *m)
{
    struct ek_json_writer w;
    size_t begin = out->length;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_decision(&w, m);
    ek_json_close(&w, '}');
    if (w.rc)
        out->length = begin;
    return w.rc;
}

static void add_limit(struct ek_json_writer *w, const struct ek_event *v)
{
    const struct ek_event_limit *l = &v->limit;
    ek_json_add_text(w, "limit", ek_bound_name(l->bound));
    ek_json_add_integer(w, "max", l->most);
    add_head(w, v);
    ek_json_add_text(w, "text", ek_bound_text(l->bound));
    if (l->query_feature)
        ek_json_add_text(w, "query_feature", l->query_feature);
    if (l->bound != EK_BOUND_CELLS)
        return;
    ek_json_open(w, "segments", '[');
    for (int i = 0; i < l->dimensions; i++) {
        const struct ek_cells_share *s = &l->dimension[i];
        ek_json_open(w, NULL, '{');
        ek_json_add_text(w, "dimension", s->dimension);
        ek_json_add_integer(w, "own", s->own);
        ek_json_add_integer(w, "pooled_values", llrint(s->pooled_values));
        ek_json_add_count(w, "lists", s->lists);
        ek_json_add_count(w, "pooled_lists", s->pooled);
        ek_json_close(w, '}');
    }
    ek_json_close(w, ']');
}

void ek_json_add_stats(struct ek_json_writer *w, const struct ek_agreement_view *v)
{
    ek_json_open(w, "statistics", '{');
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        ek_json_open(w, ek_agreement_statistic_name((enum ek_agreement_statistic)i), '{');
        ek_json_add_rounded(w, "current", v->now[i], SHORT_DIGITS);
        ek_json_add_rounded(w, "reference", v->trained[i], SHORT_DIGITS);
        ek_json_add_rounded(w, "threshold", v->least[i], SHORT_DIGITS);
        ek_json_close(w, '}');
    }
    ek_json_close(w, '}');
}

static void add_model_drift(struct ek_json_writer *w, const struct ek_event *v)
{
    const struct ek_agreement_view *a = &v->model_drift.view;
    ek_json_add_text(w, "state", a->state == EK_AGREEMENT_DRIFTED ? "drifted" : "recovered");
    add_head(w, v);
    ek_json_add_count(w, "since_list", a->since_query);
    ek_json_add_integer(w, "lists", a->recent);
    ek_json_add_stats(w, a);
    ek_json_add_text(w, "text", v->model_drift.text);
}

static void add_fleet(struct ek_json_writer *w, const struct ek_event *v)
{
    ek_json_add_text(w, "state", v->fleet.state);
    ek_json_add_integer(w, "time_ms", v->time_ms);
    ek_json_add_text(w, "instance", v->fleet.instance);
    ek_json_add_text(w, "text", v->fleet.text);
}

static void add_input(struct ek_json_writer *w, const struct ek_event *v)
{
    const struct ek_event_input *i = &v->input;
    ek_json_add_text(w, "state", i->active ? "begun" : "ended");
    ek_json_add_text(w, "condition", i->condition);
    ek_json_add_integer(w, "time_ms", v->time_ms);
    ek_json_add_text(w, "instance", i->instance);
    if (i->topic) {
        ek_json_add_text(w, "topic", i->topic);
        ek_json_add_integer(w, "partition", i->partition);
        ek_json_add_integer(w, "from", i->from);
        ek_json_add_integer(w, "to", i->from + i->count - 1);
        ek_json_add_integer(w, "count", i->count);
    }
    ek_json_add_text(w, "text", i->text);
}

static void add_members(struct ek_json_writer *w, const struct ek_event *v)
{
    switch (v->kind) {
    case EK_EVENT_FINDING:
        add_finding(w, v);
        return;
    case EK_EVENT_PLAN:
        add_plan(w, v);
        return;
    case EK_EVENT_LIMIT:
        add_limit(w, v);
        return;
    case EK_EVENT_MODEL_DRIFT:
        add_model_drift(w, v);
        return;
    case EK_EVENT_FLEET:
        add_fleet(w, v);
        return;
    case EK_EVENT_RELOAD:
        ek_json_add_text(w, "result", v->reload.done ? "done" : "refused");
        ek_json_add_raw(w, NULL, v->reload.outcome, strlen(v->reload.outcome));
        return;
    case EK_EVENT_INPUT:
        add_input(w, v);
        return;
    case EK_EVENT_DECISION:
    case EK_EVENT_TEXT:
    case EK_EVENT_KINDS:
        return;
    }
}

int ek_event_json(const struct ek_event *v, struct ek_buf *out)
{
    struct ek_json_writer w;
    if (v->kind == EK_EVENT_TEXT)
        return ek_buf_text(out, v->text);
    if (v->kind == EK_EVENT_DECISION)
        return ek_decision_record_json(out, &v->decision);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_text(&w, "event", ek_event_kind_name(v->kind));
    add_members(&w, v);
    ek_json_close(&w, '}');
    return out->rc = w.rc; /* also for errors of the writer */
}
