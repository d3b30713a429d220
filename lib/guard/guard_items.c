#include "guard/guard_items.h"

#include "guard/guard_control.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"

int ek_guard_items_new(struct ek_guard *g, struct ek_error *e)
{
    const struct ek_assets *a = g->assets;
    int rc = ek_assembly_new(&g->assembly, a->manifest->item_count, a->manifest->query_count,
                             &a->assembly, e);
    return rc ? rc : ek_context_new_paired(&g->list_context, g->own, e);
}

void ek_guard_items_free(struct ek_guard *g)
{
    ek_context_free(g->list_context);
    ek_assembly_free(g->assembly);
    ek_plan_history_release(&g->plan_history);
}

static int process_complete(struct ek_guard *g, struct ek_error *e)
{
    struct ek_context *c = g->list_context;
    uint64_t before = ek_detector_list_count(g->detector);
    int rc = ek_list_stats_builder_read(c->reader, &c->query, e);
    if (!rc)
        rc = ek_guard_process_list(g, c, c->query.time_ms, e);
    if (!rc)
        rc = ek_guard_compare_full(g, c, e);
    if (ek_detector_list_count(g->detector) == before)
        g->adopted++; /* out of memory, but the list still counts */
    return rc;
}

int ek_guard_emit_lists(struct ek_guard *g, int64_t time_ms, struct ek_error *e)
{
    bool some = true;
    int rc = EK_OK;
    while (!rc && some) {
        rc = ek_assembly_next(g->assembly, time_ms, &g->list_context->query, &some, e);
        if (!rc && some)
            rc = process_complete(g, e);
    }
    return rc;
}

int ek_guard_end_items(struct ek_guard *g, struct ek_error *e)
{
    return g->assembly ? ek_guard_emit_lists(g, INT64_MAX, e) : EK_OK;
}

const struct ek_plan *ek_guard_item_plan(const struct ek_guard *g, const struct ek_list *item)
{
    uint64_t number;
    bool known = ek_assembly_plan(g->assembly, item, &number);
    return known ? ek_plan_history_find(&g->plan_history, number) : NULL;
}

/* Add an item. *plan is the plan of its list, or the current plan if it has none or its plan was
 * evicted. */
static int add(struct ek_guard *g, struct ek_context *c, int64_t time_ms,
               const struct ek_plan **plan, struct ek_error *e)
{
    uint64_t number;
    *plan = ek_guard_item_plan(g, &c->query);
    if (*plan)
        return ek_assembly_add(g->assembly, &c->query, time_ms, g->time_ms, EK_NO_PLAN, e);
    *plan = ek_guard_plan_at(g, time_ms);
    if (ek_plan_history_add(&g->plan_history, *plan, &number))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_assembly_add(g->assembly, &c->query, time_ms, g->time_ms, number, e);
    if (!rc)
        ek_assembly_set_plan(g->assembly, &c->query, number);
    return rc;
}

/* Apply the pins of the rules before the first list. */
static int begin(struct ek_guard *g, struct ek_error *e)
{
    if (g->plan_history.count || !ek_guard_update_plan(g, ek_guard_list_count(g)))
        return EK_OK;
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_guard_process_item(struct ek_guard *g, struct ek_context *c, int64_t time_ms, int64_t now_ms,
                          struct ek_error *e)
{
    int16_t cells[EK_CELLS_PER_LIST];
    const struct ek_cells *registry = ek_detector_registry(g->detector);
    const struct ek_plan *plan;
    int count = 1 + ek_cells_dimensions(registry);
    ek_guard_update_clock(g, time_ms, now_ms);
    int rc = ek_guard_emit_lists(g, g->time_ms, e);
    if (!rc)
        rc = begin(g, e);
    if (!rc)
        rc = add(g, c, time_ms, &plan, e);
    if (rc)
        return rc;
    ek_cells_find(registry, &c->query, cells);
    ek_guard_treat(g, c, plan, cells, count);
    rc = ek_live_sketches_list(g->sketches, cells, count, g->time_ms, &c->query, e);
    return rc ? rc : ek_guard_emit_lists(g, g->time_ms, e);
}

struct ek_assembly_counts ek_guard_item_counts(const struct ek_guard *g)
{
    return g->assembly ? ek_assembly_get_counts(g->assembly) : (struct ek_assembly_counts){0};
}
