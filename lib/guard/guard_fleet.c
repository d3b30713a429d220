#include "guard/guard_fleet.h"

#include "fleet/finding_diff.h"
#include "guard/guard_control.h"
#include "guard/guard_incidents.h"
#include "guard/operator_json.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"

#include <math.h>

int ek_guard_join(struct ek_guard *g, const char *name, uint64_t start, int cells,
                  struct ek_error *e)
{
    const struct ek_fleet_instance_setup setup = {g->assets->profile, name, start, cells};
    if (ek_finding_diff_new(&g->finding_diff, g->assets->manifest, g->assets->rules))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_fleet_instance_new(&g->member, g->detector, &setup, e);
    if (rc) {
        ek_finding_diff_free(g->finding_diff);
        g->finding_diff = NULL;
    }
    return rc;
}

int ek_guard_write_report(struct ek_guard *g, bool early,
                          int (*write)(void *context, const void *bytes, size_t length),
                          void *context, struct ek_error *e)
{
    int rc = early ? ek_fleet_instance_report_early(g->member, g->time_ms, write, context, e)
                   : ek_fleet_instance_report(g->member, g->time_ms, write, context, e);
    return rc || early ? rc
                       : ek_fleet_instance_comparisons(g->member, g->comparisons,
                                                       ek_guard_has_drifted(g), write, context, e);
}

bool ek_guard_has_found(const struct ek_guard *g)
{
    return g->member && ek_fleet_instance_has_findings(g->member);
}

bool ek_guard_is_sampled(const struct ek_guard *g)
{
    return g->member && ek_fleet_instance_is_sampled(g->member);
}

/* Report findings of the fleet. Decisions follow from the rules, which all instances share. */
static int report_findings(struct ek_guard *g)
{
    struct ek_finding f;
    int rc = EK_OK;
    while (!rc && ek_finding_diff_next(g->finding_diff, &f)) {
        struct ek_decision decision = ek_guard_decide(g, &f);
        f.query = ek_detector_list_count(g->detector);
        f.time_ms = g->time_ms;
        int members = ek_finding_diff_members(g->finding_diff, f.cause, g->members,
                                              g->assets->manifest->watched_count);
        rc = ek_guard_report_finding(g, &f, &decision, g->members, members);
    }
    return rc;
}

/* Context of reading a record for its decisions. */
struct decision_reading {
    struct ek_guard *guard;
    enum ek_exceeds limited;
};

static int add_limits(void *context, const struct ek_fleet_limits *l)
{
    ((struct decision_reading *)context)->limited = l->limited;
    return EK_OK;
}

/* Report a limit of the whole plan as an event. A limit of one pin has a feature; the plan's size
 * limit has no statistic. */
static int report_limit(const struct decision_reading *h, const struct ek_decision_record *m)
{
    enum ek_bound of_rules = h->limited == EK_EXCEEDS_SHARE ? EK_BOUND_SHARE : EK_BOUND_ROUTED;
    if (m->kind != EK_DECIDED_LIMIT || m->feature)
        return EK_OK;
    return ek_guard_report_reached(h->guard, isfinite(m->observed) ? of_rules : EK_BOUND_PLAN,
                                   ek_detector_list_count(h->guard->detector));
}

static int add_decision(void *context, const struct ek_decision_record *m)
{
    const struct decision_reading *h = context;
    struct ek_decision_record own = *m;
    own.number = 0; /* instances number decisions separately */
    if (ek_decisions_has(h->guard->decisions, m))
        return EK_OK;
    int rc = ek_guard_add_decision(h->guard, &own);
    return rc ? rc : report_limit(h, m);
}

/* Add the decisions of the leader that are unknown here. */
static int receive_decisions(struct ek_guard *g, const void *bytes, size_t length,
                             struct ek_error *e)
{
    struct decision_reading h = {g, EK_EXCEEDS_NONE};
    const struct ek_fleet_plan_visitor callbacks = {
        .context = &h, .limits = add_limits, .decided = add_decision};
    struct ek_fleet_plan record;
    int rc = ek_fleet_plan_open(&record, bytes, length, g->assets->manifest, e);
    if (rc)
        return rc;
    return ek_fleet_plan_visit(&record, &callbacks) ? ek_fail(e, EK_ENOMEM, "out of memory")
                                                    : EK_OK;
}

/* Apply the accepted levels of the last record, and process the findings that they end. */
static int apply_accepted(struct ek_guard *g)
{
    return ek_instance_plans_apply_accepted(ek_fleet_instance_plans(g->member))
               ? ek_guard_process_findings(g, ek_detector_list_count(g->detector))
               : EK_OK;
}

static int receive_record(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                          int64_t stream_ms, struct ek_error *e)
{
    struct ek_instance_plans *plans = ek_fleet_instance_plans(g->member);
    uint64_t counted = ek_instance_plans_has_version(plans);
    int rc = ek_instance_plans_receive(plans, bytes, length, clock_ms, stream_ms, e);
    ek_guard_reset_reused(g); /* the record may have assigned cells to new values */
    if (!rc)
        rc = ek_finding_diff_apply(g->finding_diff, bytes, length, e);
    if (!rc && report_findings(g))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc && ek_instance_plans_has_version(plans) != counted)
        ek_guard_end_incidents(g);
    if (!rc && ek_instance_plans_has_version(plans) != counted)
        rc = receive_decisions(g, bytes, length, e);
    return rc;
}

int ek_guard_receive_plan(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                          struct ek_error *e)
{
    int rc = receive_record(g, bytes, length, clock_ms, g->time_ms, e);
    if (!rc && apply_accepted(g))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    return rc;
}

int ek_guard_restore_plan(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                          struct ek_error *e)
{
    return receive_record(g, bytes, length, clock_ms, INT64_MIN, e);
}

const struct ek_instance_plans *ek_guard_plans(const struct ek_guard *g)
{
    return g->member ? ek_fleet_instance_plans(g->member) : NULL;
}

const struct ek_plan *ek_guard_plan_at(const struct ek_guard *g, int64_t time_ms)
{
    const struct ek_instance_plans *plans = ek_guard_plans(g);
    bool has_plan = plans && ek_instance_plans_order(plans)->version > 0;
    return has_plan ? ek_instance_plans_get(plans, time_ms, g->time_ms)
                    : ek_controller_plan(g->control);
}

int ek_guard_apply_fleet_plan(struct ek_guard *g)
{
    ek_instance_plans_apply_accepted(ek_fleet_instance_plans(g->member));
    const struct ek_plan *own = ek_controller_plan(g->control);
    const struct ek_plan *now = ek_guard_plan_at(g, g->time_ms);
    if (now == own || (g->follows_fleet && now->version == own->version))
        return 0;
    int changed = now->version != own->version || now->count || own->count;
    struct ek_controller_memory memory = ek_instance_plans_memory(ek_guard_plans(g), now);
    ek_controller_apply_record(g->control, &memory);
    g->follows_fleet = true;
    return changed;
}
