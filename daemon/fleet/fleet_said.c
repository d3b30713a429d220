#include "daemon/fleet/fleet_said.h"

#include "fleet/fleet_plan.h"
#include "guard/guard_accepts.h"
#include "guard/guard_pins.h"

#include <math.h>
#include <stdio.h>

/* A copy that ends; NULL of an empty one. */
static const char *own(char to[EK_FLEET_TEXT_MAX + 1], struct ek_text text)
{
    snprintf(to, EK_FLEET_TEXT_MAX + 1, "%.*s", (int)text.length, text.length ? text.text : "");
    return text.length ? to : NULL;
}

static int add_pin(void *context, const struct ek_fleet_pin *p)
{
    struct ek_json_writer *w = context;
    char text[5][EK_FLEET_TEXT_MAX + 1];
    const struct ek_control_pinned one = {.feature = own(text[0], p->place.feature),
                                          .dimension = own(text[1], p->place.cell.dimension),
                                          .value = own(text[2], p->place.cell.value),
                                          .action = p->action,
                                          .until_ms = p->until_ms,
                                          .author = own(text[3], p->author),
                                          .reason = own(text[4], p->reason),
                                          .by = EK_BY_PERSON};
    if (one.feature)
        ek_json_add_pin(w, &one);
    return w->rc;
}

static int add_accept(void *context, const struct ek_fleet_accept *a)
{
    struct ek_json_writer *w = context;
    char text[5][EK_FLEET_TEXT_MAX + 1];
    const struct ek_accepted one = {.version = a->version,
                                    .feature = own(text[0], a->place.feature),
                                    .dimension = own(text[1], a->place.cell.dimension),
                                    .value = own(text[2], a->place.cell.value),
                                    .factor = exp(a->shift_ln),
                                    .time_ms = a->time_ms,
                                    .author = own(text[3], a->author),
                                    .reason = own(text[4], a->reason)};
    if (one.feature)
        ek_json_add_accepted(w, &one);
    return w->rc;
}

static int write_list(const void *bytes, size_t length, const struct ek_manifest *m,
                      struct ek_fleet_plan_hears hears, struct ek_buf *out)
{
    struct ek_fleet_plan record;
    struct ek_json_writer w;
    struct ek_error e;
    hears.context = &w;
    ek_json_init(&w, out);
    int rc = ek_fleet_plan_open(&record, bytes, length, m, &e);
    if (rc)
        return rc;
    ek_json_open(&w, NULL, '[');
    rc = ek_fleet_plan_tell(&record, &hears);
    ek_json_close(&w, ']');
    return rc ? rc : w.rc;
}

int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out)
{
    return write_list(bytes, length, m, (struct ek_fleet_plan_hears){.pin = add_pin}, out);
}

int ek_fleet_accepts_json(const void *bytes, size_t length, const struct ek_manifest *m,
                          struct ek_buf *out)
{
    return write_list(bytes, length, m, (struct ek_fleet_plan_hears){.accepted = add_accept}, out);
}
