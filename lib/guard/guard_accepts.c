#include "guard/guard_accepts.h"

#include "guard/event_json.h"
#include "guard/guard_internal.h"
#include "guard/guard_pins.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

int ek_accepted_json(struct ek_buf *out, const struct ek_accepted *a)
{
    int rc = ek_buf_printf(out, "{\"version\":%" PRIu64 ",\"feature\":", a->version);
    if (!rc)
        rc = ek_buf_json(out, a->feature, strlen(a->feature));
    if (!rc)
        rc = ek_buf_text(out, ",\"segment\":");
    if (!rc)
        rc = ek_segment_json(out, a->dimension, a->value);
    if (!rc)
        rc = ek_buf_printf(out, ",\"factor\":%.6g", a->factor);
    if (!rc)
        rc = a->time_ms < 0 ? ek_buf_text(out, ",\"time_ms\":null")
                            : ek_buf_printf(out, ",\"time_ms\":%" PRId64, a->time_ms);
    if (!rc)
        rc = ek_said_json(out, "author", a->author);
    if (!rc)
        rc = ek_said_json(out, "reason", a->reason);
    return rc ? rc : ek_buf_text(out, "}");
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

static int add(const struct ek_guard *g, const struct ek_rebase *one, struct ek_buf *out)
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
    return ek_accepted_json(out, &a);
}

int ek_guard_accepts_json(const struct ek_guard *g, struct ek_buf *out)
{
    const struct ek_rebases *r = ek_detector_rebases(g->detector);
    int rc = ek_buf_text(out, "[");
    for (int i = 0; i < r->count && !rc; i++) {
        rc = i ? ek_buf_text(out, ",") : EK_OK;
        rc = rc ? rc : add(g, &r->one[i], out);
    }
    return rc ? rc : ek_buf_text(out, "]");
}
