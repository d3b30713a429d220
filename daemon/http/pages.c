#include "daemon/http/pages.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/base/metrics.h"
#include "daemon/fleet/fleet.h"
#include "daemon/guard/guard_service.h"
#include "daemon/guard/impact_metrics.h"
#include "daemon/guard/pause.h"
#include "daemon/kafka/kafka.h"
#include "daemon/views/event_log.h"
#include "daemon/views/feature_stats.h"
#include "daemon/views/plan_view.h"
#include "daemon/views/rank_samples.h"
#include "guard/event_json.h"
#include "guard/guard_incidents.h"

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

enum { OK = 200, BAD_REQUEST = 400, NOT_FOUND = 404, BROKEN = 500, UNAVAILABLE = 503 };
enum { EVENTS_DEFAULT = 100 };

static const char TEXT[] = "text/plain; charset=utf-8";
static const char JSON[] = "application/json";
static const char PROMETHEUS[] = "text/plain; version=0.0.4; charset=utf-8";

static unsigned status_of(int rc)
{
    return rc ? BROKEN : OK;
}

static int ping(struct ek_stage *s, struct ek_buf *body)
{
    (void)s;
    return ek_buf_text(body, "pong\n");
}

static int version(struct ek_stage *s, struct ek_buf *body)
{
    (void)s;
    return ek_buf_printf(body, "{\"version\":\"%s\",\"librdkafka\":\"%s\"}\n", ek_version(),
                         ek_kafka_version());
}

static int findings(struct ek_stage *s, struct ek_buf *body)
{
    return ek_event_log_findings(ek_stage_parts(s).event_log, NULL, body);
}

static int plan(struct ek_stage *s, struct ek_buf *body)
{
    char tag[EK_PLAN_TAG_BYTES];
    return ek_plan_view_json(ek_stage_parts(s).plan, tag, body);
}

static int features(struct ek_stage *s, struct ek_buf *body)
{
    return ek_feature_stats_features(ek_stage_parts(s).feature_stats, body);
}

static int write_of_guard(struct ek_stage *s,
                          int (*write)(const struct ek_guard *g, struct ek_buf *out),
                          struct ek_buf *body)
{
    int rc = write(ek_guard_service_lock(ek_stage_parts(s).guard), body);
    ek_guard_service_unlock(ek_stage_parts(s).guard);
    return rc;
}

static int impact(struct ek_stage *s, struct ek_buf *body)
{
    return ek_impact_page(ek_stage_parts(s).guard, body);
}

static int pins(struct ek_stage *s, struct ek_buf *body)
{
    struct ek_fleet *fleet = ek_stage_parts(s).fleet;
    int rc = fleet ? ek_fleet_pins(fleet, body) : write_of_guard(s, ek_guard_pins_json, body);
    return rc ? rc : ek_buf_text(body, "\n");
}

static int accepts(struct ek_stage *s, struct ek_buf *body)
{
    struct ek_fleet *fleet = ek_stage_parts(s).fleet;
    int rc = fleet ? ek_fleet_accepts(fleet, body) : write_of_guard(s, ek_guard_accepts_json, body);
    return rc ? rc : ek_buf_text(body, "\n");
}

/* Commands of this instance to its fleet. Without a fleet there are none: commands execute at once.
 */
static int commands(struct ek_stage *s, struct ek_buf *body)
{
    struct ek_fleet *fleet = ek_stage_parts(s).fleet;
    int rc = fleet ? ek_fleet_command_results(fleet, body) : ek_buf_text(body, "[]");
    return rc ? rc : ek_buf_text(body, "\n");
}

static unsigned ready(const struct ek_api *api, const struct ek_http_query *q, struct ek_buf *body)
{
    bool good = false;
    struct ek_flow_view flow;
    (void)q;
    int64_t now = ek_now_ms();
    ek_flow_monitor_get(ek_stage_parts(api->stage).flow, now, &flow);
    ek_buf_text(body, "{");
    ek_stage_readiness(api->stage, &good, body);
    ek_buf_printf(body, ",\"input\":\"%s\",\"conditions\":", ek_flow_state_name(&flow));
    ek_flow_conditions_json(&flow, now, body);
    return ek_buf_text(body, "}\n") ? BROKEN : good ? OK : UNAVAILABLE;
}

static unsigned status(const struct ek_api *api, const struct ek_http_query *q, struct ek_buf *body)
{
    (void)q;
    ek_buf_text(body, "{");
    ek_stage_status(api->stage, body);
    return status_of(ek_buf_printf(body, ",\"commands\":\"%s\"}\n", ek_api_commands(api)));
}

int ek_http_error(const char *why, struct ek_buf *body)
{
    ek_buf_text(body, "{\"error\":");
    ek_buf_json(body, why, strlen(why));
    return ek_buf_text(body, "}\n");
}

static unsigned respond_error(unsigned status, const char *why, struct ek_buf *body)
{
    return ek_http_error(why, body) ? BROKEN : status;
}

/* Parse the count; without `n` it stays unchanged. Return 200, or append an error and return 400.
 */
static unsigned read_count(const char *n, uint64_t *count, struct ek_buf *body)
{
    if (n && (ek_parse_u64(n, EK_WHOLE, count) || !*count))
        return respond_error(BAD_REQUEST, "'n' must be a positive integer, like n=10", body);
    return OK;
}

static unsigned events(const struct ek_api *api, const struct ek_http_query *q, struct ek_buf *body)
{
    uint64_t count = EVENTS_DEFAULT;
    unsigned status = read_count(q->n, &count, body);
    if (status != OK)
        return status;
    return status_of(ek_event_log_last(ek_stage_parts(api->stage).event_log, count, body));
}

static unsigned history(const struct ek_api *api, const struct ek_http_query *q,
                        struct ek_buf *body)
{
    struct ek_history_request request = {
        .count = EVENTS_DEFAULT, .has_after = q->after != NULL, .feature = q->feature};
    struct ek_error e;
    unsigned status = read_count(q->n, &request.count, body);
    if (status != OK)
        return status;
    if (q->after && ek_parse_u64(q->after, EK_WHOLE, &request.after))
        return respond_error(BAD_REQUEST,
                             "'after' must be the number of a decision, as in its 'sequence', or 0",
                             body);
    int rc = ek_guard_history(ek_guard_service_lock(ek_stage_parts(api->stage).guard), &request,
                              body, &e);
    ek_guard_service_unlock(ek_stage_parts(api->stage).guard);
    if (rc == EK_EUSAGE)
        return respond_error(NOT_FOUND, e.message, body);
    return status_of(rc ? rc : ek_buf_text(body, "\n"));
}

static unsigned incidents(const struct ek_api *api, const struct ek_http_query *q,
                          struct ek_buf *body)
{
    uint64_t count = EVENTS_DEFAULT;
    struct ek_error e;
    unsigned status = read_count(q->n, &count, body);
    if (status != OK)
        return status;
    int rc = ek_guard_incidents(ek_guard_service_lock(ek_stage_parts(api->stage).guard), count,
                                q->feature, body, &e);
    ek_guard_service_unlock(ek_stage_parts(api->stage).guard);
    if (rc == EK_EUSAGE)
        return respond_error(NOT_FOUND, e.message, body);
    return status_of(rc ? rc : ek_buf_text(body, "\n"));
}

static unsigned samples(const struct ek_api *api, const struct ek_http_query *q,
                        struct ek_buf *body)
{
    if (!q->feature)
        return respond_error(BAD_REQUEST, "'feature' is required, like feature=price", body);
    if (ek_feature_stats_find(ek_stage_parts(api->stage).feature_stats, q->feature, body) < 0)
        return NOT_FOUND;
    ek_buf_text(body, "{\"feature\":");
    ek_buf_json(body, q->feature, strlen(q->feature));
    ek_buf_text(body, ",\"lists\":");
    ek_rank_samples_json(ek_stage_parts(api->stage).samples, q->feature, body);
    return status_of(ek_buf_text(body, "}\n"));
}

struct overview {
    struct ek_stage *stage;
    struct ek_overview_sources sources;
    struct ek_buf *body;
};

static int write_open(void *context, const struct ek_event_log_state *v)
{
    struct overview *o = context;
    o->sources.open = v;
    return ek_overview_write(&o->sources, o->body);
}

/* The guard is locked, so routes, findings and plan are consistent. */
static int write_overview(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct overview *o = context;
    struct ek_impact_view v, *route;
    size_t count = 0;
    (void)e;
    for (int at = 0; ek_guard_impact(*guard, &at, &v);)
        count++;
    if (!(route = ek_calloc(count + 1, sizeof *route)))
        return EK_ENOMEM;
    for (int at = 0; o->sources.routes < count && ek_guard_impact(*guard, &at, &v);)
        route[o->sources.routes++] = v;
    o->sources.route = route;
    o->sources.accepts = ek_guard_count_accepts(*guard);
    int rc = ek_event_log_view(ek_stage_parts(o->stage).event_log, write_open, o);
    ek_free(route);
    return rc;
}

static int overview(struct ek_stage *s, struct ek_buf *body)
{
    struct ek_pause *kill_switch = ek_stage_parts(s).pause;
    struct ek_stage_stats stats;
    struct ek_buf pause;
    ek_buf_init(&pause, 0);
    ek_stage_stats(s, &stats);
    struct overview o = {
        .stage = s,
        .sources = {.reason = ek_stage_reason(s),
                    .queries = stats.queries,
                    .plan_version = stats.plan_version,
                    .features = ek_feature_stats_count(ek_stage_parts(s).feature_stats),
                    .cells = ek_feature_stats_cells(ek_stage_parts(s).feature_stats)},
        .body = body};
    o.sources.paused = ek_pause_since(kill_switch, &o.sources.paused_ms);
    struct ek_flow_view flow;
    ek_flow_monitor_get(ek_stage_parts(s).flow, ek_now_ms(), &flow);
    o.sources.input = ek_flow_state_name(&flow);
    o.sources.input_text = ek_flow_state_text(&flow);
    o.sources.held = ek_flow_monitor_lacks_segment(ek_stage_parts(s).flow);
    int rc = ek_pause_json(kill_switch, &pause);
    o.sources.pause = ek_buf_string(&pause);
    rc = rc || !o.sources.pause
             ? EK_ENOMEM
             : ek_guard_service_with_guard(ek_stage_parts(s).guard, write_overview, &o, NULL);
    ek_buf_release(&pause);
    return rc;
}

struct page {
    const char *path, *type;
    int (*write)(struct ek_stage *s, struct ek_buf *body); /* NULL: `respond` */
    unsigned (*respond)(const struct ek_api *api, const struct ek_http_query *q,
                        struct ek_buf *body);
};
static const struct page PAGES[] = {
    {"/ping", TEXT, ping, NULL},
    {"/ready", JSON, NULL, ready},
    {"/version", JSON, version, NULL},
    {"/metrics", PROMETHEUS, ek_stage_metrics_text, NULL},
    {"/api/v1/status", JSON, NULL, status},
    {"/api/v1/overview", JSON, overview, NULL},
    {"/api/v1/findings", JSON, findings, NULL},
    {"/api/v1/plan", JSON, plan, NULL},
    {"/api/v1/events", JSON, NULL, events},
    {"/api/v1/features", JSON, features, NULL},
    {"/api/v1/impact", JSON, impact, NULL},
    {"/api/v1/samples", JSON, NULL, samples},
    {"/api/v1/history", JSON, NULL, history},
    {"/api/v1/incidents", JSON, NULL, incidents},
    {"/api/v1/pins", JSON, pins, NULL},
    {"/api/v1/accepts", JSON, accepts, NULL},
    {"/api/v1/commands", JSON, commands, NULL},
};
/* Prefix of the resource of each feature. */
static const char FEATURE[] = "/api/v1/features/";

static int write_members(struct ek_stage *s, const char *name, struct ek_buf *out)
{
    ek_buf_text(out, "\"findings\":");
    int rc = ek_event_log_findings(ek_stage_parts(s).event_log, name, out);
    ek_buf_text(out, ",\"routes\":");
    if (!rc)
        rc = ek_impact_json(ek_stage_parts(s).guard, name, out);
    if (rc)
        return rc;
    ek_buf_text(out, ",\"pin_actions\":");
    rc = ek_guard_pin_actions_json(ek_guard_service_lock(ek_stage_parts(s).guard), name, out);
    ek_guard_service_unlock(ek_stage_parts(s).guard);
    return rc ? rc : ek_buf_text(out, ",");
}

static unsigned feature(struct ek_stage *s, const char *name, struct ek_buf *body)
{
    struct ek_buf members;
    ek_buf_init(&members, 0);
    int rc = write_members(s, name, &members);
    const struct ek_feature_stats_more more = {ek_buf_string(&members),
                                               ek_stage_parts(s).feature_history};
    if (!rc)
        rc = ek_feature_stats_feature(ek_stage_parts(s).feature_stats, name, &more, body);
    ek_buf_release(&members);
    return rc == EK_EUSAGE ? NOT_FOUND : status_of(rc);
}

static unsigned set_type(unsigned code, const char *as, const char **type, struct ek_buf *body)
{
    *type = code == BROKEN ? TEXT : as;
    if (code == BROKEN)
        ek_buf_clear(body);
    return code;
}

static unsigned respond_not_found(struct ek_buf *body)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    ek_buf_text(&text, "not found; paths are:");
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++)
        ek_buf_printf(&text, " %s", PAGES[i].path);
    ek_buf_printf(&text, " %s{feature}; docs/http.md also has the calls that change something",
                  FEATURE);
    unsigned status = text.rc ? BROKEN : respond_error(NOT_FOUND, ek_buf_string(&text), body);
    ek_buf_release(&text);
    return status;
}

bool ek_http_is_page(const char *path)
{
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++)
        if (!strcmp(PAGES[i].path, path))
            return true;
    return !strncmp(path, FEATURE, sizeof FEATURE - 1);
}

unsigned ek_http_page(const struct ek_api *api, const char *path, const struct ek_http_query *query,
                      const char **type, struct ek_buf *body)
{
    static const struct ek_http_query nothing = {0};
    query = query ? query : &nothing;
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++) {
        const struct page *p = &PAGES[i];
        if (strcmp(p->path, path) != 0)
            continue;
        unsigned status =
            p->write ? status_of(p->write(api->stage, body)) : p->respond(api, query, body);
        return set_type(status, p->type, type, body);
    }
    if (!strncmp(path, FEATURE, sizeof FEATURE - 1))
        return set_type(feature(api->stage, path + sizeof FEATURE - 1, body), JSON, type, body);
    return set_type(respond_not_found(body), JSON, type, body);
}
