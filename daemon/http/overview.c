#include "daemon/http/overview.h"

#include "base/alloc.h"
#include "daemon/guard/impact_metrics.h"
#include "guard/event_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 1200, DIGITS = 6 };

/* Finding with its action. */
struct problem {
    const struct ek_event *event;
    const struct ek_impact_view *route; /* NULL: none */
    const struct ek_event_entry *entry; /* of the plan; NULL: none */
    double gravity;                     /* for ordering: size of the change */
    enum ek_action action;
    enum ek_mode mode;
    bool held; /* as ek_overview_sources.held */
};

struct summary {
    const char *status;
    struct problem *problem; /* gravest first */
    size_t problems, confirmed, suspected;
    bool acts;
    double since_ms; /* NaN: none */
};

static bool is_confirmed(const struct ek_event_finding *f)
{
    return f->state != EK_SUSPECTED;
}

static double get_gravity(const struct ek_event_finding *f)
{
    double moved = f->factor > 0 ? fabs(log(f->factor)) : 1;
    return (is_confirmed(f) ? 1000 : 0) + moved * (f->fraction > 0 ? f->fraction : 1);
}

static const struct ek_impact_view *find_route(const struct ek_overview_sources *in,
                                               const struct ek_event_place *place)
{
    for (size_t i = 0; i < in->routes; i++) {
        const struct ek_impact_view *v = &in->route[i];
        const struct ek_event_place at = {v->feature, v->dimension, v->value};
        if (ek_event_same_place(&at, place))
            return v;
    }
    return NULL;
}

static const struct ek_event_entry *find_entry(const struct ek_event *plan,
                                               const struct ek_event_place *place)
{
    for (int i = 0; plan && i < plan->plan.count; i++)
        if (ek_event_same_place(&plan->plan.entry[i].at, place))
            return &plan->plan.entry[i];
    return NULL;
}

static struct problem make_problem(const struct ek_overview_sources *in,
                                   const struct ek_event *event)
{
    const struct ek_event_finding *f = &event->finding;
    struct problem p = {.event = event,
                        .route = find_route(in, &f->at),
                        .entry = find_entry(in->open->plan, &f->at),
                        .gravity = get_gravity(f),
                        .action = f->action,
                        .held = in->held,
                        .mode = EK_MODE_OBSERVE};
    if (p.route) {
        p.action = p.route->entry->treatment.action;
        p.mode = p.route->mode;
    } else if (p.entry) {
        p.action = p.entry->action;
        p.mode = p.entry->mode;
    }
    return p;
}

/* Return true if another finding represents the incident: the gravest, or the first of equals. */
static bool is_covered(const struct ek_event_log_state *open, size_t number)
{
    const struct ek_event_finding *f = &open->finding[number].event->finding;
    for (size_t i = 0; f->incident && i < open->findings; i++) {
        const struct ek_event_finding *other = &open->finding[i].event->finding;
        double more = get_gravity(other) - get_gravity(f);
        if (i != number && other->incident == f->incident &&
            (more > 0 || (!(more < 0) && i < number)))
            return true;
    }
    return false;
}

static void insert_problem(struct summary *s, const struct problem *p)
{
    size_t at = 0;
    while (at < s->problems && s->problem[at].gravity >= p->gravity)
        at++;
    memmove(&s->problem[at + 1], &s->problem[at], (s->problems++ - at) * sizeof *s->problem);
    s->problem[at] = *p;
}

static bool is_mitigated(const struct problem *p)
{
    return ek_mode_acts(p->mode) && !p->held && !(p->route && p->route->rolled_back);
}

static bool is_input(const struct ek_overview_sources *in, const char *state)
{
    return in->input && !strcmp(in->input, state);
}

static const char *get_status(const struct ek_overview_sources *in, const struct summary *s)
{
    if (in->paused)
        return "paused";
    if (in->reason)
        return "not_ready";
    if (is_input(in, "undecodable"))
        return "undecodable";
    if (s->confirmed)
        return s->acts ? "mitigated" : "confirmed";
    if (s->suspected)
        return "suspected";
    if (in->input && !is_input(in, "ok"))
        return in->input;
    return in->accepts ? "accepted" : "ok";
}

static int summarize(const struct ek_overview_sources *in, struct summary *s)
{
    *s = (struct summary){.since_ms = NAN};
    s->problem = ek_calloc(in->open->findings + 1, sizeof *s->problem);
    if (!s->problem)
        return EK_ENOMEM;
    for (size_t i = 0; i < in->open->findings; i++) {
        const struct problem p = make_problem(in, in->open->finding[i].event);
        if (!is_covered(in->open, i))
            insert_problem(s, &p);
    }
    for (size_t i = 0; i < s->problems; i++) {
        const struct ek_event_finding *f = &s->problem[i].event->finding;
        s->confirmed += is_confirmed(f);
        s->suspected += !is_confirmed(f);
        s->acts |= is_mitigated(&s->problem[i]);
        if (is_confirmed(f) || !s->confirmed)
            s->since_ms = fmin(s->since_ms, (double)f->since_ms);
    }
    if (in->paused)
        s->since_ms = (double)in->paused_ms;
    s->status = get_status(in, s);
    return EK_OK;
}

static void action_text(const struct problem *p, char text[TEXT_BYTES])
{
    const char *feature = p->event->finding.at.feature;
    char effect[TEXT_BYTES / 2];
    double percent = p->route ? p->route->entry->percent / 100. : p->entry ? p->entry->percent : 0;
    if (ek_action_routes(p->action))
        snprintf(effect, sizeof effect, "the model ranks these lists without the level of %s",
                 feature);
    else
        snprintf(effect, sizeof effect, "the action on %s is %s", feature,
                 ek_action_name(p->action));
    if (p->route && p->route->rolled_back)
        snprintf(text, TEXT_BYTES, "no action: guardrail %s rolled back the route of %s",
                 ek_guardrail_name(p->route->guardrail), feature);
    else if (p->event->finding.no_model)
        snprintf(text, TEXT_BYTES, "no action: there is no model");
    else if (!ek_action_treats(p->action))
        snprintf(text, TEXT_BYTES, "no action: it is only reported");
    else if (p->held && ek_mode_acts(p->mode))
        snprintf(text, TEXT_BYTES, "no action until lists have the segments that the rules name");
    else if (p->mode == EK_MODE_ENFORCE)
        snprintf(text, TEXT_BYTES, "%s", effect);
    else if (p->mode == EK_MODE_CANARY)
        snprintf(text, TEXT_BYTES, "%s, for %.4g%% of the lists so far", effect, percent);
    else if (p->mode == EK_MODE_SHADOW)
        snprintf(text, TEXT_BYTES, "no action in mode shadow; in enforce %s", effect);
    else
        snprintf(text, TEXT_BYTES, "no action in mode observe; in enforce %s", effect);
}

static void add_action(struct ek_json_writer *w, const struct problem *p)
{
    char text[TEXT_BYTES];
    double percent = NAN;
    if (p->route && p->mode == EK_MODE_CANARY)
        percent = p->route->entry->percent / 100.;
    else if (!p->route && p->entry)
        percent = p->entry->percent;
    action_text(p, text);
    ek_json_open(w, "mitigation", '{');
    ek_json_add_text(w, "action", ek_action_name(p->action));
    ek_json_add_text(w, "mode", ek_mode_name(p->mode));
    ek_json_add_rounded(w, "percent", percent, DIGITS);
    ek_json_add_guardrail(w, "rolled_back", p->route, p->route && p->route->rolled_back);
    ek_json_add_text(w, "text", text);
    ek_json_close(w, '}');
}

/* Add the comparison of the input order with the order of the plan. */
static void add_without(struct ek_json_writer *w, const struct problem *p)
{
    const struct ek_rank_sums *moved = p->route ? &p->route->sums->moved : NULL;
    char text[TEXT_BYTES];
    if (!moved || !moved->lists) {
        ek_json_add_null(w, "if_unmitigated");
        return;
    }
    struct ek_rank_change mean = ek_rank_sums_mean(moved);
    snprintf(text, sizeof text,
             "without the action, an item of these lists is on average %.2g positions from its "
             "position under the plan, and %.0f%% of the first ten items are the same (%.0f lists)",
             mean.places, 100 * mean.top10, (double)moved->lists);
    ek_json_open(w, "if_unmitigated", '{');
    ek_json_add_rank_sums(w, moved);
    ek_json_add_text(w, "text", text);
    ek_json_close(w, '}');
}

static void add_problem(struct ek_json_writer *w, const struct problem *p)
{
    ek_json_open(w, NULL, '{');
    ek_json_add_problem(w, &p->event->finding);
    add_action(w, p);
    add_without(w, p);
    ek_json_close(w, '}');
}

static void add_text(struct ek_json_writer *w, const struct ek_overview_sources *in,
                     const struct summary *s)
{
    char text[3 * TEXT_BYTES], action[TEXT_BYTES];
    if (in->paused)
        snprintf(text, sizeof text, "paused: no list is changed");
    else if (in->reason)
        snprintf(text, sizeof text, "not ready: %s", in->reason);
    else if (is_input(in, "undecodable"))
        snprintf(text, sizeof text, "%s", in->input_text);
    else if (!s->problems && is_input(in, "no_data"))
        snprintf(text, sizeof text, "no data yet: no list was read since the start");
    else if (!s->problems && in->input && !is_input(in, "ok"))
        snprintf(text, sizeof text, "%s", in->input_text);
    else if (!s->problems && in->accepts)
        snprintf(text, sizeof text,
                 "no findings: features are as in training or at the level that an operator "
                 "accepted (%d in force)",
                 in->accepts);
    else if (!s->problems)
        snprintf(text, sizeof text, "no findings: all features are as in training");
    else if (!s->confirmed)
        snprintf(text, sizeof text, "%zu suspected, none confirmed", s->suspected);
    else {
        const struct problem *first = &s->problem[0];
        bool only_observes = first->event->finding.no_model && first->mode == EK_MODE_OBSERVE;
        action_text(first, action);
        snprintf(text, sizeof text, "%s%s%s%s", s->confirmed > 1 ? "several findings; first: " : "",
                 first->event->finding.text,
                 only_observes ? "" : ". Action: ", only_observes ? "" : action);
    }
    ek_json_add_text(w, "text", text);
}

int ek_overview_write(const struct ek_overview_sources *in, struct ek_buf *out)
{
    struct ek_json_writer w;
    struct summary s;
    if (summarize(in, &s))
        return EK_ENOMEM;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_text(&w, "status", s.status);
    add_text(&w, in, &s);
    if (isnan(s.since_ms))
        ek_json_add_null(&w, "since_ms");
    else
        ek_json_add_integer(&w, "since_ms", (int64_t)s.since_ms);
    ek_json_add_integer(&w, "features", in->features);
    ek_json_add_integer(&w, "segments", in->cells);
    ek_json_add_count(&w, "observed_lists", in->queries);
    ek_json_add_raw(&w, "paused", in->pause, strlen(in->pause));
    ek_json_add_count(&w, "plan_version", in->plan_version);
    ek_json_add_flag(&w, "ready", !in->reason);
    ek_json_add_text(&w, "reason", in->reason);
    ek_json_open(&w, "problems", '[');
    for (size_t i = 0; i < s.problems; i++)
        add_problem(&w, &s.problem[i]);
    ek_json_close(&w, ']');
    ek_json_close(&w, '}');
    ek_free(s.problem);
    return w.rc ? w.rc : ek_buf_text(out, "\n");
}
