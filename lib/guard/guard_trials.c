#include "guard/guard_trials.h"

#include "guard/guard_incidents.h"
#include "guard/guard_internal.h"

#include <math.h>

static const struct ek_plan *plan_of(const struct ek_guard *g)
{
    return ek_controller_plan(g->control);
}

int ek_guard_add_comparisons(struct ek_guard *g, const struct ek_comparison *trial, size_t count,
                             struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < count; i++)
        rc = ek_comparisons_add(g->comparisons, plan_of(g), &trial[i], e);
    return rc;
}

int ek_guard_add_route_stats(struct ek_guard *g, const struct ek_route_stats *acts,
                             struct ek_error *e)
{
    return ek_comparisons_add_routes(g->comparisons, plan_of(g), acts, e);
}

void ek_guard_add_output_counts(struct ek_guard *g, const struct ek_output_counts *load)
{
    ek_comparisons_add_output_counts(g->comparisons, load);
}

uint64_t ek_guard_stale_comparisons(const struct ek_guard *g)
{
    return ek_comparisons_stale_count(g->comparisons);
}

int ek_guard_compare(struct ek_guard *g, struct ek_comparison *out, bool *valid, struct ek_error *e)
{
    return ek_guard_compare_in(g, g->own, out, valid, e);
}

int ek_guard_compare_in(struct ek_guard *g, struct ek_context *c, struct ek_comparison *out,
                        bool *valid, struct ek_error *e)
{
    struct ek_route_stats acts = {0};
    *valid = false;
    if (!c->counted || !c->routing.desired)
        return EK_OK;
    ek_route_stats_add(&acts, c, 0);
    int rc = ek_guard_add_route_stats(g, &acts, e);
    if (!rc && ek_context_needs_comparison(c))
        rc = ek_context_compare(c, true, ek_guard_gap(g), out, valid, e);
    return !rc && *valid ? ek_guard_add_comparisons(g, out, 1, e) : rc;
}

int ek_guard_compare_full(struct ek_guard *g, struct ek_context *c, struct ek_error *e)
{
    struct ek_comparison t;
    bool valid;
    c->counted = true;
    c->scored = false; /* its items were scored in other contexts */
    if (!ek_context_needs_comparison(c) ||
        ek_comparisons_next_number(g->comparisons) % EK_WHOLES_APART)
        return EK_OK;
    int rc = ek_context_compare(c, true, ek_guard_gap(g), &t, &valid, e);
    return !rc && valid ? ek_guard_add_comparisons(g, &t, 1, e) : rc;
}

bool ek_guard_has_drifted(const struct ek_guard *g)
{
    struct ek_agreement_view v;
    if (!g->agreement)
        return false;
    ek_agreement_watch_view(g->agreement, &v);
    return v.state == EK_AGREEMENT_DRIFTED;
}

static const struct ek_plan_entry *find(const struct ek_plan *p, int feature, int cell)
{
    for (int i = 0; i < p->count; i++)
        if (p->entry[i].feature == feature && p->entry[i].cell == cell &&
            p->entry[i].by == EK_BY_FINDING)
            return &p->entry[i];
    return NULL;
}

bool ek_guard_stats_get(void *context, int feature, int cell, struct ek_rollout_stats *out)
{
    const struct ek_guard *g = context;
    const struct ek_plan_entry *entry = find(plan_of(g), feature, cell);
    if (!entry)
        return false;
    *out = ek_comparisons_stats(g->comparisons, entry);
    out->drifted = ek_guard_has_drifted(g);
    if (g->assets->writes_features) /* repaired lists are not compared */
        out->compared = out->acted + out->earlier;
    return true;
}

void ek_guard_stats_reset(void *context, int feature, int cell)
{
    struct ek_guard *g = context;
    ek_guard_update_incidents(g);
    ek_comparisons_reset(g->comparisons, feature, cell);
}

static const struct ek_canary *canary_of(const struct ek_guard *g, int feature)
{
    const struct ek_manifest *m = g->assets->manifest;
    return &g->assets->rules->feature[m->item[feature] - m->features].canary;
}

static struct ek_impact_view view_of(const struct ek_guard *g, const struct ek_plan_entry *entry)
{
    static const struct ek_comparison_sums nothing;
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    const struct ek_comparison_sums *sums = ek_comparisons_get(g->comparisons, entry);
    return (struct ek_impact_view){.feature = g->assets->manifest->item[entry->feature]->name,
                                   .dimension = ek_cells_dimension_name(cells, entry->cell),
                                   .value = ek_cells_value(cells, entry->cell),
                                   .entry = entry,
                                   .mode = entry->mode,
                                   .stats = ek_comparisons_stats(g->comparisons, entry),
                                   .sums = sums ? sums : &nothing};
}

static void view_acting(const struct ek_guard *g, const struct ek_plan_entry *entry,
                        struct ek_impact_view *out)
{
    *out = view_of(g, entry);
    if (!ek_mode_acts(entry->mode))
        out->stats = ek_comparisons_would_roll_back(g->comparisons, entry);
    out->stats.drifted = ek_guard_has_drifted(g);
    out->guardrail = ek_rollout_check_guardrails(canary_of(g, entry->feature), &out->stats,
                                                 &out->observed, &out->limit);
}

static bool view_rolled_back(const struct ek_guard *g, const struct ek_plan_entry *desired,
                             struct ek_impact_view *out)
{
    const struct ek_rollout *r = ek_controller_rollout(g->control, desired->feature, desired->cell);
    if (!r || r->ended_ms >= 0 || r->rolled_back == EK_GUARDRAIL_NONE)
        return false;
    *out = view_of(g, desired);
    out->mode = EK_MODE_OBSERVE;
    out->rolled_back = true;
    out->guardrail = r->rolled_back;
    out->observed = r->observed;
    out->limit = r->limit;
    return true;
}

bool ek_guard_impact(const struct ek_guard *g, int *at, struct ek_impact_view *out)
{
    const struct ek_plan *plan = plan_of(g), *desired = ek_controller_desired(g->control);
    for (; *at < plan->count; ++*at)
        if (ek_comparisons_get(g->comparisons, &plan->entry[*at])) {
            view_acting(g, &plan->entry[(*at)++], out);
            return true;
        }
    while (*at - plan->count < desired->count)
        if (view_rolled_back(g, &desired->entry[(*at)++ - plan->count], out))
            return true;
    return false;
}
