/* Operator commands of a guard (evenkeel.h), and the pause. */
#include "guard/operator_commands.h"

#include "detect/evidence_export.h"
#include "guard/event.h"
#include "guard/guard_control.h"
#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "guard/operator_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A factor that differs by list cannot be combined with another factor: the result is unknown. */
static void note_repair(struct ek_plan_repair *repair, enum ek_action would, double shift_ln)
{
    if (would == EK_ACT_NONE)
        *repair = (struct ek_plan_repair){.factor = exp(shift_ln), .query_feature = -1};
    else if (repair->query_feature >= 0)
        *repair = (struct ek_plan_repair){.factor = (double)NAN, .query_feature = -1};
    else
        repair->factor *= exp(shift_ln);
}

/* In a fleet all instances score lists of one event time alike, with the levels of its plan. */
static const struct ek_level_offsets *levels_of(const struct ek_guard *g,
                                                const struct ek_plan *plan)
{
    const struct ek_instance_plans *plans = ek_guard_plans(g);
    return plans && ek_instance_plans_has_version(plans) ? ek_instance_plans_levels(plans, plan)
                                                         : ek_detector_offsets(g->detector);
}

void ek_guard_treat_accepted(const struct ek_guard *g, struct ek_context *c,
                             const struct ek_plan *plan, const int16_t *cells, int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_level_offsets *r = levels_of(g, plan);
    if (!r->count || !c->routing.desired || ek_assets_repair(g->assets))
        return;
    for (int f = 0; f < m->item_count; f++) {
        int k = m->routable_of_item[f];
        double shift_ln = k < 0 ? 0 : ek_level_offset_find(r, f, cells, count);
        if (shift_ln != 0)
            note_repair(&c->repair[k], c->routing.would[k].action, shift_ln);
    }
    ek_level_offset_apply(r, cells, count, m->routable_of_item, c->routing.would);
    if (c->routing.acted)
        ek_level_offset_apply(r, cells, count, m->routable_of_item, c->routing.acts);
}

const struct ek_treatment *ek_guard_base_treatment(const struct ek_guard *g, struct ek_context *c,
                                                   const struct ek_plan *plan, const int16_t *cells,
                                                   int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_level_offsets *r = levels_of(g, plan);
    struct ek_treatment *t = c->routing.acts; /* unused by a list without treatment */
    if (!r->count || ek_assets_repair(g->assets))
        return NULL;
    memset(t, 0, (size_t)m->routable_count * sizeof *t);
    ek_level_offset_apply(r, cells, count, m->routable_of_item, t);
    return t;
}

int ek_guard_check_order(const struct ek_guard *g, const struct ek_order *o, struct ek_error *e)
{
    return ek_controller_check(g->control, o, g->time_ms, e);
}

/* Findings with an active route are reported again with the pause. */
static bool would_act(void *context, const struct ek_finding *f)
{
    const struct ek_guard *g = context;
    const struct ek_assets *a = g->assets;
    const struct ek_means means = ek_assets_means(a);
    struct ek_decision d = ek_decide(a->rules, a->manifest, &means, f);
    return d.desired && d.mode >= EK_MODE_CANARY;
}

static bool is_about_all(const struct ek_order *o)
{
    return o->kind == EK_DECIDED_PAUSE || (o->kind == EK_DECIDED_RESUME && !o->feature);
}

/* Update and report the plan, then report the decision. */
static int conclude(struct ek_guard *g, const struct ek_order *o, struct ek_decision_record *m)
{
    m->query = ek_detector_list_count(g->detector);
    m->before = ek_guard_plan_version(g);
    int rc = o->kind == EK_DECIDED_ACCEPT || o->kind == EK_DECIDED_REVERT
                 ? ek_guard_process_findings(g, m->query)
                 : ek_guard_update_plan(g, m->query);
    m->after = ek_guard_plan_version(g);
    if (!rc)
        rc = ek_guard_add_decision(g, m);
    return rc || !is_about_all(o) ? rc : ek_guard_report_open(g, would_act, g);
}

int ek_guard_carry_out(struct ek_guard *g, const struct ek_order *o, uint64_t *version,
                       struct ek_error *e)
{
    struct ek_decision_record m;
    if (g->member && !is_about_all(o))
        return ek_fail(e, EK_ESTATE,
                       "the guard is an instance of a fleet; submit the command to the fleet");
    bool paused = ek_controller_paused(g->control);
    int rc = ek_controller_apply_order(g->control, o, g->time_ms, &m, e);
    if (rc || (is_about_all(o) && ek_controller_paused(g->control) == paused))
        return rc;
    if (version)
        *version = m.accept;
    return conclude(g, o, &m) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

int ek_guard_accept(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                    const char *author, const char *reason, uint64_t *version, struct ek_error *e)
{
    const struct ek_order o = {.kind = EK_DECIDED_ACCEPT,
                               .feature = feature,
                               .segment = segment,
                               .value = value,
                               .author = author,
                               .reason = reason};
    return ek_guard_carry_out(g, &o, version, e);
}

int ek_guard_revert(struct ek_guard *g, uint64_t version, const char *author, const char *reason,
                    struct ek_error *e)
{
    const struct ek_order o = {
        .kind = EK_DECIDED_REVERT, .version = version, .author = author, .reason = reason};
    return ek_guard_carry_out(g, &o, NULL, e);
}

int ek_guard_pin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                 const char *action, int64_t until_ms, const char *author, const char *reason,
                 struct ek_error *e)
{
    struct ek_order o = {.kind = EK_DECIDED_PIN,
                         .feature = feature,
                         .segment = segment,
                         .value = value,
                         .until_ms = until_ms,
                         .author = author,
                         .reason = reason};
    int rc = ek_order_parse_action(action, &o.action, e);
    return rc ? rc : ek_guard_carry_out(g, &o, NULL, e);
}

int ek_guard_unpin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                   const char *author, const char *reason, struct ek_error *e)
{
    const struct ek_order o = {.kind = EK_DECIDED_UNPIN,
                               .feature = feature,
                               .segment = segment,
                               .value = value,
                               .author = author,
                               .reason = reason};
    return ek_guard_carry_out(g, &o, NULL, e);
}

int ek_guard_pause(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e)
{
    const struct ek_order o = {.kind = EK_DECIDED_PAUSE, .author = author, .reason = reason};
    return ek_guard_carry_out(g, &o, NULL, e);
}

int ek_guard_resume(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e)
{
    const struct ek_order o = {.kind = EK_DECIDED_RESUME, .author = author, .reason = reason};
    return ek_guard_carry_out(g, &o, NULL, e);
}

int ek_guard_resume_route(struct ek_guard *g, const char *feature, const char *segment,
                          const char *value, const char *author, const char *reason,
                          struct ek_error *e)
{
    const struct ek_order o = {.kind = EK_DECIDED_RESUME,
                               .feature = feature,
                               .segment = segment,
                               .value = value,
                               .author = author,
                               .reason = reason};
    return ek_guard_carry_out(g, &o, NULL, e);
}

/* ---------------------------------------------------------------------- pause */

/* Return the latest pause of the log by time, or NULL if unknown. A merge numbers the older
 * decisions of another guard after those of this one. */
static const struct ek_decision_record *last_pause(const struct ek_guard *g)
{
    const struct ek_decision_record *m, *last = NULL;
    for (uint64_t n = ek_decisions_last(g->decisions); (m = ek_decisions_at(g->decisions, n)); n--)
        if (m->kind == EK_DECIDED_PAUSE && (!last || m->time_ms > last->time_ms))
            last = m;
    return last;
}

bool ek_guard_paused(const struct ek_guard *g, struct ek_decision_record *since)
{
    if (!ek_controller_paused(g->control))
        return false;
    const struct ek_decision_record *m = last_pause(g);
    *since = m ? *m : ek_decision_get(EK_DECIDED_PAUSE);
    return true;
}

void ek_guard_clear_pause(struct ek_guard *g)
{
    ek_controller_pause(g->control, false, g->time_ms);
}

int ek_guard_copy_pause(struct ek_guard *g, const struct ek_guard *before, struct ek_error *e)
{
    struct ek_decision_record since;
    bool is_new;
    if (!ek_guard_paused(before, &since) || ek_controller_paused(g->control))
        return EK_OK;
    ek_controller_pause(g->control, true, g->time_ms);
    since.number = 0;
    since.query = ek_detector_list_count(g->detector);
    return ek_decisions_add(g->decisions, &since, &is_new) ? ek_fail(e, EK_ENOMEM, "out of memory")
                                                           : EK_OK;
}
