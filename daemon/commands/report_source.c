#include "daemon/commands/report_source.h"

#include "base/alloc.h"
#include "base/json.h"
#include "daemon/base/command.h"
#include "daemon/guard/impact_metrics.h"
#include "daemon/views/agreement_cache.h"
#include "daemon/views/event_log.h"
#include "daemon/views/feature_stats.h"
#include "daemon/views/plan_view.h"
#include "daemon/views/rank_samples.h"
#include "daemon/views/traffic_history.h"
#include "evenkeel.h"
#include "guard/event_json.h"
#include "guard/guard_incidents.h"
#include "guard/guard_items.h"
#include "guard/guard_trials.h"
#include "guard/operator_json.h"
#include "guard/public.h"
#include "lists/capture.h"
#include "serve/assets.h"
#include "serve/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    EVENTS = 1024,      /* retained events; the page does not read them */
    DECISIONS = 1000,   /* as many as the page shows */
    INCIDENTS = 1000,   /* all */
    SAMPLE_LISTS = 20,  /* compared lists between two samples */
    HISTORY_LISTS = 16, /* lists between two steps of the evidence history */
    SEGMENT_SWEEPS = 2  /* the first sweep may find new segments */
};

struct ek_report_replay {
    const struct ek_assets *assets;
    const struct ek_field_mapping *field_mapping;
    struct ek_guard *guard;
    struct ek_event_log *event_log;
    struct ek_feature_stats *stats;
    struct ek_feature_history *history;
    struct ek_rank_samples *samples;
    struct ek_agreement_cache *agreement;
    struct ek_traffic_history *traffic;
    struct ek_plan_view *plan;
    uint64_t messages, changed, undecodable, compared;
    int64_t time_ms;
    struct ek_error first; /* first undecodable message */
};

static int enomem(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int make_views(struct ek_report_replay *r, struct ek_error *e)
{
    const struct ek_assets *a = r->assets;
    r->event_log = ek_event_log_new(EVENTS);
    r->stats = ek_feature_stats_new(a->manifest, a->rules, ek_guard_traffic(r->guard));
    r->history = ek_feature_history_new();
    r->samples = ek_rank_samples_new();
    r->agreement = ek_agreement_cache_new();
    r->traffic = ek_traffic_history_new();
    r->plan = ek_plan_view_new();
    return r->event_log && r->stats && r->history && r->samples && r->agreement && r->traffic &&
                   r->plan
               ? EK_OK
               : enomem(e);
}

/* Add the pending events to the event log. */
static int add_events(struct ek_report_replay *r, struct ek_error *e)
{
    const struct ek_event *v;
    struct ek_event_log_change change;
    struct ek_buf json;
    int rc = EK_OK;
    ek_buf_init(&json, 0);
    while (!rc && (v = ek_guard_pop_event(r->guard))) {
        ek_buf_clear(&json);
        rc = ek_event_json(v, &json) || !ek_buf_string(&json) ||
             ek_event_log_add(r->event_log, v, ek_buf_string(&json), v->time_ms, &change);
    }
    ek_buf_release(&json);
    return rc ? enomem(e) : EK_OK;
}

/* Compare ranks, and keep some compared lists as samples. The message must be valid. */
static int compare(struct ek_report_replay *r, struct ek_error *e)
{
    const struct ek_context *c = ek_guard_context(r->guard);
    struct ek_rank_sample *sample = NULL;
    struct ek_comparison t;
    bool valid;
    if (r->compared % SAMPLE_LISTS == 0 && ek_context_needs_comparison(c) &&
        ek_rank_sample_new(&sample, r->samples, c))
        return enomem(e);
    int rc = ek_guard_compare(r->guard, &t, &valid, e);
    if (!rc && valid && !t.failed && sample) {
        rc = ek_rank_samples_add(r->samples, sample, ek_rank_comparison_scores(c->rank_comparison),
                                 r->time_ms)
                 ? enomem(e)
                 : EK_OK;
        sample = NULL;
    }
    r->compared += !rc && valid;
    ek_rank_sample_free(sample);
    return rc;
}

static int process_message(struct ek_report_replay *r, const struct ek_record *record,
                           struct ek_error *e)
{
    size_t length;
    int rc = ek_guard_observe_record(r->guard, record->bytes, record->length, record->timestamp_ms,
                                     r->messages, e);
    if (rc == EK_EFORMAT || rc == EK_ELIMIT || rc == EK_ESTATE) {
        if (!r->undecodable++)
            r->first = *e;
        return EK_OK;
    }
    if (rc || (rc = add_events(r, e)))
        return rc;
    int64_t list_ms = ek_guard_context(r->guard)->query.time_ms;
    r->time_ms = list_ms >= 0 ? list_ms : (int64_t)r->messages;
    ek_traffic_history_add(r->traffic,
                           &(struct ek_traffic_sample){.lists = ek_guard_list_count(r->guard),
                                                       .messages = r->messages + 1,
                                                       .event_ms = r->time_ms,
                                                       .now_ms = r->time_ms,
                                                       .wall_ms = r->time_ms});
    if (r->messages % HISTORY_LISTS == 0 &&
        ek_feature_history_step(r->history, ek_guard_detector(r->guard),
                                r->assets->profile->features))
        return enomem(e);
    const void *bytes = ek_guard_score(r->guard, &length, e);
    if (!bytes && e->code == EK_ENOMEM)
        return EK_ENOMEM;
    r->changed += bytes && bytes != record->bytes;
    return compare(r, e);
}

static int process_all(struct ek_report_replay *r, struct ek_capture_reader *in, struct ek_error *e)
{
    struct ek_progress progress;
    struct ek_record record;
    int more, rc;
    ek_progress_start(&progress, "report");
    while (!(rc = ek_capture_next(in, &record, &more, e)) && more) {
        uint64_t done, total;
        if ((rc = process_message(r, &record, e)))
            return rc;
        r->messages++;
        ek_capture_position(in, &done, &total);
        ek_progress_update(&progress, done, total, NULL);
    }
    if (!rc)
        ek_progress_finish(&progress, NULL);
    return rc;
}

/* Compute the statistics of all features and segments. */
static int update_views(struct ek_report_replay *r, struct ek_error *e)
{
    int cells = ek_live_sketches_cells(ek_guard_traffic(r->guard));
    int steps = ek_feature_stats_count(r->stats) / EK_FEATURE_STATS_STEP + 1;
    int rc = EK_OK;
    for (int i = 0; !rc && i < SEGMENT_SWEEPS * steps * cells; i++)
        rc = ek_feature_stats_update(r->stats, r->time_ms);
    ek_agreement_cache_set(r->agreement, ek_guard_agreement(r->guard));
    if (!rc)
        rc = ek_plan_view_set(r->plan, r->guard);
    return rc ? enomem(e) : EK_OK;
}

static int check_decoded(const struct ek_report_replay *r, const char *messages, struct ek_error *e)
{
    if (!r->messages || r->undecodable < r->messages)
        return EK_OK;
    *e = r->first;
    ek_field_mapping_hint(r->field_mapping, e);
    char text[700];
    return ek_fail(e, EK_EFORMAT, "%s: none of the messages could be read: %s", messages,
                   ek_error_text(e, text, sizeof text));
}

static int run(struct ek_report_replay *r, const char *messages, struct ek_error *e)
{
    struct ek_capture_reader *in = NULL;
    int rc = ek_guard_new(&r->guard, r->assets, e);
    if (!rc)
        rc = make_views(r, e);
    if (!rc)
        rc = ek_capture_open(&in, messages, 0, e);
    if (!rc)
        rc = process_all(r, in, e);
    ek_capture_close(in);
    if (!rc)
        rc = ek_guard_end_items(r->guard, e);
    if (!rc)
        rc = add_events(r, e);
    if (!rc)
        rc = check_decoded(r, messages, e);
    return rc ? rc : update_views(r, e);
}

int ek_report_replay_new(struct ek_report_replay **out, const struct ek_assets *assets,
                         const struct ek_field_mapping *field_mapping, const char *messages,
                         struct ek_error *e)
{
    struct ek_report_replay *r = ek_calloc(1, sizeof *r);
    if (!r)
        return enomem(e);
    r->assets = assets;
    r->field_mapping = field_mapping;
    int rc = run(r, messages ? messages : "-", e);
    if (rc)
        ek_report_replay_free(r);
    else
        *out = r;
    return rc;
}

void ek_report_replay_free(struct ek_report_replay *r)
{
    if (!r)
        return;
    ek_event_log_free(r->event_log);
    ek_feature_stats_free(r->stats);
    ek_feature_history_free(r->history);
    ek_rank_samples_free(r->samples);
    ek_agreement_cache_free(r->agreement);
    ek_traffic_history_free(r->traffic);
    ek_plan_view_free(r->plan);
    ek_guard_free(r->guard);
    ek_free(r);
}

int64_t ek_report_replay_time_ms(const struct ek_report_replay *r)
{
    return r->time_ms;
}

/* ---- responses */

static int get_ready(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    (void)r, (void)e;
    return ek_buf_text(out, "{\"ready\":true}");
}

static int get_status(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    bool writes = ek_assets_score(r->assets) || r->assets->writes_features;
    uint64_t lists = ek_guard_list_count(r->guard);
    struct ek_json_writer w;
    (void)e;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_text(&w, "service", "evenkeel report");
    ek_json_add_text(&w, "version", ek_version());
    ek_json_add_null(&w, "paused");
    ek_json_add_text(&w, "output", writes ? "replay" : NULL);
    ek_json_add_count(&w, "observed_lists", lists);
    ek_json_add_count(&w, "plan_version", ek_guard_plan_version(r->guard));
    ek_json_add_count(&w, "open_findings", ek_event_log_open(r->event_log));
    ek_json_add_count(&w, "routed", r->changed);
    ek_json_add_count(&w, "dead_letters", 0);
    ek_json_add_count(&w, "lag", 0);
    ek_json_open(&w, "input", '{');
    ek_json_add_text(&w, "state", lists ? "ok" : "no_data");
    ek_json_add_count(&w, "undecodable", r->undecodable);
    ek_json_open(&w, "conditions", '[');
    ek_json_close(&w, ']');
    ek_json_close(&w, '}');
    ek_buf_text(out, ",\"model\":");
    ek_agreement_cache_json(r->agreement, out);
    ek_buf_text(out, ",\"traffic\":");
    ek_traffic_history_json(r->traffic, out);
    ek_json_close(&w, '}');
    return w.rc ? w.rc : out->rc;
}

static int get_findings(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    (void)e;
    return ek_event_log_findings(r->event_log, NULL, out);
}

static int get_plan(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    char tag[EK_PLAN_TAG_BYTES];
    (void)e;
    return ek_plan_view_json(r->plan, tag, out);
}

static int get_impact(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    (void)e;
    return ek_impact_write(r->guard, out);
}

static int get_history(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    const struct ek_history_request all = {.count = DECISIONS};
    return ek_guard_history(r->guard, &all, out, e);
}

static int get_incidents(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    return ek_guard_incidents(r->guard, INCIDENTS, NULL, out, e);
}

static int get_pins(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    (void)e;
    return ek_guard_pins_json(r->guard, out);
}

static int get_accepts(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    (void)e;
    return ek_guard_accepts_json(r->guard, out);
}

static int get_features(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e)
{
    (void)e;
    return ek_feature_stats_features(r->stats, out);
}

static int write_members(struct ek_report_replay *r, const char *name, struct ek_buf *out)
{
    ek_buf_text(out, "\"findings\":");
    ek_event_log_findings(r->event_log, name, out);
    ek_buf_text(out, ",\"routes\":");
    int rc = ek_impact_routes_write(r->guard, name, out);
    return rc ? rc : ek_buf_text(out, ",\"pin_actions\":[],");
}

static int get_feature(struct ek_report_replay *r, const char *name, struct ek_buf *out)
{
    struct ek_buf members;
    ek_buf_init(&members, 0);
    int rc = write_members(r, name, &members);
    const struct ek_feature_stats_more more = {ek_buf_string(&members), r->history};
    if (!rc && !more.members)
        rc = EK_ENOMEM;
    if (!rc)
        rc = ek_feature_stats_feature(r->stats, name, &more, out);
    ek_buf_release(&members);
    return rc;
}

static int get_samples(struct ek_report_replay *r, const char *name, struct ek_buf *out)
{
    ek_buf_text(out, "{\"feature\":");
    ek_buf_json(out, name, strlen(name));
    ek_buf_text(out, ",\"lists\":");
    ek_rank_samples_json(r->samples, name, out);
    return ek_buf_text(out, "}");
}

/* Return the rest of a path after a prefix, or NULL. */
static const char *after(const char *path, const char *prefix)
{
    return strncmp(path, prefix, strlen(prefix)) ? NULL : path + strlen(prefix);
}

int ek_report_replay_get(struct ek_report_replay *r, const char *path, bool *found,
                         struct ek_buf *out, struct ek_error *e)
{
    static const struct {
        const char *path;
        int (*get)(struct ek_report_replay *r, struct ek_buf *out, struct ek_error *e);
    } responses[] = {{"ready", get_ready},
                     {"api/v1/status", get_status},
                     {"api/v1/findings", get_findings},
                     {"api/v1/plan", get_plan},
                     {"api/v1/impact", get_impact},
                     {"api/v1/history", get_history},
                     {"api/v1/incidents", get_incidents},
                     {"api/v1/pins", get_pins},
                     {"api/v1/accepts", get_accepts},
                     {"api/v1/features", get_features}};
    const char *feature = after(path, "api/v1/features/");
    const char *sampled = after(path, "api/v1/samples?feature=");
    int rc = EK_OK;
    *found = true;
    if (feature)
        rc = get_feature(r, feature, out);
    else if (sampled)
        rc = get_samples(r, sampled, out);
    size_t i = 0, count = feature || sampled ? 0 : sizeof responses / sizeof *responses;
    while (i < count && strcmp(responses[i].path, path) != 0)
        i++;
    if (i < count)
        rc = responses[i].get(r, out, e);
    else if (count)
        *found = false;
    return rc ? enomem(e) : EK_OK;
}
