#include "guard/guard_history.h"

#include "guard/event_json.h"
#include "guard/guard_internal.h"
#include "guard/guard_names.h"

#include <string.h>

int ek_guard_decided(struct ek_guard *g, const struct ek_decided *m)
{
    struct ek_decided own = *m;
    bool is_new;
    if (!own.before && !own.after)
        own.before = own.after = ek_guard_plan_version(g);
    if (!own.query)
        own.query = ek_detector_queries(g->detector);
    if (!own.time_ms)
        own.time_ms = g->stream_clock.started ? g->time_ms : g->clock_ms;
    int rc = ek_decisions_add(g->decisions, &own, &is_new);
    if (rc || !is_new)
        return rc;
    if (!own.number)
        own.number = ek_decisions_last(g->decisions);
    return ek_guard_emit(g, ek_event_of_decision(&own));
}

static const struct ek_decided *asked_for(const struct ek_decisions *d,
                                          const struct ek_history_wish *w, uint64_t number)
{
    const struct ek_decided *m = ek_decisions_at(d, number);
    bool good = m && (!w->feature || (m->feature && !strcmp(m->feature, w->feature)));
    return good ? m : NULL;
}

/* The number behind which to begin. */
static uint64_t before_first(const struct ek_decisions *d, const struct ek_history_wish *w)
{
    uint64_t last = ek_decisions_last(d), left = w->count, number = last;
    uint64_t gone = last > EK_DECISIONS_KEPT ? last - EK_DECISIONS_KEPT : 0;
    if (w->has_after)
        return w->after > gone ? w->after : gone;
    while (number > gone && left) {
        left -= asked_for(d, w, number) != NULL;
        number--;
    }
    return number;
}

int ek_guard_history(const struct ek_guard *g, const struct ek_history_wish *w, struct ek_buf *out,
                     struct ek_error *e)
{
    const struct ek_decisions *d = g->decisions;
    int feature;
    int rc =
        w->feature ? ek_guard_find_feature(g->assets->manifest, w->feature, &feature, e) : EK_OK;
    if (rc)
        return rc;
    uint64_t number = before_first(d, w), left = w->count;
    bool first = true;
    rc = ek_buf_text(out, "[");
    while (!rc && left && number < ek_decisions_last(d)) {
        const struct ek_decided *m = asked_for(d, w, ++number);
        if (!m)
            continue;
        rc = first ? EK_OK : ek_buf_text(out, ",");
        rc = rc ? rc : ek_decided_json(out, m);
        first = false;
        left--;
    }
    rc = rc ? rc : ek_buf_text(out, "]");
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}
