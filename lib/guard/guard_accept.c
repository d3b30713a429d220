#include "guard/guard_accept.h"

#include "guard/guard_fleet.h"
#include "guard/guard_history.h"
#include "guard/guard_names.h"

#include <math.h>
#include <string.h>

/* A factor that differs by list cannot be joined with another: then it is not known. */
static void note_repair(struct ek_repair *repair, enum ek_action would, double shift_ln)
{
    if (would == EK_ACT_NONE)
        *repair = (struct ek_repair){exp(shift_ln), -1};
    else if (repair->query_feature >= 0)
        *repair = (struct ek_repair){(double)NAN, -1};
    else
        repair->factor *= exp(shift_ln);
}

/* In a fleet lists of one time are scored alike everywhere, by what the plan of that time has. */
static const struct ek_rebases *levels_of(const struct ek_guard *g, const struct ek_plan *plan)
{
    const struct ek_fleet_plans *plans = ek_guard_plans(g);
    return plans && ek_fleet_plans_counted(plans) ? ek_fleet_plans_levels(plans, plan)
                                                  : ek_detector_rebases(g->detector);
}

void ek_guard_treat_accepted(const struct ek_guard *g, struct ek_context *c,
                             const struct ek_plan *plan, const int16_t *cells, int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_rebases *r = levels_of(g, plan);
    if (!r->count || !c->routing.wanted)
        return;
    for (int f = 0; f < m->item_count; f++) {
        int k = m->routable_of_item[f];
        double shift_ln = k < 0 ? 0 : ek_rebase_of_list(r, f, cells, count);
        if (shift_ln != 0)
            note_repair(&c->repair[k], c->routing.would[k].action, shift_ln);
    }
    ek_rebase_treat(r, cells, count, m->routable_of_item, c->routing.would);
    if (c->routing.acted)
        ek_rebase_treat(r, cells, count, m->routable_of_item, c->routing.acts);
}

const struct ek_treatment *ek_guard_untreated(const struct ek_guard *g, struct ek_context *c,
                                              const struct ek_plan *plan, const int16_t *cells,
                                              int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_rebases *r = levels_of(g, plan);
    struct ek_treatment *t = c->routing.acts; /* which has nothing for such a list */
    if (!r->count)
        return NULL;
    memset(t, 0, (size_t)m->routable_count * sizeof *t);
    ek_rebase_treat(r, cells, count, m->routable_of_item, t);
    return t;
}

/* An instance of a fleet has no normal of its own: an order is for the decider. */
static int check(const struct ek_guard *g, const char *author, const char *reason,
                 struct ek_error *e)
{
    int rc = ek_guard_check_person(author, reason, e);
    if (!rc && g->member)
        rc = ek_fail(e, EK_ESTATE,
                     "an instance of a fleet has no normal of its own: whoever decides accepts and "
                     "reverts for all");
    return rc;
}

/* What came of it, and then the decision. `normal`: version of what is normal now. */
static int tell(struct ek_guard *g, struct ek_decided *m, const struct ek_rebase *accept,
                uint64_t normal, struct ek_error *e)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    m->before = ek_guard_plan_version(g);
    m->query = ek_detector_queries(g->detector);
    m->accept = accept->version;
    m->normal = normal;
    m->factor = exp(accept->shift_ln);
    m->feature = g->assets->manifest->item[accept->feature]->name;
    m->dimension = ek_cells_dimension_name(cells, accept->cell);
    m->value = ek_cells_value(cells, accept->cell);
    int rc = ek_guard_take_findings(g, m->query);
    m->after = ek_guard_plan_version(g);
    rc = rc ? rc : ek_guard_decided(g, m);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

int ek_guard_accept(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                    const char *author, const char *reason, uint64_t *version, struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(EK_DID_ACCEPT);
    struct ek_rebase accept;
    int number, cell;
    int rc = check(g, author, reason, e);
    if (!rc)
        rc = ek_guard_find_feature(g->assets->manifest, feature, &number, e);
    if (!rc)
        rc = ek_guard_find_cell(g, segment, value, &cell, e);
    if (!rc)
        rc = ek_detector_accept(g->detector, number, cell, &accept, e);
    if (rc)
        return rc;
    m.who = author;
    m.why = reason;
    *version = accept.version;
    return tell(g, &m, &accept, accept.version, e);
}

int ek_guard_revert(struct ek_guard *g, uint64_t version, const char *author, const char *reason,
                    struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(EK_DID_REVERT);
    struct ek_rebase accept;
    int rc = check(g, author, reason, e);
    if (!rc)
        rc = ek_detector_revert(g->detector, version, &accept, e);
    if (rc)
        return rc;
    m.who = author;
    m.why = reason;
    return tell(g, &m, &accept, ek_detector_rebases(g->detector)->version, e);
}
