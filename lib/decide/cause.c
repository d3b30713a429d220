/* Which confirmed changes have one cause, and which suspicions a confirmed one explains. */
#include "decide/detector_internal.h"

/* Changes of one cell that began within so many lists have one cause. */
enum { CAUSE_LISTS = 64 };

void ek_cause_name(struct ek_detector *d, struct ek_episode *e)
{
    for (int i = 0; i < d->episodes && !e->cause; i++) {
        const struct ek_episode *o = &d->episode[i];
        uint64_t apart =
            o->since_row > e->since_row ? o->since_row - e->since_row : e->since_row - o->since_row;
        if (o != e && o->phase == EK_PHASE_CONFIRMED && o->cell == e->cell && apart <= CAUSE_LISTS)
            e->cause = o->cause;
    }
    if (!e->cause)
        e->cause = ++d->causes_ever;
}

void ek_cause_dismiss_others(struct ek_detector *d, const struct ek_episode *e)
{
    for (int i = 0; i < d->episodes; i++) {
        struct ek_episode *o = &d->episode[i];
        int same_dimension =
            ek_cells_dimension(d->cells, o->cell) == ek_cells_dimension(d->cells, e->cell);
        if (o != e && o->phase == EK_PHASE_SUSPECTED && o->feature == e->feature &&
            !same_dimension && !o->claimed)
            ek_episode_dismiss(d, o, "explained by another cell");
    }
}
