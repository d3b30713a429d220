#include "daemon/guard/event_line.h"

#include "base/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Characters of a value without quotes. */
static const char PLAIN[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/=@+";

/* Append the value, quoted if it is empty or has other characters. */
static void add_value(struct ek_buf *out, const char *text)
{
    size_t length = strlen(text);
    if (length && strspn(text, PLAIN) == length)
        ek_buf_text(out, text);
    else
        ek_buf_json(out, text, length);
}

/* Append nothing for NULL and "". */
static void add_text(struct ek_buf *out, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    ek_buf_printf(out, " %s=", key);
    add_value(out, text);
}

/* Append nothing for NaN. */
static void add_number(struct ek_buf *out, const char *key, double value)
{
    if (!isnan(value))
        ek_buf_printf(out, " %s=%.4g", key, value);
}

static void add_count(struct ek_buf *out, const char *key, uint64_t value)
{
    ek_buf_printf(out, " %s=%" PRIu64, key, value);
}

static void add_segment(struct ek_buf *out, const char *dimension, const char *value)
{
    struct ek_buf text;
    if (!dimension)
        return;
    ek_buf_init(&text, 0);
    ek_buf_printf(&text, "%s=%s", dimension, value ? value : EK_SEGMENT_OTHER);
    const char *segment = ek_buf_string(&text);
    if (segment)
        add_text(out, "segment", segment);
    else
        out->rc = EK_ENOMEM;
    ek_buf_release(&text);
}

static void add_place(struct ek_buf *out, const struct ek_event_place *at)
{
    add_text(out, "feature", at->feature);
    add_segment(out, at->dimension, at->value);
}

/* Append the id, such as "price-17". */
static void add_finding_id(struct ek_buf *out, const char *feature, uint32_t episode)
{
    char id[EK_NAME_BYTES_MAX + sizeof "-4294967295"];
    snprintf(id, sizeof id, "%s-%" PRIu32, feature, episode);
    add_text(out, "finding_id", id);
}

static void add_finding(struct ek_buf *out, const struct ek_event *v)
{
    const struct ek_event_finding *f = &v->finding;
    char incident[EK_EVENT_INCIDENT_BYTES];
    add_text(out, "state", ek_finding_state_name(f->state));
    add_place(out, &f->at);
    if (f->class != EK_CLASS_NONE)
        add_text(out, "class", ek_class_name(f->class));
    add_number(out, "factor", f->factor);
    add_number(out, "factor_low", f->factor_low);
    add_number(out, "factor_high", f->factor_high);
    add_text(out, "unit", f->units ? f->unit[0] : NULL);
    add_number(out, "fraction", f->fraction);
    add_text(out, "mitigation", ek_action_name(f->action));
    add_text(out, "mode", ek_mode_name(f->mode));
    if (f->blocked_by != EK_BOUND_NONE)
        add_text(out, "blocked_by", ek_bound_name(f->blocked_by));
    add_text(out, "reason", f->reason);
    add_text(out, "incident_id", f->incident ? ek_event_incident(f, incident) : NULL);
    add_finding_id(out, f->at.feature, f->number);
    add_count(out, "list", v->query);
    add_count(out, "since_list", f->since_query);
    add_text(out, "message", f->text);
}

static void add_decision(struct ek_buf *out, const struct ek_decision_record *d)
{
    add_text(out, "type", ek_decision_kind_name(d->kind));
    add_text(out, "actor", d->actor);
    add_text(out, "feature", d->feature);
    if (d->feature)
        add_segment(out, d->dimension, d->value);
    if (d->action != EK_ACT_NONE)
        add_text(out, "mitigation", ek_action_name(d->action));
    if (d->percent >= 0)
        add_number(out, "percent", d->percent / 100.);
    add_number(out, "factor", d->factor);
    if (d->guardrail != EK_GUARDRAIL_NONE)
        add_text(out, "guardrail", ek_guardrail_name(d->guardrail));
    add_number(out, "observed", d->observed);
    add_number(out, "limit", d->limit);
    add_count(out, "sequence", d->number);
    add_count(out, "list", d->query);
    add_count(out, "plan_version", d->after);
    add_text(out, "reason", d->reason);
}

static void add_model_drift(struct ek_buf *out, const struct ek_event *v)
{
    const struct ek_agreement_view *a = &v->model_drift.view;
    add_text(out, "state", a->state == EK_AGREEMENT_DRIFTED ? "drifted" : "recovered");
    add_count(out, "lists", (uint64_t)a->recent);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++)
        add_number(out, ek_agreement_statistic_name((enum ek_agreement_statistic)i), a->now[i]);
    add_text(out, "message", v->model_drift.text);
}

static void add_pairs(struct ek_buf *out, const struct ek_event *v)
{
    switch (v->kind) {
    case EK_EVENT_FINDING:
        add_finding(out, v);
        return;
    case EK_EVENT_PLAN:
        add_count(out, "version", v->plan.version);
        add_count(out, "entries", (uint64_t)v->plan.count);
        add_count(out, "list", v->query);
        return;
    case EK_EVENT_DECISION:
        add_decision(out, &v->decision);
        return;
    case EK_EVENT_LIMIT:
        add_text(out, "limit", ek_bound_name(v->limit.bound));
        ek_buf_printf(out, " max=%" PRId64, v->limit.most);
        add_count(out, "list", v->query);
        add_text(out, "message", ek_bound_text(v->limit.bound));
        return;
    case EK_EVENT_MODEL_DRIFT:
        add_model_drift(out, v);
        return;
    case EK_EVENT_TEXT:
        ek_buf_text(out, " json=");
        ek_buf_text(out, v->text);
        return;
    case EK_EVENT_FLEET:
    case EK_EVENT_RELOAD:
    case EK_EVENT_INPUT: /* logged by the stage */
    case EK_EVENT_KINDS:
        return;
    }
}

/* Write the line of one kind of event. Each name is a literal for deploy/log_events.py. */
static void write_line(struct ek_log *log, const struct ek_event *v, const char *pairs)
{
    bool drifted =
        v->kind == EK_EVENT_MODEL_DRIFT && v->model_drift.view.state == EK_AGREEMENT_DRIFTED;
    bool repeated = v->kind == EK_EVENT_FINDING && v->finding.state == EK_UPDATED;
    if (v->kind == EK_EVENT_FINDING)
        ek_log_pairs(log, repeated ? EK_LOG_DEBUG : EK_LOG_INFO, "finding", pairs);
    else if (v->kind == EK_EVENT_PLAN)
        ek_log_pairs(log, EK_LOG_INFO, "plan_changed", pairs);
    else if (v->kind == EK_EVENT_DECISION && v->decision.kind == EK_DECIDED_ROLLBACK)
        ek_log_pairs(log, EK_LOG_WARN, "route_rolled_back", pairs);
    else if (v->kind == EK_EVENT_DECISION)
        ek_log_pairs(log, EK_LOG_INFO, "decision_recorded", pairs);
    else if (v->kind == EK_EVENT_LIMIT)
        ek_log_pairs(log, EK_LOG_INFO, "limit_exceeded", pairs);
    else if (v->kind == EK_EVENT_MODEL_DRIFT)
        ek_log_pairs(log, drifted ? EK_LOG_WARN : EK_LOG_INFO, "model_agreement_changed", pairs);
    else if (v->kind == EK_EVENT_TEXT)
        ek_log_pairs(log, EK_LOG_INFO, "guard_event", pairs);
}

void ek_event_line_write(struct ek_log *log, const struct ek_event *v)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    add_pairs(&out, v);
    const char *pairs = ek_buf_string(&out);
    if (pairs)
        write_line(log, v, pairs);
    else
        ek_log_text(log, EK_LOG_ERROR, "event_dropped", "out of memory");
    ek_buf_release(&out);
}
