#include "daemon/http/pages.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/base/metrics.h"
#include "daemon/fleet/fleet.h"
#include "daemon/guard/guard_service.h"
#include "daemon/guard/impact_metrics.h"
#include "daemon/guard/pause.h"
#include "daemon/http/overview.h"
#include "daemon/kafka/kafka.h"
#include "daemon/views/event_log.h"
#include "daemon/views/feature_stats.h"
#include "daemon/views/plan_view.h"
#include "daemon/views/rank_samples.h"
#include "guard/guard_incidents.h"

#include <string.h>

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
                    .features = ek_feature_stats_count(ek_stage_parts(s).feature_stats)},
        .body = body};
    o.sources.paused = ek_pause_since(kill_switch, &o.sources.paused_ms);
    ek_feature_stats_lock(ek_stage_parts(s).feature_stats, &o.sources.cells);
    ek_feature_stats_unlock(ek_stage_parts(s).feature_stats);
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
