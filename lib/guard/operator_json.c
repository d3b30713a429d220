#include "guard/operator_json.h"

#include "guard/event_json.h"
#include "guard/incident_log.h"
#include "guard/guard_internal.h"
#include "guard/operator_commands.h"

#include <math.h>
#include <string.h>

/* Append a string, or null if it is NULL or empty. */
static void add_optional_text(struct ek_json_writer *w, const char *key, const char *text)
{
    ek_json_add_text(w, key, text && *text ? text : NULL);
}

int ek_json_add_pin(void *writer, const struct ek_order *p, enum ek_plan_source by)
{
    struct ek_json_writer *w = writer;
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "feature", p->feature);
    ek_json_add_segment(w, "segment", p->segment, ek_order_cell_value(p));
    ek_json_add_text(w, "action", ek_action_name(p->action));
    if (p->until_ms)
        ek_json_add_integer(w, "until_ms", p->until_ms);
    else
        ek_json_add_null(w, "until_ms");
    add_optional_text(w, "actor", p->author);
    add_optional_text(w, "reason", p->reason);
    ek_json_add_text(w, "source", ek_plan_source_name(by));
    ek_json_close(w, '}');
    return w->rc;
}

int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    int rc = ek_controller_each_pin(g->control, g->time_ms, ek_json_add_pin, &w);
    ek_json_close(&w, ']');
    return rc ? rc : w.rc;
}

enum { DIGITS = 6 };

void ek_json_add_accepted(struct ek_json_writer *w, const struct ek_accepted *a)
{
    ek_json_open(w, NULL, '{');
    ek_json_add_count(w, "version", a->version);
    ek_json_add_text(w, "feature", a->feature);
    ek_json_add_segment(w, "segment", a->dimension, a->value);
    ek_json_add_rounded(w, "factor", a->factor, DIGITS);
    if (a->time_ms < 0)
        ek_json_add_null(w, "time_ms");
    else
        ek_json_add_integer(w, "time_ms", a->time_ms);
    add_optional_text(w, "actor", a->author);
    add_optional_text(w, "reason", a->reason);
    ek_json_close(w, '}');
}

/* Return the decision of an accept, or NULL if evicted. */
static const struct ek_decision_record *made_by(const struct ek_guard *g, uint64_t version)
{
    const struct ek_decision_record *m;
    for (uint64_t n = ek_decisions_last(g->decisions); (m = ek_decisions_at(g->decisions, n)); n--)
        if (m->kind == EK_DECIDED_ACCEPT && m->accept == version)
            return m;
    return NULL;
}

static void add(const struct ek_guard *g, const struct ek_level_offset *one,
                struct ek_json_writer *w)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    const struct ek_decision_record *m = made_by(g, one->version);
    const struct ek_accepted a = {.version = one->version,
                                  .feature = g->assets->manifest->item[one->feature]->name,
                                  .dimension = ek_cells_dimension_name(cells, one->cell),
                                  .value = ek_cells_value(cells, one->cell),
                                  .factor = exp(one->shift_ln),
                                  .time_ms = m ? m->time_ms : -1,
                                  .author = m ? m->actor : NULL,
                                  .reason = m ? m->reason : NULL};
    ek_json_add_accepted(w, &a);
}

int ek_guard_pin_actions_json(const struct ek_guard *g, const char *feature, struct ek_buf *out)
{
    int item = ek_manifest_watched(g->assets->manifest, feature);
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    for (int i = 0; item >= 0 && i < EK_ACTION_COUNT; i++)
        if (ek_order_has_action(g->control, item, (enum ek_action)i))
            ek_json_add_text(&w, NULL, ek_action_name((enum ek_action)i));
    ek_json_close(&w, ']');
    return w.rc;
}

int ek_guard_count_accepts(const struct ek_guard *g)
{
    return ek_detector_offsets(g->detector)->count;
}

int ek_guard_accepts_json(const struct ek_guard *g, struct ek_buf *out)
{
    const struct ek_level_offsets *r = ek_detector_offsets(g->detector);
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    for (int i = 0; i < r->count; i++)
        add(g, &r->one[i], &w);
    ek_json_close(&w, ']');
    return w.rc;
}

int ek_guard_add_decision(struct ek_guard *g, const struct ek_decision_record *m)
{
    struct ek_decision_record own = *m;
    bool is_new;
    if (!own.before && !own.after)
        own.before = own.after = ek_guard_plan_version(g);
    if (!own.query)
        own.query = ek_detector_list_count(g->detector);
    if (!own.time_ms)
        own.time_ms = g->stream_clock.started ? g->time_ms : g->clock_ms;
    int rc = ek_decisions_add(g->decisions, &own, &is_new);
    if (rc || !is_new)
        return rc;
    if (!own.number)
        own.number = ek_decisions_last(g->decisions);
    ek_incident_log_add_decision(g->incidents, &own);
    return ek_guard_emit(g, ek_event_from_decision(&own));
}

static const struct ek_decision_record *
is_requested(const struct ek_decisions *d, const struct ek_history_request *w, uint64_t number)
{
    const struct ek_decision_record *m = ek_decisions_at(d, number);
    bool good = m && (!w->feature || (m->feature && !strcmp(m->feature, w->feature)));
    return good ? m : NULL;
}

/* Return the number before the first requested decision. */
static uint64_t before_first(const struct ek_decisions *d, const struct ek_history_request *w)
{
    uint64_t last = ek_decisions_last(d), left = w->count, number = last;
    uint64_t gone = last > EK_DECISIONS_RETAINED ? last - EK_DECISIONS_RETAINED : 0;
    if (w->has_after)
        return w->after > gone ? w->after : gone;
    while (number > gone && left) {
        left -= is_requested(d, w, number) != NULL;
        number--;
    }
    return number;
}

int ek_guard_history(const struct ek_guard *g, const struct ek_history_request *w,
                     struct ek_buf *out, struct ek_error *e)
{
    const struct ek_decisions *d = g->decisions;
    int feature;
    int rc =
        w->feature ? ek_order_find_feature(g->assets->manifest, w->feature, &feature, e) : EK_OK;
    if (rc)
        return rc;
    uint64_t number = before_first(d, w), left = w->count;
    bool first = true;
    rc = ek_buf_text(out, "[");
    while (!rc && left && number < ek_decisions_last(d)) {
        const struct ek_decision_record *m = is_requested(d, w, ++number);
        if (!m)
            continue;
        rc = first ? EK_OK : ek_buf_text(out, ",");
        rc = rc ? rc : ek_decision_record_json(out, m);
        first = false;
        left--;
    }
    rc = rc ? rc : ek_buf_text(out, "]");
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}
