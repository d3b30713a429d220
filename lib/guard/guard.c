#include "base/alloc.h"
#include "detect/dedup.h"
#include "detect/fault_membership.h"
#include "evenkeel.h"
#include "fleet/finding_diff.h"
#include "guard/event_json.h"
#include "guard/guard_control.h"
#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"
#include "guard/guard_incidents.h"
#include "guard/guard_items.h"
#include "guard/incident_log.h"
#include "guard/list_sample.h"
#include "guard/operator_commands.h"
#include "guard/limit_counters.h"
#include "serve/comparison_sums.h"

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_guard_make(struct ek_guard *g, const struct ek_assets *assets, struct ek_error *e)
{
    g->assets = assets;
    ek_buf_init(&g->json, 0);
    ek_plan_document_init(&g->plan_document);
    int cells = assets->cells ? assets->cells : EK_CELLS_DEFAULT_MAX;
    int rc = ek_detector_new_with(&g->detector, assets->manifest, assets->profile, assets->rules,
                                  cells, e);
    if (!rc)
        rc = ek_live_sketches_new(&g->sketches, assets->manifest, assets->profile, assets->rules,
                                  ek_detector_registry(g->detector), e);
    if (!rc)
        rc = ek_guard_control_new(g, e);
    if (!rc && ek_list_sample_new(&g->sample, ek_cells_max(ek_detector_registry(g->detector))))
        rc = out_of_memory(e);
    if (!rc)
        ek_live_sketches_add_offset(g->sketches, ek_detector_offsets(g->detector));
    if (!rc)
        rc = ek_context_new_with(&g->own, assets, ek_detector_reader(g->detector), e);
    if (!rc && ek_codec_layout(assets->codec) == EK_LAYOUT_ITEM)
        rc = ek_guard_items_new(g, e);
    if (!rc && ek_assets_score(assets) && !assets->model->trained.routed)
        rc = ek_agreement_watch_new(&g->agreement, assets->model, assets->rules->false_alarms, e);
    if (!rc)
        rc = ek_comparisons_new(&g->comparisons, e);
    if (!rc && ek_open_findings_reserve(&g->open, EK_EPISODES_MAX))
        rc = out_of_memory(e);
    if (!rc &&
        !(g->members = ek_calloc((size_t)assets->manifest->watched_count, sizeof *g->members)))
        rc = out_of_memory(e);
    if (!rc && ek_decisions_new(&g->decisions))
        rc = out_of_memory(e);
    if (!rc && ek_incident_log_new(&g->incidents))
        rc = out_of_memory(e);
    if (rc)
        ek_guard_release(g);
    return rc;
}

int ek_guard_new(struct ek_guard **out, const struct ek_assets *assets, struct ek_error *e)
{
    struct ek_guard *g = ek_calloc(1, sizeof *g);
    if (!g)
        return out_of_memory(e);
    int rc = ek_guard_make(g, assets, e);
    if (rc)
        ek_free(g);
    else
        *out = g;
    return rc;
}

void ek_guard_release(struct ek_guard *g)
{
    for (; g->fetched < g->emitted; g->fetched++)
        ek_free(g->events[g->fetched % EK_EVENTS_MAX]);
    ek_free(g->last_event);
    ek_open_findings_release(&g->open);
    ek_controller_free(g->control);
    ek_live_sketches_free(g->sketches);
    ek_list_sample_free(g->sample);
    ek_fleet_instance_free(g->member);
    ek_finding_diff_free(g->finding_diff);
    ek_detector_free(g->detector);
    ek_agreement_watch_free(g->agreement);
    ek_comparisons_free(g->comparisons);
    ek_guard_items_free(g);
    ek_context_free(g->own);
    ek_buf_release(&g->json);
    ek_plan_document_release(&g->plan_document);
    ek_decisions_free(g->decisions);
    ek_incident_log_free(g->incidents);
    ek_free(g->members);
    ek_checkpoint_index_clear(&g->saved);
}

void ek_guard_free(struct ek_guard *g)
{
    if (!g)
        return;
    ek_guard_release(g);
    ek_free(g);
}

/* Remove the oldest event; the ring must not be empty. */
static struct ek_event *next_event(struct ek_guard *g)
{
    struct ek_event *event = g->events[g->fetched++ % EK_EVENTS_MAX];
    g->event_bytes -= event->bytes;
    return event;
}

int ek_guard_emit(struct ek_guard *g, struct ek_event *event)
{
    if (!event || event->bytes > EK_EVENT_BYTES_MAX) {
        int rc = event ? EK_ELIMIT : EK_ENOMEM;
        ek_free(event);
        return rc;
    }
    while (g->emitted - g->fetched == EK_EVENTS_MAX ||
           (g->emitted > g->fetched && g->event_bytes + event->bytes > EK_EVENTS_BYTES_MAX)) {
        ek_free(next_event(g));
        g->limits.count[EK_BOUND_EVENTS]++;
    }
    g->events[g->emitted++ % EK_EVENTS_MAX] = event;
    g->event_bytes += event->bytes;
    return EK_OK;
}

int ek_guard_report_plan(struct ek_guard *g, uint64_t query)
{
    ek_guard_update_incidents(g);
    return ek_guard_emit(g,
                         ek_event_from_plan(g->assets->manifest, ek_detector_registry(g->detector),
                                            ek_controller_plan(g->control), query, g->time_ms));
}

struct ek_decision ek_guard_decide(const struct ek_guard *g, const struct ek_finding *f)
{
    return ek_controller_decide(g->control, f);
}

int ek_guard_report_finding(struct ek_guard *g, const struct ek_finding *f,
                            const struct ek_decision *decision, const int *members, int count)
{
    struct ek_event *v = ek_event_from_finding(g->assets->manifest, f, decision, members, count);
    int rc = v ? ek_guard_add_incident(g, v) : EK_OK;
    int emitted = ek_guard_emit(g, v);
    return rc ? rc : emitted;
}

struct ek_limit_counters ek_guard_limit_counters(const struct ek_guard *g)
{
    struct ek_limit_counters b = ek_detector_limit_counters(g->detector);
    for (int i = 0; i < EK_BOUNDS_ALL; i++)
        b.count[i] += g->limits.count[i];
    b.count[EK_BOUND_SKETCHES] += ek_live_sketches_dropped(g->sketches);
    return b;
}

/* Process a finding of the local detector. */
static int act_on(struct ek_guard *g, const struct ek_finding *f, uint64_t query)
{
    bool changed;
    ek_controller_add_finding(g->control, f, g->time_ms);
    int rc = ek_controller_update(g->control, g->time_ms, query, &changed);
    struct ek_decision decision = ek_guard_decide(g, f);
    int members =
        ek_detector_members(g->detector, f->cause, g->members, g->assets->manifest->watched_count);
    int reported = ek_guard_report_finding(g, f, &decision, g->members, members);
    if (!reported)
        reported = ek_guard_report_update(g, changed, query);
    return rc ? rc : reported;
}

/* In a fleet the leader acts on findings. */
int ek_guard_process_findings(struct ek_guard *g, uint64_t query)
{
    struct ek_finding f;
    int rc = EK_OK;
    while (!rc && ek_detector_next(g->detector, &f)) {
        ek_open_findings_follow(&g->open, &f);
        if (g->member)
            ek_fleet_instance_add_finding(g->member, &f);
        else
            rc = act_on(g, &f, query);
        if (!rc && (f.state == EK_CONFIRMED || f.state == EK_RECOVERED))
            rc = ek_live_sketches_separate(g->sketches, f.cell, f.feature, NULL);
    }
    if (!rc)
        rc = ek_guard_update_plan(g, query);
    return rc ? rc : ek_guard_report_limits(g, query);
}

void ek_guard_treat(const struct ek_guard *g, struct ek_context *c, const struct ek_plan *plan,
                    const int16_t *cells, int count)
{
    c->plan_version = plan->version;
    c->routing.acted = c->routing.desired = 0;
    c->routing.outcome = plan->paused ? EK_LIST_PAUSED : EK_LIST_PASSED;
    if (!plan->count || !(c->scorer || c->writer))
        return;
    struct ek_plan_list list = {cells, count, ek_canary_bucket(&c->query),
                                c->scorer && ek_scorer_uses_sources(c->scorer, &c->query)};
    ek_plan_treat(plan, &list, c->slot_of_item, c->slots, &c->routing);
    ek_context_note_entries(c, plan);
    ek_guard_treat_accepted(g, c, plan, cells, count);
}

static int report_drift(struct ek_guard *g, uint64_t query)
{
    struct ek_agreement_view v;
    ek_agreement_watch_view(g->agreement, &v);
    return ek_guard_emit(g, ek_event_from_model_drift(&v, query, g->time_ms));
}

/* Compare only complete lists without a known fault: a treated list has no upstream order to keep,
 * and a fault affects both scorers differently. */
static int watch_agreement(struct ek_guard *g, struct ek_context *c, const struct ek_plan *plan,
                           const int16_t *cells, int count, struct ek_error *e)
{
    uint64_t query = ek_detector_list_count(g->detector) - 1;
    bool changed;
    if (!g->agreement || ek_list_is_partial(&c->query) || !ek_agreement_watch_is_due(g->agreement))
        return EK_OK;
    if (c->routing.desired || ek_open_findings_match(&g->open, cells, count))
        return EK_OK;
    int rc = ek_context_reserve_scores(c, e);
    if (!rc)
        rc = ek_scorer_score(c->scorer, &c->query,
                             ek_guard_base_treatment(g, c, plan, cells, count), c->scores, e);
    if (!rc)
        rc = ek_agreement_watch_list(g->agreement, &c->query, c->scores, query, &changed, e);
    if (!rc && changed && report_drift(g, query))
        rc = out_of_memory(e);
    return rc;
}

/* Process the results of a list: findings, plan, agreement. */
static int conclude(struct ek_guard *g, struct ek_context *c, int64_t time_ms, struct ek_error *e)
{
    int count;
    const int16_t *cells = ek_detector_cells(g->detector, &count);
    if (ek_guard_process_findings(g, ek_detector_list_count(g->detector) - 1))
        return out_of_memory(e);
    const struct ek_plan *plan = ek_guard_plan_at(g, time_ms);
    ek_guard_treat(g, c, plan, cells, count);
    if (plan == ek_controller_plan(g->control) && !g->member &&
        ek_detector_has_counted(g->detector))
        ek_controller_list(g->control, &c->routing);
    return watch_agreement(g, c, plan, cells, count, e);
}

void ek_guard_update_clock(struct ek_guard *g, int64_t time_ms, int64_t now_ms)
{
    g->time_ms = ek_event_clock_list(&g->stream_clock, time_ms);
    if (now_ms > g->clock_ms) /* the caller may have waited for its mutex since now_ms */
        g->clock_ms = now_ms;
}

void ek_guard_reset_reused(struct ek_guard *g)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    uint64_t ever = ek_cells_reuse_count(cells);
    for (int cell = 1; g->reuses != ever && cell < ek_cells_count(cells); cell++)
        if (ek_cells_is_reused_since(cells, cell, g->reuses)) {
            ek_live_sketches_reset_cell(g->sketches, cell);
            ek_plan_history_reset_cell(&g->plan_history, cell);
            ek_controller_reset_cell(g->control, cell);
            ek_list_sample_reset_cell(g->sample, cell);
        }
    g->reuses = ever;
}

int ek_guard_process_list(struct ek_guard *g, struct ek_context *c, int64_t time_ms,
                          struct ek_error *e)
{
    int rc = ek_detector_update(g->detector, &c->query, c->reader, time_ms, EK_CELLS_ALL, e);
    if (rc)
        return rc;
    ek_guard_reset_reused(g);
    return conclude(g, c, time_ms, e);
}

static int process_message(struct ek_guard *g, struct ek_context *c, int64_t now_ms,
                           struct ek_error *e)
{
    int64_t time_ms = c->query.time_ms >= 0 ? c->query.time_ms : now_ms;
    if (g->assembly)
        return ek_guard_process_item(g, c, time_ms, now_ms, e);
    int rc = ek_detector_update(g->detector, &c->query, c->reader, time_ms, c->observed, e);
    if (rc)
        return rc;
    ek_guard_update_clock(g, time_ms, now_ms);
    int count;
    const int16_t *cells = ek_detector_cells(g->detector, &count);
    ek_guard_reset_reused(g);
    rc = ek_live_sketches_list(g->sketches, cells, count, g->time_ms, &c->query, e);
    return rc ? rc : conclude(g, c, time_ms, e);
}

/* A context decodes with its assets, which the guard may have replaced. */
static int begin_with(const struct ek_guard *g, struct ek_context *c, struct ek_error *e)
{
    if (!c->prepared)
        return ek_fail(e, EK_ESTATE, "no message was prepared");
    if (c->assets != g->assets)
        return ek_fail(e, EK_ESTATE,
                       "the message was read with other assets than the guard has now: read it "
                       "again with a context of these");
    c->prepared = false;
    return EK_OK;
}

int ek_guard_update(struct ek_guard *g, struct ek_context *c, int64_t now_ms, struct ek_error *e)
{
    int rc = begin_with(g, c, e);
    if (rc)
        return rc;
    rc = process_message(g, c, now_ms, e);
    c->taken = c->counted = !rc;
    return rc;
}

int ek_guard_peek(const struct ek_guard *g, struct ek_context *c, struct ek_error *e)
{
    int16_t cells[EK_CELLS_PER_LIST];
    const struct ek_cells *registry = ek_detector_registry(g->detector);
    int rc = begin_with(g, c, e);
    if (rc)
        return rc;
    ek_cells_find(registry, &c->query, cells);
    const struct ek_plan *plan = g->assembly ? ek_guard_item_plan(g, &c->query) : NULL;
    if (!plan)
        plan = ek_guard_plan_at(g, c->query.time_ms >= 0 ? c->query.time_ms : g->time_ms);
    ek_guard_treat(g, c, plan, cells, 1 + ek_cells_dimensions(registry));
    c->taken = true;
    return EK_OK;
}

int ek_guard_observe(struct ek_guard *g, const void *message, size_t length, int64_t now_ms,
                     struct ek_error *e)
{
    int rc = ek_context_decode(g->own, message, length, e);
    return rc ? rc : ek_guard_update(g, g->own, now_ms, e);
}

int ek_guard_observe_record(struct ek_guard *g, const void *message, size_t length,
                            int64_t record_ms, uint64_t number, struct ek_error *e)
{
    int rc = ek_context_decode_at(g->own, message, length, record_ms, e);
    int64_t now_ms = record_ms >= 0 ? record_ms : (int64_t)number;
    return rc ? rc : ek_guard_update(g, g->own, now_ms, e);
}

int ek_guard_observe_values(struct ek_guard *g, const struct ek_array_list *list, int64_t now_ms,
                            struct ek_error *e)
{
    int rc = ek_context_read_values(g->own, list, e);
    return rc ? rc : ek_guard_update(g, g->own, now_ms, e);
}

const void *ek_guard_score(struct ek_guard *g, size_t *length, struct ek_error *e)
{
    return ek_context_score(g->own, length, e);
}

const struct ek_context *ek_guard_context(const struct ek_guard *g)
{
    return g->own;
}

const char *ek_guard_action(const struct ek_guard *g)
{
    return ek_context_action(g->own);
}

uint64_t ek_guard_plan_version(const struct ek_guard *g)
{
    return ek_controller_plan(g->control)->version;
}

uint64_t ek_guard_list_count(const struct ek_guard *g)
{
    uint64_t pending = g->assembly ? ek_assembly_pending(g->assembly) : 0;
    return g->adopted + ek_detector_list_count(g->detector) + pending;
}

const struct ek_agreement_watch *ek_guard_agreement(const struct ek_guard *g)
{
    return g->agreement;
}

struct ek_live_sketches *ek_guard_traffic(struct ek_guard *g)
{
    return g->sketches;
}

int ek_guard_advance(struct ek_guard *g, int64_t now_ms, struct ek_error *e)
{
    if (now_ms > g->clock_ms) {
        g->time_ms = ek_event_clock_advance(&g->stream_clock, now_ms - g->clock_ms);
        ek_live_sketches_time(g->sketches, g->time_ms);
    }
    g->clock_ms = now_ms;
    int rc = g->assembly ? ek_guard_emit_lists(g, g->time_ms, e) : EK_OK;
    if (rc)
        return rc;
    return ek_guard_update_plan(g, ek_detector_list_count(g->detector)) ? out_of_memory(e) : EK_OK;
}

const struct ek_event *ek_guard_pop_event(struct ek_guard *g)
{
    if (g->fetched == g->emitted)
        return NULL;
    ek_free(g->last_event);
    return g->last_event = next_event(g);
}

int ek_guard_next_event(struct ek_guard *g, const char **json)
{
    if (g->fetched == g->emitted)
        return 0;
    ek_buf_clear(&g->json);
    if (ek_event_json(g->events[g->fetched % EK_EVENTS_MAX], &g->json) || !ek_buf_string(&g->json))
        return -1;
    ek_free(next_event(g));
    *json = (const char *)g->json.data;
    return 1;
}
