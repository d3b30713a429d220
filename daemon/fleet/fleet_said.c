#include "daemon/fleet/fleet_said.h"

#include "fleet/fleet_plan.h"
#include "guard/guard_accepts.h"
#include "guard/guard_pins.h"

#include <math.h>
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

static int next(struct writing *w)
{
    int rc = w->some ? ek_buf_text(w->out, ",") : EK_OK;
    w->some = true;
    return rc;
}

static int add_pin(void *context, const struct ek_fleet_pin *p)
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
    if (!one.feature)
        return EK_OK;
    int rc = next(w);
    return rc ? rc : ek_pin_json(w->out, &one);
}

static int add_accept(void *context, const struct ek_fleet_accept *a)
{
    struct writing *w = context;
    char text[5][EK_FLEET_TEXT_MAX + 1];
    const struct ek_accepted one = {.version = a->version,
                                    .feature = own(text[0], a->place.feature),
                                    .dimension = own(text[1], a->place.cell.dimension),
                                    .value = own(text[2], a->place.cell.value),
                                    .factor = exp(a->shift_ln),
                                    .time_ms = a->time_ms,
                                    .author = own(text[3], a->author),
                                    .reason = own(text[4], a->reason)};
    if (!one.feature)
        return EK_OK;
    int rc = next(w);
    return rc ? rc : ek_accepted_json(w->out, &one);
}

static int tell(const void *bytes, size_t length, const struct ek_manifest *m,
                const struct ek_fleet_plan_hears *hears, struct ek_buf *out)
{
    struct ek_fleet_plan record;
    struct ek_error e;
    int rc = ek_fleet_plan_open(&record, bytes, length, m, &e);
    if (!rc)
        rc = ek_buf_text(out, "[");
    if (!rc)
        rc = ek_fleet_plan_tell(&record, hears);
    return rc ? rc : ek_buf_text(out, "]");
}

int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out)
{
    struct writing w = {.out = out};
    return tell(bytes, length, m, &(struct ek_fleet_plan_hears){.context = &w, .pin = add_pin},
                out);
}

int ek_fleet_accepts_json(const void *bytes, size_t length, const struct ek_manifest *m,
                          struct ek_buf *out)
{
    struct writing w = {.out = out};
    return tell(bytes, length, m,
                &(struct ek_fleet_plan_hears){.context = &w, .accepted = add_accept}, out);
}
