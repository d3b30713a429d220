#include "guard/accept_event.h"

#include "guard/event.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int add_text(struct ek_buf *b, const char *before, const char *text)
{
    int rc = ek_buf_text(b, before);
    if (rc)
        return rc;
    return text ? ek_buf_json(b, text, strlen(text)) : ek_buf_text(b, "null");
}

int ek_event_accept(struct ek_buf *out, const struct ek_manifest *m, const struct ek_cells *cells,
                    const struct ek_accept_told *told, uint64_t query, int64_t time_ms)
{
    const struct ek_rebase *a = &told->accept;
    ek_buf_clear(out);
    int rc = ek_buf_printf(out,
                           "{\"event\":\"decision\",\"what\":\"%s\",\"accept\":%" PRIu64
                           ",\"version\":%" PRIu64 ",\"query\":%" PRIu64 ",\"time_ms\":%" PRId64,
                           told->revert ? "revert" : "accept", a->version, told->version, query,
                           time_ms);
    if (!rc)
        rc = add_text(out, ",\"feature\":", m->item[a->feature]->name);
    if (!rc)
        rc = ek_buf_text(out, ",\"segment\":");
    if (!rc)
        rc = ek_segment_json(out, ek_cells_dimension_name(cells, a->cell),
                             ek_cells_value(cells, a->cell));
    if (!rc)
        rc = ek_buf_printf(out, ",\"factor\":%.4g", exp(a->shift_ln));
    if (!rc)
        rc = add_text(out, ",\"who\":", told->author);
    if (!rc)
        rc = add_text(out, ",\"why\":", told->reason);
    return rc ? rc : ek_buf_text(out, "}");
}
