#include "daemon/alerts/alert_update.h"

#include "daemon/alerts/alert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void copy_location(struct ek_alert *a, const struct ek_event_place *at)
{
    enum { HALF_BYTES = 201 };
    char key[HALF_BYTES], text[HALF_BYTES], both[2 * HALF_BYTES];
    ek_alert_copy(a->feature, sizeof a->feature, or_empty(at->feature));
    if (!at->dimension) {
        snprintf(a->segment, sizeof a->segment, "all");
        return;
    }
    ek_alert_copy(key, sizeof key, at->dimension);
    ek_alert_copy(text, sizeof text, at->value ? at->value : EK_SEGMENT_OTHER);
    snprintf(both, sizeof both, "%s=%s", key, text);
    ek_alert_copy(a->segment, sizeof a->segment, both);
}

/* The members of a confirmed finding include its own feature. */
static void copy_members(struct ek_alert *a, const struct ek_event_finding *f)
{
    char all[2 * EK_ALERT_TEXT_BYTES] = "";
    size_t length = 0;
    for (int i = 0; i < f->members && length < sizeof all; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", length ? ", " : "",
                                   f->member[i]);
    a->features_count = f->members ? f->members : 1;
    ek_alert_copy(a->features, sizeof a->features, *all ? all : a->feature);
}

static const char *limit_name(const struct ek_event_finding *f)
{
    return f->limited == EK_BOUND_NONE ? "" : ek_bound_name(f->limited);
}

static void read_open_finding(struct ek_alert *a, const struct ek_event_finding *f)
{
    const struct ek_alert_finding more = {.action = ek_action_name(f->action),
                                          .mode = ek_mode_name(f->mode),
                                          .limit = limit_name(f),
                                          .text = or_empty(f->text),
                                          .query_feature = or_empty(f->query_feature),
                                          .exponent = f->exponent,
                                          .spread_ratio = f->spread_ratio};
    copy_members(a, f);
    ek_alert_copy(a->class, sizeof a->class,
                  f->class == EK_CLASS_NONE ? "" : ek_class_name(f->class));
    a->factor = f->factor;
    a->factor_low = f->factor_low;
    a->factor_high = f->factor_high;
    a->share = f->share;
    a->since_ms = f->since_ms;
    ek_alert_format_drift(a, &more);
}

static void read_finding(struct ek_alert_update *n, const struct ek_event_finding *f)
{
    struct ek_alert *a = &n->alert;
    a->kind = EK_ALERT_DRIFT;
    copy_location(a, &f->at);
    n->episode = f->episode;
    n->cause = f->cause;
    ek_alert_copy(n->limit, sizeof n->limit, limit_name(f));
    if (ek_finding_is_over(f->state)) {
        n->what = EK_ALERT_FINDING_CLOSED;
    } else if (f->state != EK_SUSPECTED) {
        n->what = EK_ALERT_FINDING_OPEN;
        read_open_finding(a, f);
    }
}

static void set_firing(struct ek_alert_update *n, enum ek_alert_kind kind, const char *detail)
{
    n->what = EK_ALERT_FIRES;
    n->alert.kind = kind;
    ek_alert_format_other(&n->alert, detail);
}

static void set_ended(struct ek_alert_update *n, enum ek_alert_kind kind)
{
    n->what = EK_ALERT_ENDS;
    n->alert.kind = kind;
}

static void read_rollback(struct ek_alert_update *n, const struct ek_decision_record *m)
{
    char detail[EK_ALERT_TEXT_BYTES];
    if (isfinite(m->figure) && isfinite(m->limit))
        snprintf(detail, sizeof detail, "%.60s is %.4g, the rules allow %.4g",
                 ek_guardrail_name(m->rail), m->figure, m->limit);
    else
        ek_alert_copy(detail, sizeof detail, or_empty(m->why));
    set_firing(n, EK_ALERT_ROUTE_ROLLED_BACK, detail);
}

/* A later decision about a route ends the alert of its rollback. */
static bool ends_rollback(const struct ek_decision_record *m)
{
    return m->feature && (m->what == EK_DECIDED_ROUTE || m->what == EK_DECIDED_RELAPSE ||
                          m->what == EK_DECIDED_RESUME || m->what == EK_DECIDED_PIN ||
                          m->what == EK_DECIDED_ACCEPT);
}

static void read_decision(struct ek_alert_update *n, const struct ek_decision_record *m)
{
    char detail[EK_ALERT_TEXT_BYTES];
    const char *who = or_empty(m->who), *why = or_empty(m->why);
    const struct ek_event_place at = {m->feature, m->dimension, m->value};
    if (m->what == EK_DECIDED_ROLLBACK) {
        copy_location(&n->alert, &at);
        read_rollback(n, m);
    } else if (ends_rollback(m)) {
        copy_location(&n->alert, &at);
        set_ended(n, EK_ALERT_ROUTE_ROLLED_BACK);
    } else if (m->what == EK_DECIDED_PAUSE && !m->feature) {
        snprintf(detail, sizeof detail, "%s%.200s%s%.500s", *who ? "by " : "", who,
                 *who && *why ? ", " : "", why);
        set_firing(n, EK_ALERT_PAUSED, detail);
    } else if (m->what == EK_DECIDED_RESUME && !m->feature) {
        set_ended(n, EK_ALERT_PAUSED);
    }
}

static void read_reload(struct ek_alert_update *n, const struct ek_event_reload *r)
{
    char detail[EK_ALERT_TEXT_BYTES];
    const char *file = or_empty(r->file), *message = or_empty(r->message);
    if (r->done) {
        set_ended(n, EK_ALERT_RELOAD_REFUSED);
        return;
    }
    if (*file && r->line > 0)
        snprintf(detail, sizeof detail, "%.200s:%ld:%ld: %.500s", file, r->line, r->column,
                 message);
    else
        snprintf(detail, sizeof detail, "%.200s%s%.500s", file, *file ? ": " : "", message);
    set_firing(n, EK_ALERT_RELOAD_REFUSED, detail);
}

static void read_limit(struct ek_alert_update *n, enum ek_bound bound)
{
    ek_alert_copy(n->alert.limit, sizeof n->alert.limit, ek_bound_name(bound));
    set_firing(n, EK_ALERT_LIMIT_REACHED, ek_bound_text(bound));
}

static void read_drift(struct ek_alert_update *n, const struct ek_event_model_drift *d)
{
    if (d->view.state == EK_AGREEMENT_DRIFTED)
        set_firing(n, EK_ALERT_MODEL_DRIFT, or_empty(d->text));
    else
        set_ended(n, EK_ALERT_MODEL_DRIFT);
}

static void read_fleet(struct ek_alert_update *n, const struct ek_event_fleet *f)
{
    enum ek_alert_kind kind =
        f->name ? EK_ALERT_FLEET_DUPLICATE_INSTANCE : EK_ALERT_FLEET_PLAN_STALE;
    ek_alert_copy(n->alert.instance, sizeof n->alert.instance, or_empty(f->instance));
    if (f->wrong)
        set_firing(n, kind, or_empty(f->text));
    else
        set_ended(n, kind);
}

static void read_input(struct ek_alert_update *n, const struct ek_event_input *i)
{
    static const struct {
        const char *condition;
        enum ek_alert_kind kind;
    } kinds[] = {{"undecodable", EK_ALERT_UNDECODABLE}, {"silent", EK_ALERT_SILENT},
                 {"stalled", EK_ALERT_STALLED},         {"unreachable", EK_ALERT_UNREACHABLE},
                 {"degraded", EK_ALERT_DEGRADED},       {"messages_lost", EK_ALERT_MESSAGES_LOST},
                 {"unmapped", EK_ALERT_UNMAPPED}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(or_empty(i->condition), kinds[k].condition) != 0)
            continue;
        if (i->active)
            set_firing(n, kinds[k].kind, or_empty(i->text));
        else
            set_ended(n, kinds[k].kind);
    }
}

void ek_alert_update_read(struct ek_alert_update *n, const struct ek_event *v)
{
    *n = (struct ek_alert_update){.what = EK_ALERT_NO_UPDATE};
    n->alert.since_ms = v->time_ms;
    n->alert.firing = true;
    n->alert.factor = n->alert.factor_low = n->alert.factor_high = n->alert.share = NAN;
    switch (v->kind) {
    case EK_EVENT_FINDING:
        read_finding(n, &v->finding);
        return;
    case EK_EVENT_DECISION:
        read_decision(n, &v->decision);
        return;
    case EK_EVENT_LIMIT:
        read_limit(n, v->limit.bound);
        return;
    case EK_EVENT_RELOAD:
        read_reload(n, &v->reload);
        return;
    case EK_EVENT_MODEL_DRIFT:
        read_drift(n, &v->model_drift);
        return;
    case EK_EVENT_FLEET:
        read_fleet(n, &v->fleet);
        return;
    case EK_EVENT_INPUT:
        read_input(n, &v->input);
        return;
    case EK_EVENT_PLAN:
    case EK_EVENT_TEXT:
    case EK_EVENT_KINDS:
        return;
    }
}
