/* What people say: pins. */
#include "base/alloc.h"
#include "guard/control_internal.h"

static bool holds(const struct ek_control_pin *p, int64_t time_ms)
{
    return !p->until_ms || time_ms < p->until_ms;
}

bool ek_control_pins_due(const struct ek_control *c, int64_t time_ms)
{
    for (int i = 0; i < c->pins; i++)
        if (!holds(&c->pin[i], time_ms))
            return true;
    return false;
}

static void release(struct ek_control_pin *p)
{
    ek_free(p->author);
    ek_free(p->reason);
}

/* The ratio of a spread that a finding has; without one it stays as it is. */
static struct ek_treatment treatment_of(const struct ek_control *c, const struct ek_control_pin *p)
{
    struct ek_treatment t = {p->action, p->action == EK_ACT_ROUTE_SPREAD ? 1 : 0};
    for (int i = 0; i < c->wanted.count; i++) {
        const struct ek_plan_entry *e = &c->wanted.entry[i];
        if (e->feature == p->feature && e->cell == p->cell && e->treatment.action == p->action)
            t.value = e->treatment.value;
    }
    return t;
}

int ek_control_pins_of(struct ek_control *c, int64_t time_ms, uint64_t query)
{
    int kept = 0;
    (void)query;
    for (int i = 0; i < c->pins; i++) {
        struct ek_control_pin *p = &c->pin[i];
        if (!holds(p, time_ms)) {
            release(p);
            continue;
        }
        c->pinned[kept] = (struct ek_pinned){p->feature, p->cell, treatment_of(c, p), p->by};
        c->pin[kept++] = *p;
    }
    c->pins = kept;
    return kept;
}

/* Of people: those of the rules come with the rules. */
static void pin_snap(struct ek_control_pin *p, struct ek_snap *s, int features, int cells)
{
    int action = (int)p->action;
    ek_snap_int(s, &p->feature, 0, features - 1);
    ek_snap_int(s, &p->cell, 0, cells - 1);
    ek_snap_int(s, &action, EK_ACT_NONE, EK_ACT_ROUTE_SOURCE);
    p->action = (enum ek_action)action;
    ek_snap_i64(s, &p->until_ms);
    ek_snap_require(s, p->until_ms >= 0);
    ek_snap_text(s, &p->author);
    ek_snap_text(s, &p->reason);
}

void ek_control_pins_snap(struct ek_control *c, struct ek_snap *s, int features, int cells)
{
    int count = 0;
    for (int i = 0; i < c->pins; i++)
        count += c->pin[i].by == EK_BY_PERSON;
    ek_snap_int(s, &count, 0, EK_PINS_MAX);
    for (int i = 0; i < c->pins && !ek_snap_reads(s); i++)
        if (c->pin[i].by == EK_BY_PERSON)
            pin_snap(&c->pin[i], s, features, cells);
    for (int i = 0; i < count && ek_snap_reads(s) && !s->rc; i++) {
        c->pin[c->pins] = (struct ek_control_pin){.by = EK_BY_PERSON};
        pin_snap(&c->pin[c->pins++], s, features, cells);
    }
}

static bool has_pin(const struct ek_control *c, int feature, int cell)
{
    for (int i = 0; i < c->pins; i++)
        if (c->pin[i].feature == feature && c->pin[i].cell == cell && c->pin[i].by == EK_BY_PERSON)
            return true;
    return false;
}

static int copy_text(char **to, const char *text)
{
    *to = text ? ek_strdup(text) : NULL;
    return text && !*to ? EK_ENOMEM : EK_OK;
}

static int add_copy(struct ek_control *c, const struct ek_control_pin *pin, int cell)
{
    struct ek_control_pin copy = *pin;
    copy.cell = cell;
    copy.author = copy.reason = NULL;
    int rc = copy_text(&copy.author, pin->author);
    if (!rc)
        rc = copy_text(&copy.reason, pin->reason);
    if (rc)
        release(&copy);
    else
        c->pin[c->pins++] = copy;
    return rc;
}

int ek_control_pins_merge(struct ek_control *into, const struct ek_control *from, const int16_t *to)
{
    int rc = EK_OK;
    for (int i = 0; i < from->pins && !rc; i++) {
        const struct ek_control_pin *pin = &from->pin[i];
        int cell = to[pin->cell];
        if (pin->by == EK_BY_PERSON && cell >= 0 && into->pins < EK_CONTROL_PINS_MAX &&
            !has_pin(into, pin->feature, cell))
            rc = add_copy(into, pin, cell);
    }
    return rc;
}

void ek_control_pins_free(struct ek_control *c)
{
    for (int i = 0; i < c->pins; i++)
        release(&c->pin[i]);
    c->pins = 0;
}
