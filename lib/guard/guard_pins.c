#include "guard/guard_pins.h"

#include "guard/event_json.h"
#include "guard/guard_internal.h"

#include <inttypes.h>
#include <string.h>

struct writing {
    struct ek_buf *out;
    bool some;
};

int ek_said_json(struct ek_buf *out, const char *key, const char *text)
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

int ek_pin_json(struct ek_buf *out, const struct ek_control_pinned *p)
{
    int rc = ek_buf_text(out, "{\"feature\":");
    if (!rc)
        rc = ek_buf_json(out, p->feature, strlen(p->feature));
    if (!rc)
        rc = ek_buf_text(out, ",\"segment\":");
    if (!rc)
        rc = ek_segment_json(out, p->dimension, p->value);
    if (!rc)
        rc = ek_buf_printf(out, ",\"action\":\"%s\"", ek_action_name(p->action));
    if (!rc)
        rc = add_until(out, p->until_ms);
    if (!rc)
        rc = ek_said_json(out, "author", p->author);
    if (!rc)
        rc = ek_said_json(out, "reason", p->reason);
    return rc ? rc : ek_buf_printf(out, ",\"by\":\"%s\"}", ek_plan_by_name(p->by));
}

static int add_pin(void *context, const struct ek_control_pinned *p)
{
    struct writing *w = context;
    int rc = w->some ? ek_buf_text(w->out, ",") : EK_OK;
    w->some = true;
    return rc ? rc : ek_pin_json(w->out, p);
}

int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out)
{
    struct writing w = {.out = out};
    int rc = ek_buf_text(out, "[");
    if (!rc)
        rc = ek_control_tell_pins(g->control, g->time_ms, add_pin, &w);
    return rc ? rc : ek_buf_text(out, "]");
}
