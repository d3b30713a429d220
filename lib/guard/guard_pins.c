#include "guard/guard_pins.h"

#include "guard/event.h"
#include "guard/guard_internal.h"

#include <inttypes.h>
#include <string.h>

struct writing {
    struct ek_buf *out;
    bool some;
};

/* Null where nobody said it. */
static int add_said(struct ek_buf *out, const char *key, const char *text)
{
    int rc = ek_buf_printf(out, ",\"%s\":", key);
    if (rc)
        return rc;
    return text && *text ? ek_buf_json(out, text, strlen(text)) : ek_buf_text(out, "null");
}

static int add_until(struct ek_buf *out, int64_t until_ms)
{
    return until_ms ? ek_buf_printf(out, ",\"until_ms\":%" PRId64, until_ms)
                    : ek_buf_text(out, ",\"until_ms\":null");
}

static int add_pin(void *context, const struct ek_control_pinned *p)
{
    struct writing *w = context;
    int rc = ek_buf_text(w->out, w->some ? ",{\"feature\":" : "{\"feature\":");
    w->some = true;
    if (!rc)
        rc = ek_buf_json(w->out, p->feature, strlen(p->feature));
    if (!rc)
        rc = ek_buf_text(w->out, ",\"segment\":");
    if (!rc)
        rc = ek_segment_json(w->out, p->dimension, p->value);
    if (!rc)
        rc = ek_buf_printf(w->out, ",\"action\":\"%s\"", ek_action_name(p->action));
    if (!rc)
        rc = add_until(w->out, p->until_ms);
    if (!rc)
        rc = add_said(w->out, "author", p->author);
    if (!rc)
        rc = add_said(w->out, "reason", p->reason);
    return rc ? rc
              : ek_buf_text(w->out,
                            p->by == EK_BY_PERSON ? ",\"by\":\"person\"}" : ",\"by\":\"rules\"}");
}

int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out)
{
    struct writing w = {.out = out};
    int rc = ek_buf_text(out, "[");
    if (!rc)
        rc = ek_control_tell_pins(g->control, g->time_ms, add_pin, &w);
    return rc ? rc : ek_buf_text(out, "]");
}
