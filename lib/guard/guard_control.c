#include "guard/guard_control.h"

#include "base/alloc.h"
#include "detect/dedup.h"
#include "detect/evidence_export.h"
#include "detect/fault_membership.h"
#include "guard/operator_commands.h"
#include "guard/operator_json.h"
#include "guard/guard_trials.h"

#include <math.h>
#include <string.h>

static const struct ek_cells *cells_of(const void *context)
{
    return ek_detector_registry(((const struct ek_guard *)context)->detector);
}

static int dimension_of(void *context, int cell)
{
    return ek_cells_dimension(cells_of(context), cell);
}

static const char *name_of(void *context, int cell)
{
    return ek_cells_dimension_name(cells_of(context), cell);
}

static const char *value_of(void *context, int cell)
{
    return ek_cells_value(cells_of(context), cell);
}

static int assign_cell(void *context, const char *dimension, const char *value)
{
    struct ek_guard *g = context;
    int cell;
    if (ek_detector_retain_cell(g->detector, ek_text_from(dimension), ek_text_from(value), &cell))
        return -2;
    if (cell < 0)
        return -1;
    ek_guard_reset_reused(g);               /* the cell may have had another value */
    ek_detector_release(g->detector, cell); /* retained by retain_cells from here on */
    return cell;
}

int ek_guard_find_cell(const struct ek_guard *g, const char *segment, const char *value)
{
    const struct ek_cells *cells = cells_of(g);
    for (int cell = 1; cell < ek_cells_count(cells); cell++) {
        const char *own = ek_cells_value(cells, cell);
        if (!strcmp(ek_cells_dimension_name(cells, cell), segment) && !own == !value &&
            (!own || !strcmp(own, value)))
            return cell;
    }
    return -1;
}

static int find(void *context, const char *dimension, const char *value)
{
    return ek_guard_find_cell(context, dimension, value);
}

static void retain_cells(void *context, const uint8_t *held, int cells)
{
    ek_detector_retain_cells(((struct ek_guard *)context)->detector, held, cells);
}

/* Pass the lists of the history that are a sample of all traffic. */
static void each_list(void *context, struct ek_route_coverage *reach)
{
    const struct ek_detector *d = ((struct ek_guard *)context)->detector;
    int per_list = 1 + ek_cells_dimensions(ek_detector_registry(d));
    uint64_t first, end = ek_detector_rows(d, &first);
    for (uint64_t row = first; row < end; row++) {
        struct ek_pooled_row r;
        ek_detector_row(d, row, 0, &r);
        if (r.cell[0] >= 0)
            ek_route_coverage_list(reach, r.cell, per_list);
    }
}

static int decided(void *context, const struct ek_decision_record *d)
{
    return ek_guard_add_decision(context, d);
}

static double membership(void *context, int feature, int cell, uint32_t *episode)
{
    return ek_detector_membership(((const struct ek_guard *)context)->detector, feature, cell,
                                  episode);
}

static double sum_memberships(void *context, int feature, int cell)
{
    return ek_detector_sum_memberships(((const struct ek_guard *)context)->detector, feature, cell);
}

static void note_accept(const struct ek_guard *g, const struct ek_level_offset *one,
                        uint64_t normal, struct ek_decision_record *m)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    m->accept = one->version;
    m->normal = normal;
    m->factor = exp(one->shift_ln);
    m->feature = g->assets->manifest->item[one->feature]->name;
    m->dimension = ek_cells_dimension_name(cells, one->cell);
    m->value = ek_cells_value(cells, one->cell);
}

static int accept(void *context, int feature, int cell, struct ek_decision_record *m,
                  struct ek_error *e)
{
    struct ek_guard *g = context;
    struct ek_level_offset one;
    int rc = ek_detector_accept(g->detector, feature, cell, &one, e);
    if (!rc)
        note_accept(g, &one, one.version, m);
    return rc;
}

static int revert(void *context, uint64_t version, struct ek_decision_record *m, struct ek_error *e)
{
    struct ek_guard *g = context;
    struct ek_level_offset one;
    int rc = ek_detector_revert(g->detector, version, &one, e);
    if (!rc)
        note_accept(g, &one, ek_detector_offsets(g->detector)->version, m);
    return rc;
}

int ek_guard_control_new(struct ek_guard *g, struct ek_error *e)
{
    const struct ek_assets *a = g->assets;
    const struct ek_controller_setup setup = {.manifest = a->manifest,
                                              .rules = a->rules,
                                              .means = ek_assets_means(a),
                                              .cells = {.dimension_of = dimension_of,
                                                        .name_of = name_of,
                                                        .value_of = value_of,
                                                        .find = find,
                                                        .assign = assign_cell,
                                                        .retain = retain_cells,
                                                        .each_list = each_list,
                                                        .context = g},
                                              .callbacks = {.decided = decided,
                                                            .get_stats = ek_guard_stats_get,
                                                            .reset_stats = ek_guard_stats_reset,
                                                            .membership = membership,
                                                            .sum_memberships = sum_memberships,
                                                            .context = g},
                                              .levels = {accept, revert, g}};
    return ek_controller_new(&g->control, &setup, e);
}

static const char *old_name_of(void *context, int cell)
{
    return ek_cells_dimension_name(context, cell);
}

static const char *old_value_of(void *context, int cell)
{
    return ek_cells_value(context, cell);
}

int ek_guard_copy_orders(struct ek_guard *g, struct ek_serialize *s, const struct ek_cells *old,
                         const int16_t *to)
{
    const struct ek_controller_setup setup = {
        .manifest = g->assets->manifest,
        .rules = g->assets->rules,
        .cells = {.name_of = old_name_of, .value_of = old_value_of, .context = (void *)old}};
    struct ek_controller *had;
    int rc = ek_controller_new(&had, &setup, NULL);
    if (rc)
        return rc;
    ek_controller_serialize(had, s, g->assets->manifest->watched_count, ek_cells_count(old));
    if (!s->rc)
        rc = ek_controller_copy_orders(g->control, had, to, g->time_ms, ek_guard_list_count(g));
    ek_controller_free(had);
    return rc ? rc : s->rc;
}

static int64_t bound_max(const struct ek_guard *g, enum ek_bound bound)
{
    switch (bound) {
    case EK_BOUND_CELLS:
        return ek_cells_limit(ek_detector_registry(g->detector));
    case EK_BOUND_CHANGES:
        return EK_EPISODES_MAX;
    case EK_BOUND_FINDINGS:
        return EK_FINDINGS_MAX;
    case EK_BOUND_PLAN:
        return EK_PLAN_MAX;
    case EK_BOUND_ROUTED:
        return g->assets->rules->max_routed_features;
    case EK_BOUND_SHARE: /* in percent */
        return (int64_t)(100 * g->assets->rules->max_routed_share);
    case EK_BOUND_SKETCHES: /* bytes */
        return (int64_t)ek_live_sketches_max_bytes(g->assets->manifest->watched_count,
                                                   &g->assets->rules->windows,
                                                   ek_cells_max(ek_detector_registry(g->detector)));
    case EK_BOUND_STRATA:
        return g->assets->profile->strata - 1;
    case EK_BOUND_ITEMS: { /* a reload may have removed the levels after the count */
        const struct ek_item_levels *levels = g->assets->profile->item_levels;
        return levels ? (int64_t)levels->items : 0;
    }
    case EK_BOUND_REPEATS:
        return EK_REPEAT_LISTS;
    case EK_BOUND_QUERIES:
        return g->assets->profile->query_ranges.count;
    case EK_BOUND_EVENTS:
    case EK_BOUND_NONE:
    case EK_BOUNDS_ALL:
        break;
    }
    return EK_EVENTS_MAX;
}

static int report_limit(struct ek_guard *g, enum ek_bound bound, uint64_t query)
{
    int outside = bound == EK_BOUND_QUERIES ? ek_detector_get_outside_query(g->detector) : -1;
    const char *name = outside >= 0 ? g->assets->manifest->query[outside]->name : NULL;
    return ek_guard_emit(g, ek_event_from_limit(bound, bound_max(g, bound),
                                                ek_detector_registry(g->detector), name, query,
                                                g->time_ms));
}

/* Limits on active routes are reported every time, others once. */
static bool trips(enum ek_bound b)
{
    return b == EK_BOUND_PLAN || b == EK_BOUND_ROUTED || b == EK_BOUND_SHARE;
}

int ek_guard_report_limits(struct ek_guard *g, uint64_t query)
{
    struct ek_limit_counters b = ek_guard_limit_counters(g);
    int rc = EK_OK;
    for (int i = EK_BOUND_NONE + 1; !rc && i < EK_BOUNDS_ALL; i++) {
        if (!b.count[i] || g->reported_limits >> i & 1 || trips((enum ek_bound)i))
            continue;
        g->reported_limits |= 1u << i;
        rc = report_limit(g, (enum ek_bound)i, query);
    }
    return rc;
}

int ek_guard_report_reached(struct ek_guard *g, enum ek_bound bound, uint64_t query)
{
    g->limits.count[bound]++;
    return report_limit(g, bound, query);
}

int ek_guard_report_update(struct ek_guard *g, bool changed, uint64_t query)
{
    enum ek_bound tripped = ek_controller_reached_limit(g->control);
    int rc = EK_OK;
    if (tripped != EK_BOUND_NONE)
        rc = ek_guard_report_reached(g, tripped, query);
    return !rc && changed ? ek_guard_report_plan(g, query) : rc;
}

int ek_guard_update_plan(struct ek_guard *g, uint64_t query)
{
    bool changed;
    if (g->member)
        return ek_guard_apply_fleet_plan(g) ? ek_guard_report_plan(g, query) : EK_OK;
    int rc = ek_controller_update(g->control, g->time_ms, query, &changed);
    int reported = ek_guard_report_update(g, changed, query);
    return rc ? rc : reported;
}

bool ek_guard_next_open(const struct ek_guard *g, int *place, struct ek_finding *f)
{
    *place = ek_detector_confirmed(g->detector, *place, f);
    f->state = EK_UPDATED;
    return *place > 0;
}

int ek_guard_report_open(struct ek_guard *g,
                         bool (*is_selected)(void *context, const struct ek_finding *f),
                         void *context)
{
    struct ek_finding f;
    int rc = EK_OK;
    for (int place = 0; !rc && ek_guard_next_open(g, &place, &f);) {
        if (!is_selected(context, &f))
            continue;
        struct ek_decision reported = ek_guard_decide(g, &f);
        int members = ek_detector_members(g->detector, f.cause, g->members,
                                          g->assets->manifest->watched_count);
        rc = ek_guard_report_finding(g, &f, &reported, g->members, members);
    }
    return rc;
}
