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
    struct ek_context *c = g->own;
    struct ek_acts acts = {0};
    bool failed = c->routing.acted && c->query.items && !c->scored;
    *says = false;
    if (!c->counted || !c->routing.wanted)
        return EK_OK;
    ek_acts_add(&acts, c, failed, 0);
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

static bool has_drifted(const struct ek_guard *g)
{
    struct ek_agreement_view v;
    if (!g->agreement)
        return false;
    ek_agreement_watch_view(g->agreement, &v);
    return v.state == EK_AGREEMENT_DRIFTED;
}

/* A canary's rules, of an item feature. */
static const struct ek_canary *canary_of(const struct ek_guard *g, int feature)
{
    const struct ek_manifest *m = g->assets->manifest;
    return &g->assets->rules->feature[m->item[feature] - m->features].canary;
}

static void view(const struct ek_guard *g, const struct ek_plan_entry *entry,
                 struct ek_ranks_view *out)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    *out = (struct ek_ranks_view){.feature = g->assets->manifest->item[entry->feature]->name,
                                  .dimension = ek_cells_dimension_name(cells, entry->cell),
                                  .value = ek_cells_value(cells, entry->cell),
                                  .entry = entry};
    out->sums = ek_trials_of(g->trials, entry);
    out->figures = entry->mode < EK_MODE_CANARY ? ek_trials_would_be(g->trials, entry)
                                                : ek_trials_figures(g->trials, entry);
    out->figures.drifted = has_drifted(g);
    out->rail =
        ek_rollout_rail(canary_of(g, entry->feature), &out->figures, &out->figure, &out->limit);
}

bool ek_guard_ranks(const struct ek_guard *g, int *at, struct ek_ranks_view *out)
{
    const struct ek_plan *plan = plan_of(g);
    while (*at < plan->count) {
        const struct ek_plan_entry *entry = &plan->entry[(*at)++];
        if (!ek_trials_of(g->trials, entry))
            continue;
        view(g, entry, out);
        return true;
    }
    return false;
}
