#include "base/alloc.h"
#include "detect/merge.h"
#include "detect/fault_membership.h"
#include "fleet/fleet_instance.h"
#include "guard/guard_control.h"
#include "guard/guard_incidents.h"
#include "guard/incident_log.h"
#include "num/windows.h"

#include <string.h>

/* Merge the windows of a cell into a cell here. */
static int merge_windows(struct ek_guard *into, struct ek_guard *from, int cell, int to)
{
    struct ek_windows *had = ek_live_sketches_windows(from->sketches, cell);
    if (!had || to < 0 || to >= into->assets->rules->windows.max_segments)
        return EK_OK;
    int rc = ek_live_sketches_open(into->sketches, to, NULL);
    if (rc)
        return rc;
    rc = ek_windows_merge(ek_live_sketches_windows(into->sketches, to), had, false);
    ek_live_sketches_filled(into->sketches, to);
    return rc;
}

static void merge_times(struct ek_guard *into, const struct ek_guard *from)
{
    if (!into->stream_clock.started ||
        (from->stream_clock.started && from->stream_clock.now_ms > into->stream_clock.now_ms))
        into->stream_clock = from->stream_clock;
    if (from->time_ms > into->time_ms)
        into->time_ms = from->time_ms;
    if (from->clock_ms > into->clock_ms)
        into->clock_ms = from->clock_ms;
    ek_live_sketches_time(into->sketches, into->time_ms);
}

static bool is_accepted(const struct ek_guard *g, int feature, int cell)
{
    const struct ek_level_offsets *accepted = ek_detector_offsets(g->detector);
    for (int i = 0; i < accepted->count; i++)
        if (accepted->one[i].feature == feature && accepted->one[i].cell == cell)
            return true;
    return false;
}

/* End a route: at once if its level is accepted, else after its minimum duration. */
static void end_route(struct ek_guard *g, int feature, int cell)
{
    const struct ek_finding over = {.state =
                                        is_accepted(g, feature, cell) ? EK_DISMISSED : EK_RECOVERED,
                                    .class = EK_SCALE,
                                    .feature = feature,
                                    .cell = cell};
    ek_controller_add_finding(g->control, &over, g->time_ms);
}

/* Map the finding numbers of rollouts. */
static void renumber(struct ek_guard *into, const struct ek_guard *from, const int16_t *to)
{
    const struct ek_rollouts *had = ek_controller_memory(from->control).rollouts;
    for (int i = 0; i < had->count; i++) {
        const struct ek_rollout *r = &had->one[i];
        uint32_t there = ek_detector_finding_number(from->detector, r->feature, r->cell);
        int cell = to[r->cell];
        if (there && there == r->context.episode && cell >= 0)
            ek_controller_set_episode(into->control, r->feature, cell,
                                      ek_detector_finding_number(into->detector, r->feature, cell));
    }
}

/* Merge the controllers. An entry whose finding is no longer open, because another one replaced it,
 * ends as after a recovery. */
static int merge_control(struct ek_guard *into, const struct ek_guard *from, const int16_t *to)
{
    const struct ek_plan *desired = ek_controller_desired(from->control);
    int rc = ek_controller_merge(into->control, from->control, to);
    renumber(into, from, to);
    for (int i = 0; i < desired->count; i++) {
        const struct ek_plan_entry *entry = &desired->entry[i];
        int cell = to[entry->cell];
        if (cell >= 0 && entry->until_ms < 0 &&
            !ek_detector_has_open(into->detector, entry->feature, cell))
            end_route(into, entry->feature, cell);
    }
    return rc ? rc : ek_guard_update_plan(into, ek_detector_list_count(into->detector));
}

static void merge_open(struct ek_guard *into, const struct ek_guard *from, const int16_t *to)
{
    for (int i = 0; i < from->open.count; i++) {
        struct ek_finding f = {.state = EK_UPDATED, .feature = from->open.item[i].f.feature};
        f.cell = to[from->open.item[i].f.cell];
        if (f.cell >= 0 && ek_detector_has_open(into->detector, f.feature, f.cell))
            ek_open_findings_follow(&into->open, &f);
    }
}

/* Apply a dismissal by the merge: the finding continues under another number, or its level is
 * accepted on the other side. */
static void add_dismissed(struct ek_guard *g, const struct ek_finding *f)
{
    if (ek_detector_has_open(g->detector, f->feature, f->cell))
        return;
    ek_open_findings_follow(&g->open, f);
    end_route(g, f->feature, f->cell);
}

/* Copy the pending events, and report the findings of the merge. */
static int merge_events(struct ek_guard *into, const struct ek_guard *from)
{
    struct ek_finding f;
    int rc = EK_OK;
    for (uint64_t i = from->fetched; i < from->emitted && !rc; i++) {
        rc = ek_guard_emit(into, ek_event_copy(from->events[i % EK_EVENTS_MAX]));
    }
    while (!rc && ek_detector_next(into->detector, &f)) {
        struct ek_decision decision = ek_guard_decide(into, &f);
        if (f.state == EK_DISMISSED)
            add_dismissed(into, &f);
        rc = ek_guard_report_finding(into, &f, &decision, NULL, 0);
    }
    return rc;
}

static void merge_counts(struct ek_guard *into, const struct ek_guard *from)
{
    into->adopted += ek_guard_list_count(from);
    if (into->assembly && from->assembly) {
        into->adopted -= ek_assembly_pending(from->assembly);
        ek_assembly_merge(into->assembly, from->assembly);
    }
    into->reported_limits |= from->reported_limits;
    for (int i = 0; i < EK_BOUNDS_ALL; i++)
        into->limits.count[i] += from->limits.count[i];
    if (from->saved.base > into->saved.base)
        into->saved.base = from->saved.base;
    ek_checkpoint_index_clear(&into->saved);
}

int ek_guard_merge(struct ek_guard *into, struct ek_guard *from, struct ek_error *e)
{
    const struct ek_cells *cells = ek_detector_registry(from->detector);
    int16_t *to = ek_calloc((size_t)ek_cells_count(cells), sizeof *to);
    int rc = to ? ek_detector_merge(into->detector, from->detector, to) : EK_ENOMEM;
    if (into->member)
        ek_instance_plans_clear_accepted(ek_fleet_instance_plans(into->member));
    ek_guard_reset_reused(into); /* an accept of the other guard may have taken a cell */
    for (int cell = 0; cell < ek_live_sketches_cells(from->sketches) && !rc; cell++)
        rc = merge_windows(into, from, cell, to[cell]);
    if (!rc) {
        merge_times(into, from);
        merge_counts(into, from);
        merge_open(into, from, to);
        rc = ek_decisions_merge(into->decisions, from->decisions);
        if (!rc)
            rc = ek_incident_log_merge(into->incidents, from->incidents);
    }
    if (!rc) {
        rc = merge_events(into, from);
        if (!rc)
            rc = merge_control(into, from, to);
    }
    if (!rc && !into->member)
        ek_guard_end_incidents(into);
    ek_free(to);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}
