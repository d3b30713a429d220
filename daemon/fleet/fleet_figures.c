#include "daemon/fleet/fleet_figures.h"

#include "daemon/base/metrics.h"

#include <inttypes.h>
#include <string.h>

static const char *word(bool yes)
{
    return yes ? "true" : "false";
}

int ek_fleet_figures_json(const struct ek_fleet_figures *f, struct ek_buf *out)
{
    ek_buf_text(out, "{\"instance\":");
    ek_buf_json(out, f->name, strlen(f->name));
    ek_buf_text(out, ",\"decider\":");
    ek_buf_json(out, f->heard.decider, strlen(f->heard.decider));
    return ek_buf_printf(out,
                         ",\"decides\":%s,\"term\":%" PRIu64 ",\"plan_version\":%" PRIu64
                         ",\"plan_age_ms\":%" PRId64 ",\"cut_off\":%s,\"instances\":%d"
                         ",\"names_shared\":%d}",
                         word(f->decides), f->heard.term, f->heard.version, f->age_ms,
                         word(f->cut_off), f->instances, f->shared);
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

int ek_fleet_figures_metrics(const struct ek_fleet_figures *f, struct ek_buf *out)
{
    const struct ek_fleet_traffic *t = &f->traffic;
    /* Those of a family stand together. */
    const struct series all[] = {
        {"evenkeel_fleet_plan_age_seconds", "", (double)f->age_ms / 1000},
        {"evenkeel_fleet_cut_off", "", f->cut_off},
        {"evenkeel_fleet_plan_version", "", (double)f->heard.version},
        {"evenkeel_fleet_term", "", (double)f->heard.term},
        {"evenkeel_fleet_decides", "", f->decides},
        {"evenkeel_fleet_instances", "", f->instances},
        {"evenkeel_fleet_names_shared", "", f->shared},
        {"evenkeel_fleet_plans_late_total", "", (double)f->heard.late},
        {"evenkeel_fleet_plan_entries_missed_total", "", (double)f->heard.missed},
        {"evenkeel_fleet_records_total", "{topic=\"ticks\",result=\"sent\"}",
         (double)t->sent[EK_TOPIC_TICKS]},
        {"evenkeel_fleet_records_total", "{topic=\"ticks\",result=\"lost\"}",
         (double)t->lost[EK_TOPIC_TICKS]},
        {"evenkeel_fleet_records_total", "{topic=\"plan\",result=\"sent\"}",
         (double)t->sent[EK_TOPIC_PLAN]},
        {"evenkeel_fleet_records_total", "{topic=\"plan\",result=\"lost\"}",
         (double)t->lost[EK_TOPIC_PLAN]},
        {"evenkeel_fleet_ticks_total", "{result=\"taken\"}", (double)f->counts.taken},
        {"evenkeel_fleet_ticks_total", "{result=\"twice\"}", (double)f->counts.twice},
        {"evenkeel_fleet_ticks_total", "{result=\"late\"}", (double)f->counts.late},
        {"evenkeel_fleet_ticks_total", "{result=\"refused\"}", (double)f->counts.refused},
        {"evenkeel_fleet_cells_beyond_total", "", (double)f->counts.beyond},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        write_series(&all[i], !i || strcmp(all[i].name, all[i - 1].name) != 0, out);
    return out->rc;
}
