#include "daemon/fleet/fleet_status.h"

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "fleet/plan_record.h"
#include "guard/event.h"
#include "guard/operator_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t WARN_EVERY_MS = 60000;

void ek_fleet_report_change(const struct ek_fleet_event_sink *m, const char *instance,
                            enum ek_fleet_change change)
{
    static const char *const texts[][2] = {
        [EK_CHANGE_PLAN_STALE] = {"plan_stale",
                                  "no plan received from the fleet; the last plan stays in force"},
        [EK_CHANGE_PLAN_RECOVERED] = {"plan_recovered", "plans are received again"},
        [EK_CHANGE_DUPLICATE_INSTANCE] = {"duplicate_instance",
                                          "two processes report under this name"},
        [EK_CHANGE_INSTANCE_UNIQUE] = {"instance_unique", "one process has this name"}};
    const struct ek_event v = {
        .kind = EK_EVENT_FLEET,
        .time_ms = ek_wall_ms(),
        .fleet = {.state = texts[change][0],
                  .instance = instance,
                  .text = texts[change][1],
                  .wrong = change == EK_CHANGE_PLAN_STALE || change == EK_CHANGE_DUPLICATE_INSTANCE,
                  .name = change == EK_CHANGE_DUPLICATE_INSTANCE ||
                          change == EK_CHANGE_INSTANCE_UNIQUE}};
    ek_guard_service_add_event(m->guard, &v);
}

static void warn(const struct ek_fleet_event_sink *m, const char *name)
{
    char text[EK_FLEET_NAME_MAX + 200];
    snprintf(text, sizeof text,
             "two processes have the service.instance '%s': the reports of one are dropped; give "
             "each its own name, or none",
             name);
    ek_log_text(m->log, EK_LOG_WARN, "fleet_duplicate_instance", text);
}

static void report_name(struct ek_fleet_names *n, const char *name, int64_t now_ms,
                        const struct ek_fleet_event_sink *m)
{
    if (strcmp(n->reported, name) != 0) {
        if (*n->reported && now_ms - n->reported_ms <= EK_FLEET_EXPIRED_MS)
            return;
        if (*n->reported)
            ek_fleet_report_change(m, n->reported, EK_CHANGE_INSTANCE_UNIQUE);
        if (*name)
            ek_fleet_report_change(m, name, EK_CHANGE_DUPLICATE_INSTANCE);
        snprintf(n->reported, sizeof n->reported, "%s", name);
    }
    n->reported_ms = now_ms;
}

void ek_fleet_names_check(struct ek_fleet_names *n, const struct ek_fleet_pool *pool,
                          int64_t now_ms, const struct ek_fleet_event_sink *m)
{
    const char *name, *first = "";
    bool due = !n->warned_ms || now_ms - n->warned_ms >= WARN_EVERY_MS;
    n->shared = 0;
    for (size_t at = 0; pool && (at = ek_fleet_pool_next_duplicate(pool, at, now_ms, &name));) {
        if (due)
            warn(m, name);
        if (!n->shared++ || !strcmp(name, n->reported))
            first = name;
    }
    if (n->shared && due)
        n->warned_ms = now_ms;
    report_name(n, first, now_ms, m);
}

static const char *flag_text(bool yes)
{
    return yes ? "true" : "false";
}

int ek_fleet_metrics_json(const struct ek_fleet_metrics_values *f, struct ek_buf *out)
{
    ek_buf_text(out, "{\"instance\":");
    ek_buf_json(out, f->name, strlen(f->name));
    ek_buf_text(out, ",\"leader\":");
    ek_buf_json(out, f->status.leader, strlen(f->status.leader));
    return ek_buf_printf(out,
                         ",\"is_leader\":%s,\"term\":%" PRIu64 ",\"plan_version\":%" PRIu64
                         ",\"plan_age_ms\":%" PRId64 ",\"plan_stale\":%s,\"instances\":%d"
                         ",\"duplicate_instances\":%d}",
                         flag_text(f->is_leader), f->status.term, f->status.version, f->age_ms,
                         flag_text(f->cut_off), f->instances, f->shared);
}

struct series {
    const char *name, *labels;
    double value;
};

static int write_series(const struct series *s, bool first, struct ek_buf *out)
{
    if (first)
        ek_metrics_head(s->name, out);
    return ek_buf_printf(out, "%s%s %.15g\n", s->name, s->labels, s->value);
}

int ek_fleet_metrics_write(const struct ek_fleet_metrics_values *f, struct ek_buf *out)
{
    const struct ek_fleet_traffic *t = &f->traffic;
    /* Samples of a family are adjacent. */
    const struct series all[] = {
        {"evenkeel_fleet_plan_age_seconds", "", (double)f->age_ms / 1000},
        {"evenkeel_fleet_plan_stale", "", f->cut_off},
        {"evenkeel_fleet_plan_version", "", (double)f->status.version},
        {"evenkeel_fleet_term", "", (double)f->status.term},
        {"evenkeel_fleet_is_leader", "", f->is_leader},
        {"evenkeel_fleet_instances", "", f->instances},
        {"evenkeel_fleet_duplicate_instances", "", f->shared},
        {"evenkeel_fleet_plans_late_total", "", (double)f->status.late},
        {"evenkeel_fleet_plan_unresolved_entries_total", "", (double)f->status.unresolved},
        {"evenkeel_fleet_records_total", "{topic=\"evidence\",result=\"sent\"}",
         (double)t->sent[EK_TOPIC_EVIDENCE]},
        {"evenkeel_fleet_records_total", "{topic=\"evidence\",result=\"lost\"}",
         (double)t->lost[EK_TOPIC_EVIDENCE]},
        {"evenkeel_fleet_records_total", "{topic=\"plan\",result=\"sent\"}",
         (double)t->sent[EK_TOPIC_PLAN]},
        {"evenkeel_fleet_records_total", "{topic=\"plan\",result=\"lost\"}",
         (double)t->lost[EK_TOPIC_PLAN]},
        {"evenkeel_fleet_reports_received_total", "{result=\"accepted\"}", (double)f->counts.taken},
        {"evenkeel_fleet_reports_received_total", "{result=\"duplicate\"}",
         (double)f->counts.twice},
        {"evenkeel_fleet_reports_received_total", "{result=\"late\"}", (double)f->counts.late},
        {"evenkeel_fleet_reports_received_total", "{result=\"rejected\"}",
         (double)f->counts.refused},
        {"evenkeel_fleet_segments_dropped_total", "", (double)f->counts.beyond},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        write_series(&all[i], !i || strcmp(all[i].name, all[i - 1].name) != 0, out);
    return out->rc;
}

/* Copy a string with terminator; return NULL if it is empty. */
static const char *copy_text(char to[EK_FLEET_TEXT_MAX + 1], struct ek_text text)
{
    snprintf(to, EK_FLEET_TEXT_MAX + 1, "%.*s", (int)text.length, text.length ? text.text : "");
    return text.length ? to : NULL;
}

static int add_pin(void *context, const struct ek_order *p)
{
    return p->feature ? ek_json_add_pin(context, p, EK_BY_OPERATOR) : EK_OK;
}

static int add_accept(void *context, const struct ek_fleet_accept *a)
{
    struct ek_json_writer *w = context;
    char text[5][EK_FLEET_TEXT_MAX + 1];
    const struct ek_accepted one = {.version = a->version,
                                    .feature = copy_text(text[0], a->place.feature),
                                    .dimension = copy_text(text[1], a->place.cell.dimension),
                                    .value = copy_text(text[2], a->place.cell.value),
                                    .factor = exp(a->shift_ln),
                                    .time_ms = a->time_ms,
                                    .author = copy_text(text[3], a->author),
                                    .reason = copy_text(text[4], a->reason)};
    if (one.feature)
        ek_json_add_accepted(w, &one);
    return w->rc;
}

static int write_list(const void *bytes, size_t length, const struct ek_manifest *m,
                      struct ek_fleet_plan_visitor callbacks, struct ek_buf *out)
{
    struct ek_fleet_plan record;
    struct ek_json_writer w;
    struct ek_error e;
    callbacks.context = &w;
    ek_json_init(&w, out);
    int rc = ek_fleet_plan_open(&record, bytes, length, m, &e);
    if (rc)
        return rc;
    ek_json_open(&w, NULL, '[');
    rc = ek_fleet_plan_visit(&record, &callbacks);
    ek_json_close(&w, ']');
    return rc ? rc : w.rc;
}

int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out)
{
    return write_list(bytes, length, m, (struct ek_fleet_plan_visitor){.pin = add_pin}, out);
}

int ek_fleet_accepts_json(const void *bytes, size_t length, const struct ek_manifest *m,
                          struct ek_buf *out)
{
    return write_list(bytes, length, m, (struct ek_fleet_plan_visitor){.accepted = add_accept},
                      out);
}
