#include "plan/plan_modes.h"

/* A mode and all that are less. */
static unsigned up_to(enum ek_mode m)
{
    return 2 * ek_mode_bit(m) - 1;
}

/* Whether a list can be in both. */
static bool meet(const struct ek_plan_words *w, int a, int b)
{
    return a == b || w->dimension_of(w->context, a) != w->dimension_of(w->context, b);
}

static const struct ek_plan_mode *mode_at(const struct ek_plan_words *w, int feature, int cell,
                                          bool own)
{
    for (int i = 0; i < w->modes; i++)
        if (w->mode[i].feature == feature && w->mode[i].cell == cell && w->mode[i].own == own)
            return &w->mode[i];
    return NULL;
}

/* The modes that lists of a cell can get at one level; `above`: those of lists of which this level
 * says nothing. */
static unsigned modes_of_level(const struct ek_plan_words *w, int feature, int cell, bool own,
                               unsigned above)
{
    const struct ek_plan_mode *here = mode_at(w, feature, cell, own);
    unsigned modes = here ? ek_mode_bit(here->mode) : above, most = here ? up_to(here->mode) : ~0u;
    for (int i = 0; i < w->modes; i++) {
        const struct ek_plan_mode *m = &w->mode[i];
        bool counts = m->feature == feature && m->own == own && meet(w, m->cell, cell);
        if (counts && (own || !mode_at(w, feature, m->cell, true)))
            modes |= ek_mode_bit(m->mode) & most; /* of two the more careful one counts */
    }
    return modes;
}

unsigned ek_plan_modes_of(const struct ek_plan_words *w, int feature, int cell, enum ek_mode mode)
{
    unsigned of_defaults = modes_of_level(w, feature, cell, false, ek_mode_bit(mode));
    return modes_of_level(w, feature, cell, true, of_defaults);
}
