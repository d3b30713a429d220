#include "detect/row_order.h"

static uint64_t remembered(uint64_t count)
{
    return count < EK_HISTORY ? count : EK_HISTORY;
}

/* Whether the next row is one of the second history: of rows of one time the first one's go first.
 */
static bool is_theirs(const struct ek_history *here, uint64_t h, const struct ek_history *there,
                      uint64_t t)
{
    if (t == ek_history_count(there))
        return false;
    return h == ek_history_count(here) ||
           ek_history_row(there, t)->time_ms < ek_history_row(here, h)->time_ms;
}

void ek_row_order(const struct ek_history *here, const struct ek_history *there,
                  struct ek_row_order *o)
{
    uint64_t h = ek_history_first(here), t = ek_history_first(there);
    o->here.count = ek_history_count(here);
    o->there.count = ek_history_count(there);
    o->count = o->here.count + o->there.count;
    o->first = o->count - remembered(o->count);
    uint64_t row = o->count - remembered(o->here.count) - remembered(o->there.count);
    for (; row < o->count; row++) {
        bool theirs = is_theirs(here, h, there, t);
        uint64_t place = (theirs ? t++ : h++) % EK_HISTORY;
        (theirs ? &o->there : &o->here)->number[place] = row;
        if (row < o->first)
            continue;
        o->place[row - o->first] = (uint16_t)place;
        o->is_other[row - o->first] = theirs;
    }
}

uint64_t ek_row_moved(const struct ek_row_order *o, const struct ek_rows_moved *moved, uint64_t row)
{
    uint64_t first = moved->count - remembered(moved->count);
    if (row >= moved->count)
        return o->count;
    if (row >= first)
        return moved->number[row % EK_HISTORY];
    uint64_t before = moved->number[first % EK_HISTORY], behind = first - row;
    return before > behind ? before - behind : 0;
}
