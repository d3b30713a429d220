#include "decide/plan_snap.h"

static void entry_snap(struct ek_plan_entry *entry, struct ek_snap *s, int features, int cells)
{
    int action = (int)entry->treatment.action;
    if (ek_snap_reads(s)) /* what the file has no word for */
        *entry = ek_plan_entry_of(0, 0, (struct ek_treatment){EK_ACT_NONE, 0});
    ek_snap_int(s, &entry->feature, 0, features - 1);
    ek_snap_int(s, &entry->cell, 0, cells - 1);
    ek_snap_int(s, &action, EK_ACT_NONE, EK_ACT_ROUTE_SOURCE);
    entry->treatment.action = (enum ek_action)action;
    ek_snap_f64(s, &entry->treatment.value);
    ek_snap_i64(s, &entry->since_ms);
    ek_snap_i64(s, &entry->until_ms);
    ek_snap_i64(s, &entry->hold_ms);
    ek_snap_require(s, entry->since_ms >= 0 && entry->until_ms >= -1 && entry->hold_ms >= 0);
}

void ek_plan_snap(struct ek_plan *p, struct ek_snap *s, int features, int cells)
{
    ek_snap_u64(s, &p->version);
    ek_snap_int(s, &p->count, 0, EK_PLAN_MAX);
    for (int i = 0; i < p->count; i++)
        entry_snap(&p->entry[i], s, features, cells);
}
