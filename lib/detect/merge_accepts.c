#include "detect/merge_accepts.h"

#include "detect/accept.h"
#include "detect/pooled.h"

static struct ek_text text_of(const char *text)
{
    return text ? ek_text_of(text) : (struct ek_text){NULL, 0};
}

int ek_accepts_hold(struct ek_detector *into, const struct ek_detector *from)
{
    int rc = EK_OK, here;
    for (int i = 0; i < from->rebases.count && !rc; i++) {
        int cell = from->rebases.one[i].cell;
        rc = ek_detector_hold(into, text_of(ek_cells_dimension_name(from->cells, cell)),
                              text_of(ek_cells_value(from->cells, cell)), &here);
    }
    return rc;
}

/* Whether there is an accept of that place, which is in the terms of here. */
static bool has_place(const struct ek_detector *from, const int16_t *to,
                      const struct ek_rebase *one)
{
    for (int i = 0; i < from->rebases.count; i++)
        if (from->rebases.one[i].feature == one->feature &&
            to[from->rebases.one[i].cell] == one->cell)
            return true;
    return false;
}

/* Of the rows of one side. */
static void lower_rows(struct ek_detector *d, const struct ek_rebase *one,
                       const struct ek_row_order *o, bool other)
{
    for (uint64_t i = one->row > o->first ? one->row : o->first; i < o->count; i++)
        if (o->is_other[i - o->first] == other && ek_history_in(d->history, i, one->cell))
            ek_history_lower(d->history, i, one->feature, one->shift_ln);
}

/* Those of here, for what comes from there. */
static void spread_own(struct ek_detector *into, const struct ek_detector *from,
                       const struct ek_row_order *o, const int16_t *to)
{
    for (int i = 0; i < into->rebases.count; i++) {
        struct ek_rebase *one = &into->rebases.one[i];
        one->row = ek_row_moved(o, &o->here, one->row);
        if (has_place(from, to, one))
            continue;
        lower_rows(into, one, o, true);
        ek_accept_evidence(into, one);
    }
}

/* `own` is how many of them are of here. */
static bool is_taken(const struct ek_rebases *r, int own, const struct ek_rebase *one)
{
    int i = 0;
    while (i < own && (r->one[i].feature != one->feature || r->one[i].cell != one->cell))
        i++;
    return i < own;
}

/* One from there, in the terms of here. */
static void take_over(struct ek_detector *into, struct ek_rebase one, const struct ek_row_order *o)
{
    struct ek_rebases *r = &into->rebases;
    if (one.version <= r->version)
        one.version = r->version + 1;
    r->version = one.version;
    r->one[r->count++] = one;
    lower_rows(into, &one, o, false);
    ek_accept_episodes(into, &one, one.shift_ln);
    ek_accept_evidence(into, &one);
}

void ek_accepts_merge(struct ek_detector *into, const struct ek_detector *from,
                      const struct ek_row_order *o, const int16_t *to)
{
    struct ek_rebases *r = &into->rebases;
    const int own = r->count;
    spread_own(into, from, o, to);
    for (int i = 0; i < from->rebases.count; i++) {
        struct ek_rebase one = from->rebases.one[i];
        one.cell = to[one.cell];
        one.row = ek_row_moved(o, &o->there, one.row);
        bool held = !one.cell || (one.cell > 0 && ek_cells_value(into->cells, one.cell));
        if (held && r->count < EK_REBASES_MAX && !is_taken(r, own, &one))
            take_over(into, one, o);
        else if (held)
            ek_cells_release(into->cells, one.cell);
    }
    if (from->rebases.version > r->version)
        r->version = from->rebases.version;
}

bool ek_accepts_end(const struct ek_detector *into, const struct ek_detector *from,
                    const int16_t *to, struct ek_episode *e)
{
    bool moved, ends = false;
    for (int i = 0; i < into->rebases.count && !ends; i++)
        if (!has_place(from, to, &into->rebases.one[i]))
            ends = ek_accept_ends(into, &into->rebases.one[i], into->rebases.one[i].shift_ln, e,
                                  &moved);
    return ends;
}
