#include "detect/merge_changes.h"

#include "detect/detector_internal.h"
#include "detect/merge_accepts.h"

/* Of a number that is 0 as long as there is no such row. */
static uint64_t moved_or_none(const struct ek_row_order *o, const struct ek_rows_moved *moved,
                              uint64_t row)
{
    return row ? ek_row_moved(o, moved, row) : 0;
}

static void move(struct ek_episode *e, const struct ek_row_order *o,
                 const struct ek_rows_moved *moved)
{
    uint64_t *row[] = {&e->alarm_row, &e->since_row, &e->span_first, &e->span_last};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        *row[i] = ek_row_moved(o, moved, *row[i]);
    e->relief_row = moved_or_none(o, moved, e->relief_row);
}

static bool has_number(const struct ek_detector *d, uint32_t number)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase != EK_WATCHING && d->episode[i].number == number)
            return true;
    return false;
}

static bool has_cause(const struct ek_detector *d, uint32_t cause)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase != EK_WATCHING && d->episode[i].cause == cause)
            return true;
    return false;
}

/* Numbers of the changes from there, here. What was taken by one of here before gets a new one; who
 * shared one does so on. */
struct numbering {
    struct ek_detector *into;
    const struct ek_detector *from;
    uint32_t number[EK_EPISODES_MAX], cause[EK_EPISODES_MAX]; /* by place there */
};

static uint32_t cause_of(struct numbering *n, int place)
{
    uint32_t cause = n->from->episode[place].cause;
    if (!cause || !has_cause(n->into, cause))
        return cause;
    for (int i = 0; i < place; i++)
        if (n->from->episode[i].phase != EK_WATCHING && n->from->episode[i].cause == cause)
            return n->cause[i];
    return ++n->into->causes_ever;
}

/* Before any of them is entered. */
static void count_off(struct numbering *n)
{
    struct ek_detector *d = n->into;
    const struct ek_detector *from = n->from;
    d->episodes_ever =
        d->episodes_ever > from->episodes_ever ? d->episodes_ever : from->episodes_ever;
    d->causes_ever = d->causes_ever > from->causes_ever ? d->causes_ever : from->causes_ever;
    for (int i = 0; i < from->episodes; i++) {
        const struct ek_episode *e = &from->episode[i];
        n->number[i] = n->cause[i] = 0;
        if (e->phase == EK_WATCHING)
            continue;
        n->number[i] = has_number(d, e->number) ? ++d->episodes_ever : e->number;
        n->cause[i] = cause_of(n, i);
    }
}

/* Of an episode there, here. */
static uint32_t number_of(const struct numbering *n, uint32_t number)
{
    for (int i = 0; number && i < n->from->episodes; i++)
        if (n->number[i] && n->from->episode[i].number == number)
            return n->number[i];
    return number;
}

/* `e` is in the terms of here. One of here that is only suspected gives way to a confirmed one. */
static void unite(struct ek_detector *d, const struct ek_episode *e, bool told_elsewhere)
{
    struct ek_episode *own = ek_episode_at(d, e->cell, e->feature), *place;
    if (own && (own->phase == EK_PHASE_CONFIRMED || e->phase != EK_PHASE_CONFIRMED)) {
        if (!told_elsewhere)
            ek_episode_tell_dismissed(d, e, EK_BY_ANOTHER_FINDING);
        return;
    }
    if (own)
        ek_episode_dismiss(d, own, EK_BY_ANOTHER_FINDING);
    place = ek_episode_place(d);
    if (place) {
        *place = *e;
        ek_episode_enter(d, place);
    }
}

static void take_over(struct numbering *n, int place, const struct ek_row_order *o,
                      const int16_t *to)
{
    struct ek_detector *d = n->into;
    struct ek_episode e = n->from->episode[place];
    if (e.phase == EK_WATCHING || to[e.cell] < 0)
        return;
    bool renumbered = e.number != n->number[place];
    e.cell = to[e.cell];
    e.number = n->number[place];
    e.cause = n->cause[place];
    e.kin = number_of(n, e.kin);
    move(&e, o, &o->there);
    if (e.since_row >= o->first)
        e.since_query = ek_history_row(d->history, e.since_row)->query;
    if (!ek_accepts_end(d, n->from, to, &e))
        unite(d, &e, renumbered);
    else if (!renumbered)
        ek_episode_tell_dismissed(d, &e, EK_OTHER_NORMAL);
}

void ek_changes_merge(struct ek_detector *into, const struct ek_detector *from,
                      const struct ek_row_order *o, const int16_t *to)
{
    struct numbering n = {.into = into, .from = from};
    for (int i = 0; i < into->episodes; i++)
        if (into->episode[i].phase != EK_WATCHING)
            move(&into->episode[i], o, &o->here);
    for (int f = 0; f < into->features; f++) {
        uint64_t here = moved_or_none(o, &o->here, into->settled[f]);
        uint64_t there = moved_or_none(o, &o->there, from->settled[f]);
        into->settled[f] = here > there ? here : there;
    }
    count_off(&n);
    for (int i = 0; i < from->episodes; i++)
        take_over(&n, i, o, to);
    into->claims++;
}
