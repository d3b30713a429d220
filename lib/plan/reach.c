#include "plan/reach.h"

#include "base/alloc.h"
#include "detect/history.h"
#include "plan/plan.h"

#include <string.h>

_Static_assert((int)EK_REACH_LISTS >= (int)EK_HISTORY, "all that a detector remembers");

/* What acts on each list, and on all of them. */
struct acting {
    int16_t percent[EK_REACH_LISTS];
    int64_t sum;
    int most;
};

struct ek_reach {
    int lists, places;
    int32_t last[INT16_MAX + 1];                     /* place of each cell + 1; 0: none */
    int32_t before[EK_REACH_LISTS * EK_REACH_CELLS]; /* the same of the list before, in its cell */
    int16_t list[EK_REACH_LISTS * EK_REACH_CELLS];
    struct acting now, marked;
};

int ek_reach_new(struct ek_reach **out)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : EK_ENOMEM;
}

void ek_reach_free(struct ek_reach *r)
{
    ek_free(r);
}

void ek_reach_restart(struct ek_reach *r)
{
    memset(&r->now, 0, sizeof r->now);
    memset(&r->marked, 0, sizeof r->marked);
}

void ek_reach_clear(struct ek_reach *r)
{
    r->lists = r->places = 0;
    memset(r->last, 0, sizeof r->last);
    ek_reach_restart(r);
}

void ek_reach_list(struct ek_reach *r, const int16_t *cells, int count)
{
    if (r->lists == EK_REACH_LISTS)
        return;
    for (int i = 0; i < count && i < EK_REACH_CELLS; i++) {
        if (cells[i] < 0)
            continue;
        r->list[r->places] = (int16_t)r->lists;
        r->before[r->places] = r->last[cells[i]];
        r->last[cells[i]] = ++r->places;
    }
    r->lists++;
}

void ek_reach_add(struct ek_reach *r, int cell, int percent)
{
    struct acting *a = &r->now;
    a->most = percent > a->most ? percent : a->most;
    for (int32_t at = r->last[cell]; at; at = r->before[at - 1]) {
        int16_t *of = &a->percent[r->list[at - 1]];
        if (percent <= *of)
            continue;
        a->sum += percent - *of;
        *of = (int16_t)percent;
    }
}

double ek_reach_share(const struct ek_reach *r)
{
    double whole = (double)EK_PERCENT_WHOLE * (r->lists ? r->lists : 1);
    return (r->lists ? (double)r->now.sum : r->now.most) / whole;
}

void ek_reach_mark(struct ek_reach *r)
{
    r->marked = r->now;
}

void ek_reach_back(struct ek_reach *r)
{
    r->now = r->marked;
}
