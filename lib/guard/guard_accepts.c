#include "guard/guard_accepts.h"

#include "guard/event_json.h"
#include "guard/guard_internal.h"
#include "guard/guard_pins.h"

#include <math.h>

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
    ek_json_add_said(w, "author", a->author);
    ek_json_add_said(w, "reason", a->reason);
    ek_json_close(w, '}');
}

/* The decision that made it; NULL: it is gone. */
static const struct ek_decided *made_by(const struct ek_guard *g, uint64_t version)
{
    const struct ek_decided *m;
    for (uint64_t n = ek_decisions_last(g->decisions); (m = ek_decisions_at(g->decisions, n)); n--)
        if (m->what == EK_DID_ACCEPT && m->accept == version)
            return m;
    return NULL;
}

static void add(const struct ek_guard *g, const struct ek_rebase *one, struct ek_json_writer *w)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    const struct ek_decided *m = made_by(g, one->version);
    const struct ek_accepted a = {.version = one->version,
                                  .feature = g->assets->manifest->item[one->feature]->name,
                                  .dimension = ek_cells_dimension_name(cells, one->cell),
                                  .value = ek_cells_value(cells, one->cell),
                                  .factor = exp(one->shift_ln),
                                  .time_ms = m ? m->time_ms : -1,
                                  .author = m ? m->who : NULL,
                                  .reason = m ? m->why : NULL};
    ek_json_add_accepted(w, &a);
}

int ek_guard_accepts_json(const struct ek_guard *g, struct ek_buf *out)
{
    const struct ek_rebases *r = ek_detector_rebases(g->detector);
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    for (int i = 0; i < r->count; i++)
        add(g, &r->one[i], &w);
    ek_json_close(&w, ']');
    return w.rc;
}
