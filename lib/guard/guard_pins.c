#include "guard/guard_pins.h"

#include "guard/event_json.h"
#include "guard/guard_internal.h"

void ek_json_add_said(struct ek_json_writer *w, const char *key, const char *text)
{
    ek_json_add_text(w, key, text && *text ? text : NULL);
}

void ek_json_add_pin(struct ek_json_writer *w, const struct ek_control_pinned *p)
{
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "feature", p->feature);
    ek_json_add_segment(w, "segment", p->dimension, p->value);
    ek_json_add_text(w, "action", ek_action_name(p->action));
    if (p->until_ms)
        ek_json_add_integer(w, "until_ms", p->until_ms);
    else
        ek_json_add_null(w, "until_ms");
    ek_json_add_said(w, "author", p->author);
    ek_json_add_said(w, "reason", p->reason);
    ek_json_add_text(w, "by", ek_plan_by_name(p->by));
    ek_json_close(w, '}');
}

static int add_pin(void *context, const struct ek_control_pinned *p)
{
    struct ek_json_writer *w = context;
    ek_json_add_pin(w, p);
    return w->rc;
}

int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    int rc = ek_control_tell_pins(g->control, g->time_ms, add_pin, &w);
    ek_json_close(&w, ']');
    return rc ? rc : w.rc;
}
