#include "base/alloc.h"
#include "detect/merge.h"
#include "guard/guard_assets.h"
#include "guard/guard_control.h"
#include "guard/incident_log.h"
#include "guard/operator_commands.h"
#include "guard/state.h"
#include "num/windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct loading {
    struct ek_guard *g;
    const struct ek_state *state;
    struct ek_buf joined; /* of the part being read */
    char name[EK_PART_NAME];
    int rc;
};

const char *ek_restore_result_name(enum ek_restore_result fit)
{
    static const char *const names[] = {"none",          "full",           "previous",
                                        "counters_only", "other_manifest", "incomplete",
                                        "damaged",       "other_version"};
    return names[fit];
}

/* Open the part v->name; empty after an error. */
static struct ek_serialize open_part(struct loading *v)
{
    struct ek_serialize s = {.rc = v->rc};
    return s.rc ? s : ek_state_part(v->state, v->name, &v->joined);
}

static void close_part(struct loading *v, struct ek_serialize *s)
{
    ek_serialize_require(s, s->at == s->end);
    v->rc = s->rc;
}

static void name_part(struct loading *v, const char *name)
{
    snprintf(v->name, sizeof v->name, "%s", name);
}

static void read_part(struct loading *v, const struct ek_part_at *at)
{
    ek_state_part_name(v->name, at);
    if (at->part->flags & EK_PART_OPTIONAL && !ek_state_has(v->state, v->name))
        return;
    struct ek_serialize s = open_part(v);
    if (!s.rc)
        at->part->walk(at, &s);
    close_part(v, &s);
}

/* Read the parts with these flags, except window parts. */
static void read_parts(struct loading *v, unsigned flags, int cells)
{
    struct ek_part_at at = {
        .g = v->g, .reading = true, .cells = cells, .time_ms = v->state->head.time_ms};
    for (int i = 0; i < EK_STATE_PARTS; i++) {
        at.part = &ek_state_parts[i];
        if ((at.part->flags & flags) != flags || at.part->flags & EK_PART_PER_WINDOW)
            continue;
        for (at.number = 0; !v->rc && at.number < ek_state_part_count(&at); at.number++)
            read_part(v, &at);
    }
}

/* Count all lists of the state, also pending lists that were dropped. */
static void count_queries(struct loading *v)
{
    uint64_t all = v->state->head.queries, have = ek_guard_list_count(v->g);
    v->g->adopted += all > have ? all - have : 0;
}

static void times(struct loading *v)
{
    const struct ek_state_head *h = &v->state->head;
    struct ek_guard *g = v->g;
    g->time_ms = h->time_ms;
    g->clock_ms = h->clock_ms;
    g->saved.base = h->frame.base;
    ek_live_sketches_time(g->sketches, g->time_ms);
}

/* Read all windows of a checkpoint cell into new windows. */
static void read_windows(struct loading *v, int cell, struct ek_windows *w)
{
    struct ek_part_at at = {.g = v->g, .reading = true, .windows = w, .number = cell};
    for (int i = 0; i < EK_STATE_PARTS; i++) {
        at.part = &ek_state_parts[i];
        if (!(at.part->flags & EK_PART_PER_WINDOW))
            continue;
        for (at.place = 0; !v->rc && at.place < ek_state_part_places(&at); at.place++)
            read_part(v, &at);
    }
}

/* Read windows of equal length and number directly, else merge them. */
static void windows_of_cell(struct loading *v, int cell, int to)
{
    struct ek_guard *g = v->g;
    const struct ek_window_rule *then = &v->state->head.windows, *now = &g->assets->rules->windows;
    struct ek_windows *had = NULL;
    v->rc = ek_live_sketches_open(g->sketches, to, NULL);
    if (v->rc)
        return;
    struct ek_windows *w = ek_live_sketches_windows(g->sketches, to);
    if (cell == to && then->length_ms == now->length_ms && then->retention == now->retention) {
        read_windows(v, cell, w);
        return;
    }
    v->rc = ek_windows_new(&had, g->assets->manifest->watched_count, then->retention, NULL);
    if (v->rc)
        return;
    read_windows(v, cell, had);
    if (!v->rc)
        v->rc = ek_windows_merge(w, had, then->length_ms != now->length_ms);
    ek_windows_free(had);
}

/* to_of [cells]: local cell of a checkpoint cell, -1: none. NULL: equal numbers. */
static void all_windows(struct loading *v, int cells, const int16_t *to_of)
{
    for (int cell = 0; cell < cells && !v->rc; cell++) {
        int to = to_of ? to_of[cell] : cell;
        snprintf(v->name, sizeof v->name, "%s/%05d", EK_PART_CURRENT, cell);
        if (to < 0 || to >= v->g->assets->rules->windows.max_segments ||
            !ek_state_has(v->state, v->name))
            continue;
        windows_of_cell(v, cell, to);
        ek_live_sketches_filled(v->g->sketches, to);
    }
}

/* Decide the open findings by the rules and model of the guard; the state may be of others. */
static void decide_open(struct loading *v)
{
    name_part(v, EK_PART_DECIDED);
    if (v->rc || !ek_state_has(v->state, v->name))
        return;
    struct ek_serialize s = open_part(v);
    if (!s.rc)
        ek_open_decisions_apply(v->g, &s);
    close_part(v, &s);
}

static void whole(struct loading *v)
{
    read_parts(v, 0, 0);
    all_windows(v, ek_cells_count(ek_detector_registry(v->g->detector)), NULL);
    times(v);
    count_queries(v);
    if (!v->rc && ek_detector_dismiss_unwatched(v->g->detector))
        v->rc = ek_guard_process_findings(v->g, ek_detector_list_count(v->g->detector));
    decide_open(v);
}

/* Return the cells of the checkpoint. */
static struct ek_cells *old_cells(struct loading *v)
{
    const struct ek_state_head *h = &v->state->head;
    struct ek_cells *cells = NULL;
    if (!v->rc)
        v->rc = ek_cells_new(&cells, h->dimension, h->kind.dimensions, h->kind.cells);
    if (v->rc)
        return NULL;
    name_part(v, EK_PART_PER_CELL);
    struct ek_serialize s = open_part(v);
    if (!s.rc)
        ek_cells_serialize(cells, &s); /* their use by plans does not matter */
    v->rc = s.rc;
    return cells;
}

static void orders(struct loading *v, const struct ek_cells *cells, const int16_t *to)
{
    name_part(v, EK_PART_CONTROLLER);
    if (v->rc || !ek_state_has(v->state, v->name))
        return;
    struct ek_serialize s = open_part(v);
    if (!s.rc)
        s.rc = ek_guard_copy_orders(v->g, &s, cells, to);
    close_part(v, &s);
}

/* Reset the detector, because the training reference changed. Values keep cells as far as possible,
 * with their sketches and the operator state. */
static void sketches(struct loading *v)
{
    struct ek_guard *g = v->g;
    struct ek_cells *cells = old_cells(v);
    int16_t *to = NULL;
    if (!v->rc) {
        to = ek_calloc((size_t)ek_cells_count(cells), sizeof *to);
        v->rc = to ? ek_detector_adopt_cells(g->detector, cells, to) : EK_ENOMEM;
    }
    if (!v->rc)
        all_windows(v, ek_cells_count(cells), to);
    read_parts(v, EK_PART_ANY_PROFILE, INT16_MAX);
    ek_plan_history_release(&g->plan_history); /* these plans have the old cell numbers */
    count_queries(v);
    ek_incident_log_detach(g->incidents);
    ek_incident_log_end(g->incidents, EK_DISMISSED, v->state->head.queries, v->state->head.time_ms,
                        NULL, NULL);
    uint64_t version = v->state->head.plan_version; /* the plan has no entries now */
    ek_controller_start_at(g->control, version + (version > 0));
    times(v);
    if (!v->rc)
        orders(v, cells, to);
    ek_free(to);
    ek_cells_free(cells);
}

static bool same_kind(const struct ek_guard *g, const struct ek_state_head *h)
{
    struct ek_detector_kind own = ek_detector_get_kind(g->detector);
    bool same = own.profile == h->kind.profile && own.features == h->kind.features &&
                own.query_features == h->kind.query_features && own.strata == h->kind.strata &&
                own.bets == h->kind.bets && own.bounds == h->kind.bounds &&
                own.history == h->kind.history && own.cells == h->kind.cells;
    return same && ek_rules_has_segments(g->assets->rules, (const char *const *)h->dimension,
                                         h->kind.dimensions);
}

/* Set the restore result as far as known without reading the parts. */
static int judge(const struct ek_state *s, const struct ek_assets *assets,
                 enum ek_restore_result *fit, struct ek_error *e)
{
    if (s->other_version) {
        *fit = EK_RESTORE_OTHER_VERSION;
        return ek_fail(e, EK_ESTATE, "state was written in another version of its format");
    }
    if (!s->has_base && s->incomplete) {
        *fit = EK_RESTORE_INCOMPLETE;
        return ek_fail(e, EK_EFORMAT,
                       "state is incomplete: records that its head names are not "
                       "there or are other ones");
    }
    if (!s->has_base && s->damaged) {
        *fit = EK_RESTORE_DAMAGED;
        return ek_fail(e, EK_EFORMAT, "state is damaged: its head cannot be read");
    }
    if (!s->has_base) {
        *fit = EK_RESTORE_NONE;
        return ek_fail(e, EK_ESTATE, "there is no state: no head was read");
    }
    if (s->head.frame.manifest != assets->manifest->hash) {
        *fit = EK_RESTORE_OTHER_MANIFEST;
        return ek_fail(e, EK_ESTATE,
                       "state is of another manifest (%016" PRIx64 ", here %016" PRIx64 ")",
                       s->head.frame.manifest, assets->manifest->hash);
    }
    if (s->head.kind.features != assets->manifest->watched_count) {
        *fit = EK_RESTORE_OTHER_MANIFEST;
        return ek_fail(e, EK_ESTATE,
                       "state is of another manifest: it watches %d features, here %d (`watch` of "
                       "query features)",
                       s->head.kind.features, assets->manifest->watched_count);
    }
    *fit = s->incomplete || s->damaged ? EK_RESTORE_PREVIOUS : EK_RESTORE_FULL;
    return EK_OK;
}

static int why(const struct loading *v, struct ek_error *e)
{
    return v->rc == EK_ENOMEM ? ek_fail(e, EK_ENOMEM, "out of memory")
                              : ek_fail(e, EK_EFORMAT, "state is damaged: '%s'", v->name);
}

int ek_guard_load_into(struct ek_guard *g, const struct ek_state *state,
                       enum ek_restore_result *fit, struct ek_error *e)
{
    struct loading v = {.g = g, .state = state};
    ek_buf_init(&v.joined, 0);
    g->stream_clock = state->head.stream_clock;
    if (same_kind(g, &state->head)) {
        whole(&v);
    } else {
        *fit = EK_RESTORE_COUNTERS_ONLY;
        sketches(&v);
    }
    ek_buf_release(&v.joined);
    if (!v.rc)
        return EK_OK;
    *fit = v.rc == EK_ENOMEM ? *fit : EK_RESTORE_DAMAGED;
    return why(&v, e);
}

int ek_guard_load(struct ek_guard **out, const struct ek_assets *assets,
                  const struct ek_state *state, enum ek_restore_result *fit, struct ek_error *e)
{
    struct ek_guard *g;
    int rc = judge(state, assets, fit, e);
    if (!rc)
        rc = ek_guard_new(&g, assets, e);
    if (rc)
        return rc;
    rc = ek_guard_load_into(g, state, fit, e);
    if (rc)
        ek_guard_free(g);
    else
        *out = g;
    return rc;
}
