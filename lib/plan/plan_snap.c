#include "plan/plan_snap.h"

#include "schema/manifest.h"

static void entry_snap(struct ek_plan_entry *entry, struct ek_snap *s, int features, int cells)
{
    int action = (int)entry->treatment.action, mode = (int)entry->mode, by = (int)entry->by;
    ek_snap_int(s, &entry->feature, 0, features - 1);
    ek_snap_int(s, &entry->cell, 0, cells - 1);
    ek_snap_int(s, &action, EK_ACT_NONE, EK_ACT_ROUTE_SOURCE);
    entry->treatment.action = (enum ek_action)action;
    ek_snap_f64(s, &entry->treatment.value);
    ek_snap_int(s, &mode, EK_MODE_OBSERVE, EK_MODE_COUNT - 1);
    entry->mode = (enum ek_mode)mode;
    ek_snap_int(s, &entry->percent, 0, EK_PERCENT_WHOLE);
    ek_snap_int(s, &by, EK_BY_FINDING, EK_BY_RULES);
    entry->by = (enum ek_plan_by)by;
    ek_snap_f64(s, &entry->repair.factor);
    ek_snap_int(s, &entry->repair.query_feature, -1, EK_FEATURES_MAX - 1);
    ek_snap_i64(s, &entry->since_ms);
    ek_snap_i64(s, &entry->until_ms);
    ek_snap_i64(s, &entry->hold_ms);
    ek_snap_require(s, entry->since_ms >= 0 && entry->until_ms >= -1 && entry->hold_ms >= 0);
}

static void mode_snap(struct ek_plan_mode *m, struct ek_snap *s, int features, int cells)
{
    int mode = (int)m->mode, own = m->own;
    ek_snap_int(s, &m->feature, 0, features - 1);
    ek_snap_int(s, &m->cell, 0, cells - 1);
    ek_snap_int(s, &mode, EK_MODE_OBSERVE, EK_MODE_COUNT - 1);
    m->mode = (enum ek_mode)mode;
    ek_snap_int(s, &own, 0, 1);
    m->own = own;
}

void ek_plan_snap(struct ek_plan *p, struct ek_snap *s, int features, int cells)
{
    int paused = p->paused;
    ek_snap_u64(s, &p->version);
    ek_snap_int(s, &paused, 0, 1);
    p->paused = paused;
    ek_snap_int(s, &p->count, 0, EK_PLAN_MAX);
    for (int i = 0; i < p->count; i++)
        entry_snap(&p->entry[i], s, features, cells);
    ek_snap_int(s, &p->modes, 0, EK_PLAN_MODES_MAX);
    for (int i = 0; i < p->modes; i++)
        mode_snap(&p->mode[i], s, features, cells);
}
