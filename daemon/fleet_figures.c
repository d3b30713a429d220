#include "daemon/fleet_figures.h"

#include "daemon/metrics.h"

#include <inttypes.h>
#include <string.h>

static const char *word(bool yes)
{
    return yes ? "true" : "false";
}

int ek_fleet_figures_json(const struct ek_fleet_figures *f, struct ek_buf *out)
{
    int rc = ek_buf_text(out, "{\"instance\":");
    if (!rc)
        rc = ek_buf_json(out, f->name, strlen(f->name));
    if (!rc)
        rc = ek_buf_text(out, ",\"decider\":");
    if (!rc)
        rc = ek_buf_json(out, f->heard.decider, strlen(f->heard.decider));
    return rc ? rc
              : ek_buf_printf(out,
                              ",\"decides\":%s,\"term\":%" PRIu64 ",\"plan_version\":%" PRIu64
                              ",\"plan_age_ms\":%" PRId64 ",\"cut_off\":%s,\"instances\":%d}",
                              word(f->decides), f->heard.term, f->heard.version, f->age_ms,
                              word(f->cut_off), f->instances);
}

struct series {
    const char *name, *labels;
    double value;
    const char *type, *help; /* NULL: of the family before */
};

static int write_series(const struct series *s, struct ek_buf *out)
{
    int rc = s->help ? ek_metrics_head(s->name, s->type, s->help, out) : EK_OK;
    return rc ? rc : ek_buf_printf(out, "%s%s %.15g\n", s->name, s->labels, s->value);
}

int ek_fleet_figures_metrics(const struct ek_fleet_figures *f, struct ek_buf *out)
{
    static const char counter[] = "counter", gauge[] = "gauge";
    const struct ek_fleet_traffic *t = &f->traffic;
    const struct series all[] = {
        {"evenkeel_fleet_plan_age_seconds", "", (double)f->age_ms / 1000, gauge,
         "Time since the plan of the fleet was heard."},
        {"evenkeel_fleet_cut_off", "", f->cut_off, gauge,
         "1 when it has not been heard for fleet.silent."},
        {"evenkeel_fleet_plan_version", "", (double)f->heard.version, gauge,
         "Version of the plan heard last."},
        {"evenkeel_fleet_term", "", (double)f->heard.term, gauge,
         "Number of deciders that the plan has had."},
        {"evenkeel_fleet_decides", "", f->decides, gauge,
         "1 when this instance decides for the fleet."},
        {"evenkeel_fleet_instances", "", f->instances, gauge,
         "Instances that the decider has heard of in the last 30 seconds; 0 elsewhere."},
        {"evenkeel_fleet_plans_late_total", "", (double)f->heard.late, counter,
         "Plans that came after lists they were to hold for."},
        {"evenkeel_fleet_plan_entries_missed_total", "", (double)f->heard.missed, counter,
         "Entries of plans that found no feature or cell here."},
        {"evenkeel_fleet_records_total", "{topic=\"ticks\",result=\"sent\"}",
         (double)t->sent[EK_TOPIC_TICKS], counter, "Records that this instance wrote."},
        {"evenkeel_fleet_records_total", "{topic=\"ticks\",result=\"lost\"}",
         (double)t->lost[EK_TOPIC_TICKS], NULL, NULL},
        {"evenkeel_fleet_records_total", "{topic=\"plan\",result=\"sent\"}",
         (double)t->sent[EK_TOPIC_PLAN], NULL, NULL},
        {"evenkeel_fleet_records_total", "{topic=\"plan\",result=\"lost\"}",
         (double)t->lost[EK_TOPIC_PLAN], NULL, NULL},
        {"evenkeel_fleet_ticks_total", "{result=\"taken\"}", (double)f->counts.taken, counter,
         "Ticks of all instances that the decider here has read."},
        {"evenkeel_fleet_ticks_total", "{result=\"twice\"}", (double)f->counts.twice, NULL, NULL},
        {"evenkeel_fleet_ticks_total", "{result=\"late\"}", (double)f->counts.late, NULL, NULL},
        {"evenkeel_fleet_ticks_total", "{result=\"refused\"}", (double)f->counts.refused, NULL,
         NULL},
        {"evenkeel_fleet_cells_beyond_total", "", (double)f->counts.beyond, counter,
         "Cells told of that were beyond fleet.places."},
    };
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < sizeof all / sizeof *all; i++)
        rc = write_series(&all[i], out);
    return rc;
}
