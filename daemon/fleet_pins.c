#include "daemon/fleet_pins.h"

#include "guard/fleet_plan.h"
#include "guard/guard_pins.h"

#include <stdio.h>

struct writing {
    struct ek_buf *out;
    bool some;
};

/* A copy that ends; NULL of an empty one. */
static const char *own(char to[EK_FLEET_TEXT_MAX + 1], struct ek_text text)
{
    snprintf(to, EK_FLEET_TEXT_MAX + 1, "%.*s", (int)text.length, text.length ? text.text : "");
    return text.length ? to : NULL;
}

static int add(void *context, const struct ek_fleet_pin *p)
{
    struct writing *w = context;
    char text[5][EK_FLEET_TEXT_MAX + 1];
    const struct ek_control_pinned one = {.feature = own(text[0], p->place.feature),
                                          .dimension = own(text[1], p->place.cell.dimension),
                                          .value = own(text[2], p->place.cell.value),
                                          .action = p->action,
                                          .until_ms = p->until_ms,
                                          .author = own(text[3], p->author),
                                          .reason = own(text[4], p->reason),
                                          .by = EK_BY_PERSON};
    int rc = w->some ? ek_buf_text(w->out, ",") : EK_OK;
    w->some = true;
    return rc || !one.feature ? rc : ek_pin_json(w->out, &one);
}

int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out)
{
    struct writing w = {.out = out};
    const struct ek_fleet_plan_hears hears = {.context = &w, .pin = add};
    struct ek_fleet_plan record;
    struct ek_error e;
    int rc = ek_fleet_plan_open(&record, bytes, length, m, &e);
    if (!rc)
        rc = ek_buf_text(out, "[");
    if (!rc)
        rc = ek_fleet_plan_tell(&record, &hears);
    return rc ? rc : ek_buf_text(out, "]");
}
