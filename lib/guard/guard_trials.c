#include "guard/guard_trials.h"

#include "guard/guard_internal.h"

#include <math.h>

static const struct ek_plan *plan_of(const struct ek_guard *g)
{
    return ek_control_plan(g->control);
}

int ek_guard_tried(struct ek_guard *g, const struct ek_trial *trial, size_t count,
                   struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < count; i++)
        rc = ek_trials_take(g->trials, plan_of(g), &trial[i], e);
    return rc;
}

int ek_guard_acted(struct ek_guard *g, const struct ek_acts *acts, struct ek_error *e)
{
    return ek_trials_take_acts(g->trials, plan_of(g), acts, e);
}

void ek_guard_load_is(struct ek_guard *g, const struct ek_guard_load *load)
{
    ek_trials_take_load(g->trials, load);
}

uint64_t ek_guard_trials_late(const struct ek_guard *g)
{
    return ek_trials_late(g->trials);
}

int ek_guard_try(struct ek_guard *g, struct ek_trial *out, bool *says, struct ek_error *e)
{
    return ek_guard_try_in(g, g->own, out, says, e);
}

int ek_guard_try_in(struct ek_guard *g, struct ek_context *c, struct ek_trial *out, bool *says,
                    struct ek_error *e)
{
    struct ek_acts acts = {0};
    *says = false;
    if (!c->counted || !c->routing.wanted)
        return EK_OK;
    ek_acts_add(&acts, c, 0);
    int rc = ek_guard_acted(g, &acts, e);
    if (!rc && ek_context_wants_trial(c))
        rc = ek_context_try(c, true, ek_guard_gap(g), out, says, e);
    return !rc && *says ? ek_guard_tried(g, out, 1, e) : rc;
}

int ek_guard_try_whole(struct ek_guard *g, struct ek_context *c, struct ek_error *e)
{
    struct ek_trial t;
    bool says;
    c->counted = true;
    c->scored = false; /* its items were, each in a context of its own */
    if (!ek_context_wants_trial(c) || ek_trials_turn(g->trials) % EK_WHOLES_APART)
        return EK_OK;
    int rc = ek_context_try(c, true, ek_guard_gap(g), &t, &says, e);
    return !rc && says ? ek_guard_tried(g, &t, 1, e) : rc;
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

bool ek_guard_figures_of(void *context, int feature, int cell, struct ek_rollout_figures *out)
{
    const struct ek_guard *g = context;
    const struct ek_plan_entry *entry = find(plan_of(g), feature, cell);
    if (!entry)
        return false;
    *out = ek_trials_figures(g->trials, entry);
    out->drifted = ek_guard_has_drifted(g);
    return true;
}

void ek_guard_figures_begin(void *context, int feature, int cell)
{
    ek_trials_begin(((struct ek_guard *)context)->trials, feature, cell);
}

static const struct ek_canary *canary_of(const struct ek_guard *g, int feature)
{
    const struct ek_manifest *m = g->assets->manifest;
    return &g->assets->rules->feature[m->item[feature] - m->features].canary;
}

static struct ek_ranks_view view_of(const struct ek_guard *g, const struct ek_plan_entry *entry)
{
    static const struct ek_trial_sums nothing;
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    const struct ek_trial_sums *sums = ek_trials_of(g->trials, entry);
    return (struct ek_ranks_view){.feature = g->assets->manifest->item[entry->feature]->name,
                                  .dimension = ek_cells_dimension_name(cells, entry->cell),
                                  .value = ek_cells_value(cells, entry->cell),
                                  .entry = entry,
                                  .mode = entry->mode,
                                  .figures = ek_trials_figures(g->trials, entry),
                                  .sums = sums ? sums : &nothing};
}

static void view_acting(const struct ek_guard *g, const struct ek_plan_entry *entry,
                        struct ek_ranks_view *out)
{
    *out = view_of(g, entry);
    if (!ek_mode_acts(entry->mode))
        out->figures = ek_trials_would_be(g->trials, entry);
    out->figures.drifted = ek_guard_has_drifted(g);
    out->rail =
        ek_rollout_rail(canary_of(g, entry->feature), &out->figures, &out->figure, &out->limit);
}

static bool view_withdrawn(const struct ek_guard *g, const struct ek_plan_entry *wanted,
                           struct ek_ranks_view *out)
{
    const struct ek_rollout *r = ek_control_rollout(g->control, wanted->feature, wanted->cell);
    if (!r || r->ended_ms >= 0 || r->withdrawn == EK_RAIL_NONE)
        return false;
    *out = view_of(g, wanted);
    out->mode = EK_MODE_OBSERVE;
    out->withdrawn = true;
    out->rail = r->withdrawn;
    out->figure = r->figure;
    out->limit = r->limit;
    return true;
}

bool ek_guard_ranks(const struct ek_guard *g, int *at, struct ek_ranks_view *out)
{
    const struct ek_plan *plan = plan_of(g), *wanted = ek_control_wanted(g->control);
    for (; *at < plan->count; ++*at)
        if (ek_trials_of(g->trials, &plan->entry[*at])) {
            view_acting(g, &plan->entry[(*at)++], out);
            return true;
        }
    while (*at - plan->count < wanted->count)
        if (view_withdrawn(g, &wanted->entry[(*at)++ - plan->count], out))
            return true;
    return false;
}
