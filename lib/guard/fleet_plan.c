/* The plan record: writing, reading, and which of several counts. */
#include "guard/fleet_plan.h"

#include "guard/fleet_finding.h"

#include <math.h>
#include <string.h>

void ek_fleet_plan_begin(struct ek_wire_out *w, struct ek_buf *out,
                         const struct ek_fleet_plan_head *head)
{
    ek_wire_begin(w, out, EK_FLEET_PLAN);
    ek_wire_put_text(w, head->decider);
    ek_wire_put(w, head->term);
    ek_wire_put(w, head->version);
    ek_wire_put(w, head->episodes);
    ek_wire_put_signed(w, head->from_ms);
    ek_wire_put_signed(w, head->clock_ms);
    ek_wire_put_dimensions(w, &head->dimensions);
}

struct ek_plan_entry ek_fleet_entry_of(int feature, int cell, const struct ek_fleet_entry *entry)
{
    struct ek_plan_entry own = ek_plan_entry_of(feature, cell, entry->treatment);
    own.since_ms = entry->since_ms;
    own.until_ms = entry->until_ms;
    own.hold_ms = entry->hold_ms;
    return own;
}

void ek_fleet_entry_put(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                        const struct ek_fleet_entry *entry)
{
    ek_wire_put_cell(w, d, &entry->cell);
    ek_wire_put_text(w, entry->feature);
    ek_wire_put_word(w, ek_action_name(entry->treatment.action));
    ek_wire_put_f64(w, entry->treatment.value);
    ek_wire_put_signed(w, entry->since_ms);
    ek_wire_put_signed(w, entry->until_ms);
    ek_wire_put(w, (uint64_t)entry->hold_ms);
}

void ek_fleet_ask_put(struct ek_wire_out *w, const struct ek_fleet_ask *ask)
{
    ek_wire_put_text(w, ask->feature);
    ek_wire_put(w, ask->number);
    ek_wire_put(w, ask->rows);
}

static void get_head(struct ek_wire_in *w, struct ek_fleet_plan_head *head)
{
    head->decider = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
    head->term = ek_wire_get(w, UINT64_MAX >> 1);
    head->version = ek_wire_get(w, UINT64_MAX >> 1);
    head->episodes = (uint32_t)ek_wire_get(w, UINT32_MAX);
    head->from_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    head->clock_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    ek_wire_get_dimensions(w, &head->dimensions);
    ek_wire_require(w, head->decider.length > 0);
}

static void get_entry(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                      struct ek_fleet_entry *entry)
{
    ek_wire_get_cell(w, d, &entry->cell);
    entry->feature = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
    entry->treatment.action = (enum ek_action)ek_wire_get_word(w, ek_action_parse);
    entry->treatment.value = ek_wire_get_f64(w);
    entry->since_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    entry->until_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    entry->hold_ms = (int64_t)ek_wire_get(w, (uint64_t)EK_FLEET_TIME_MAX);
    ek_wire_require(w, isfinite(entry->treatment.value));
}

/* hears NULL: it is only checked. Returns what a function of it does. */
static int get_all(struct ek_wire_in *w, const struct ek_fleet_plan *p,
                   const struct ek_fleet_plan_hears *hears)
{
    const struct ek_fleet_dimensions *d = &p->head.dimensions;
    int rc = EK_OK;
    uint64_t count = ek_wire_get(w, EK_PLAN_MAX);
    for (uint64_t i = 0; i < count && !w->bad && !rc; i++) {
        struct ek_fleet_entry entry;
        get_entry(w, d, &entry);
        if (!w->bad && hears && hears->entry)
            rc = hears->entry(hears->context, &entry);
    }
    count = rc ? 0 : ek_wire_get(w, EK_FLEET_FINDINGS_MAX);
    for (uint64_t i = 0; i < count && !w->bad && !rc; i++) {
        struct ek_fleet_cell cell;
        struct ek_finding f;
        ek_wire_get_cell(w, d, &cell);
        ek_fleet_finding_get(w, p->manifest, &f);
        if (!w->bad && hears && hears->finding)
            rc = hears->finding(hears->context, &cell, &f);
    }
    count = rc ? 0 : ek_wire_get(w, EK_FLEET_ASKS_MAX);
    for (uint64_t i = 0; i < count && !w->bad && !rc; i++) {
        struct ek_fleet_ask ask = {.feature = ek_wire_get_text(w, EK_FLEET_NAME_MAX)};
        ask.number = (uint32_t)ek_wire_get(w, UINT32_MAX);
        ask.rows = (uint32_t)ek_wire_get(w, UINT16_MAX);
        if (!w->bad && hears && hears->ask)
            rc = hears->ask(hears->context, &ask);
    }
    return rc;
}

int ek_fleet_plan_open(struct ek_fleet_plan *p, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e)
{
    int rc = ek_wire_open(&p->content, bytes, length, EK_FLEET_PLAN, e);
    if (rc)
        return rc;
    get_head(&p->content, &p->head);
    p->manifest = m;
    struct ek_wire_in check = p->content;
    get_all(&check, p, NULL);
    return ek_wire_done(&check, "plan of a fleet", e);
}

int ek_fleet_plan_tell(const struct ek_fleet_plan *p, const struct ek_fleet_plan_hears *hears)
{
    struct ek_wire_in w = p->content;
    return get_all(&w, p, hears);
}

int ek_fleet_plan_compare(const struct ek_fleet_plan_head *head, uint64_t term, const char *decider)
{
    if (head->term != term)
        return head->term < term ? -1 : 1;
    return ek_text_compare(head->decider, decider);
}

enum ek_fleet_turn ek_fleet_order_take(struct ek_fleet_order *o,
                                       const struct ek_fleet_plan_head *head)
{
    int later = ek_fleet_plan_compare(head, o->term, o->decider);
    if (later < 0)
        return EK_FLEET_VOID;
    if (!later && head->version == o->version)
        return EK_FLEET_SAME;
    o->term = head->term;
    memcpy(o->decider, head->decider.text, head->decider.length);
    o->decider[head->decider.length] = 0;
    if (head->version <= o->version)
        return EK_FLEET_VOID;
    o->version = head->version;
    return EK_FLEET_NEWER;
}
