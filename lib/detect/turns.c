/* Whose turn it is: what is laborious is spread over the lists, so that no list waits for long.
 *
 * With a list one confirmed change is looked at again, that which has been due for longest, or some
 * that are suspected, which go first: one, or FIRSTS where more than MANY wait. So five features
 * that alarm together are confirmed with five lists, not one, and one alone as ever.
 */
#include "detect/detector_internal.h"

enum { MANY = 8, FIRSTS = 4 };

static bool is_in(const struct ek_detector *d, const struct ek_episode *e)
{
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++)
        if (d->cell_of[i] == e->cell)
            return true;
    return false;
}

/* Lists since it was due, the present one counted in; negative: it is not. */
static int64_t overdue(const struct ek_episode *e)
{
    return (int64_t)e->lists + 1 - (int64_t)e->due;
}

/* One of the relieved, each in its turn. */
static const struct ek_episode *relief_of(const struct ek_detector *d, int relieved)
{
    uint64_t skip = relieved ? ek_history_count(d->history) % (uint64_t)relieved : 0;
    for (int i = 0; i < d->episodes && relieved; i++) {
        const struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_PHASE_CONFIRMED && e->relieved && is_in(d, e) && skip-- == 0)
            return e;
    }
    return NULL;
}

void ek_turns_give(struct ek_detector *d)
{
    int firsts = 0, relieved = 0;
    const struct ek_episode *update = NULL;
    for (int i = 0; i < d->episodes; i++) {
        const struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_WATCHING || !is_in(d, e))
            continue;
        relieved += e->phase == EK_PHASE_CONFIRMED && e->relieved;
        if (overdue(e) < 0)
            continue;
        if (e->phase == EK_PHASE_SUSPECTED)
            firsts++;
        else if (!update || overdue(e) > overdue(update))
            update = e;
    }
    d->turns = (struct ek_turns){.update = firsts ? NULL : update,
                                 .relief = relief_of(d, relieved),
                                 .firsts = firsts > MANY ? FIRSTS : 1,
                                 .reliefs = 1};
}

bool ek_turn_to_settle(struct ek_detector *d, const struct ek_episode *e)
{
    struct ek_turns *t = &d->turns;
    if (e->phase == EK_PHASE_SUSPECTED ? t->firsts-- <= 0 : e != t->update)
        return false;
    t->looks++;
    return true;
}

bool ek_turn_to_relief(struct ek_detector *d, const struct ek_episode *e, bool new)
{
    struct ek_turns *t = &d->turns;
    if (t->reliefs <= 0 || !(new || !t->relief || e == t->relief))
        return false;
    t->reliefs--;
    return true;
}
