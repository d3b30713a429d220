#include "plan/plan_compose.h"

#include "base/alloc.h"
#include "detect/history.h"
#include "plan/plan.h"
#include "schema/manifest.h"

#include <math.h>
#include <string.h>

_Static_assert((int)EK_ROUTE_COVERAGE_LISTS >= (int)EK_HISTORY, "all that a detector remembers");

/* Percentage per list, their sum, and the maximum. */
struct acting {
    int16_t percent[EK_ROUTE_COVERAGE_LISTS];
    int64_t sum;
    int most;
};

struct ek_route_coverage {
    int lists, places;
    int32_t last[INT16_MAX + 1]; /* index of the last entry of each cell + 1; 0: none */
    int32_t before[EK_ROUTE_COVERAGE_LISTS *
                   EK_ROUTE_COVERAGE_CELLS]; /* the same for the previous list of the cell */
    int16_t list[EK_ROUTE_COVERAGE_LISTS * EK_ROUTE_COVERAGE_CELLS];
    struct acting now, marked;
};

int ek_route_coverage_new(struct ek_route_coverage **out)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : EK_ENOMEM;
}

void ek_route_coverage_free(struct ek_route_coverage *r)
{
    ek_free(r);
}

/* Remove all percentages. */
static void remove_percentages(struct ek_route_coverage *r)
{
    memset(&r->now, 0, sizeof r->now);
    memset(&r->marked, 0, sizeof r->marked);
}

void ek_route_coverage_clear(struct ek_route_coverage *r)
{
    r->lists = r->places = 0;
    memset(r->last, 0, sizeof r->last);
    remove_percentages(r);
}

void ek_route_coverage_list(struct ek_route_coverage *r, const int16_t *cells, int count)
{
    if (r->lists == EK_ROUTE_COVERAGE_LISTS)
        return;
    for (int i = 0; i < count && i < EK_ROUTE_COVERAGE_CELLS; i++) {
        if (cells[i] < 0)
            continue;
        r->list[r->places] = (int16_t)r->lists;
        r->before[r->places] = r->last[cells[i]];
        r->last[cells[i]] = ++r->places;
    }
    r->lists++;
}

static void add_percentage(struct ek_route_coverage *r, int cell, int percent)
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

/* Return the fraction, 0 to 1. Without lists it is the largest percentage. */
static double covered_fraction(const struct ek_route_coverage *r)
{
    double whole = (double)EK_PERCENT_WHOLE * (r->lists ? r->lists : 1);
    return (r->lists ? (double)r->now.sum : r->now.most) / whole;
}

/* Save the percentages, for restore_percentages. */
static void save_percentages(struct ek_route_coverage *r)
{
    r->marked = r->now;
}

/* Undo additions since the last mark or restart. */
static void restore_percentages(struct ek_route_coverage *r)
{
    r->now = r->marked;
}

/* Desired entry that may become part of the plan. */
struct candidate {
    const struct ek_plan_entry *desired;
    enum ek_mode mode; /* in the cell of the entry */
    unsigned modes;    /* of any of its lists, as bits */
    int percent;
    uint32_t restarts, cause;
    bool left_out;
};

struct candidates {
    int count;
    struct candidate of[EK_PLAN_MAX];
};

/* Cells with active treatments, and their percentages. */
struct acting_cells {
    int count;
    struct {
        int cell, percent;
    } of[EK_PLAN_MAX + EK_PLAN_MODES_MAX];
};

static const unsigned ACTS = 1u << EK_MODE_CANARY | 1u << EK_MODE_ENFORCE;

static bool may_act(const struct candidate *k)
{
    return k->modes & ACTS;
}

static bool pinned(const struct ek_composing *c, int feature, int cell)
{
    for (int i = 0; i < c->pins; i++)
        if (c->pin[i].feature == feature && (c->pin[i].cell == cell || c->pin[i].cell == 0))
            return true;
    return false;
}

static void find_candidates(const struct ek_composing *c, struct candidates *all)
{
    const struct ek_plan_outcomes words = {c->mode, c->modes, c->dimension_of, c->context};
    all->count = 0;
    for (int i = 0; i < c->desired->count; i++) {
        const struct ek_plan_entry *e = &c->desired->entry[i];
        const struct ek_rollout *r = ek_rollout_find(c->rollouts, e->feature, e->cell);
        struct candidate k = {.desired = e, .mode = c->mode_of(c->context, e->feature, e->cell)};
        k.modes = ek_plan_get_modes(&words, e->feature, e->cell, k.mode);
        k.percent = r && k.modes & ek_mode_bit(EK_MODE_CANARY) ? r->percent : EK_PERCENT_WHOLE;
        k.restarts = r ? r->restarts : 0;
        k.cause = r ? r->context.cause : 0;
        bool some = k.modes & ~ek_mode_bit(EK_MODE_OBSERVE);
        if (some && ek_rollout_may_act(r) && !pinned(c, e->feature, e->cell))
            all->of[all->count++] = k;
    }
}

static void add_acting(struct acting_cells *a, int cell, int percent)
{
    if (a->count == sizeof a->of / sizeof *a->of)
        return;
    a->of[a->count].cell = cell;
    a->of[a->count++].percent = percent;
}

/* Add the cells where a candidate acts: its own cell. A candidate of all traffic without an acting
 * mode acts only in cells with one. */
static void active_mode(const struct ek_composing *c, const struct candidate *k,
                        struct acting_cells *a)
{
    int feature = k->desired->feature, cell = k->desired->cell;
    int percent = k->modes & ek_mode_bit(EK_MODE_ENFORCE) ? EK_PERCENT_WHOLE : k->percent;
    if (cell != 0 || ek_mode_bit(k->mode) & ACTS) {
        add_acting(a, cell, percent);
        return;
    }
    for (int i = 0; i < c->modes; i++)
        if (c->mode[i].feature == feature && ek_mode_bit(c->mode[i].mode) & ACTS)
            add_acting(a, c->mode[i].cell, percent);
}

/* Return the next larger percentage; 0: none. */
static int next_percent(const struct acting_cells *a, int above)
{
    int found = 0;
    for (int i = 0; i < a->count; i++)
        if (a->of[i].percent > above && (!found || a->of[i].percent < found))
            found = a->of[i].percent;
    return found;
}

/* Estimate the fraction of traffic without recorded lists. Buckets are independent of cells, and a
 * percentage includes all lower buckets. */
static double share_of_sets(const struct ek_composing *c, const struct acting_cells *a)
{
    int cell[EK_PLAN_MAX + EK_PLAN_MODES_MAX], below = 0, percent;
    double share = 0;
    if (!c->share_of)
        return (double)NAN;
    while ((percent = next_percent(a, below)) > 0) {
        int count = 0;
        for (int i = 0; i < a->count; i++)
            if (a->of[i].percent > below)
                cell[count++] = a->of[i].cell;
        share += (percent - below) * c->share_of(c->context, cell, count);
        below = percent;
    }
    return fmin(share / EK_PERCENT_WHOLE, 1);
}

/* Return the fraction including the new cells from index `from` on. */
static double share_of(const struct ek_composing *c, const struct acting_cells *a, int from)
{
    if (!c->reach)
        return share_of_sets(c, a);
    for (int i = from; i < a->count; i++)
        add_percentage(c->reach, a->of[i].cell, a->of[i].percent);
    return covered_fraction(c->reach);
}

/* Features and incidents that count toward max_routed_features. */
struct counted {
    int count, causes;
    bool feature[EK_FEATURES_MAX];
    uint32_t cause[EK_PLAN_MAX];
};

/* Return whether a candidate counts: neither its feature nor its incident has been counted. */
static bool is_new(const struct counted *n, const struct candidate *k)
{
    for (int i = 0; k->cause && i < n->causes; i++)
        if (n->cause[i] == k->cause)
            return false;
    return !n->feature[k->desired->feature];
}

static void count_candidate(struct counted *n, const struct candidate *k)
{
    n->count += is_new(n, k);
    n->feature[k->desired->feature] = true;
    n->cause[n->causes++] = k->cause;
}

/* Compute the total effect of all candidates. Return the limit that they exceed. */
static enum ek_exceeds measure(const struct ek_composing *c, const struct candidates *all,
                               struct ek_composed *out)
{
    struct acting_cells a = {.count = 0};
    struct counted counted = {.count = 0};
    for (int i = 0; i < all->count; i++)
        if (may_act(&all->of[i])) {
            count_candidate(&counted, &all->of[i]);
            active_mode(c, &all->of[i], &a);
        }
    out->features = counted.count;
    if (c->reach)
        remove_percentages(c->reach);
    out->share = share_of(c, &a, 0);
    if (out->features > c->rules->max_routed_features)
        return EK_EXCEEDS_FEATURES;
    return out->share > c->rules->max_routed_share ? EK_EXCEEDS_SHARE : EK_EXCEEDS_NONE;
}

static void leave_all_out(struct candidates *all)
{
    for (int i = 0; i < all->count; i++)
        all->of[i].left_out = may_act(&all->of[i]);
}

/* Drop the latest candidates that exceed a limit. */
static void truncate_candidates(const struct ek_composing *c, struct candidates *all)
{
    struct acting_cells a = {.count = 0};
    struct counted counted = {.count = 0};
    if (c->reach)
        remove_percentages(c->reach);
    for (int i = 0; i < all->count; i++) {
        struct candidate *k = &all->of[i];
        int before = a.count;
        if (!may_act(k))
            continue;
        if (c->reach)
            save_percentages(c->reach);
        active_mode(c, k, &a);
        k->left_out = counted.count + is_new(&counted, k) > c->rules->max_routed_features ||
                      share_of(c, &a, before) > c->rules->max_routed_share;
        if (k->left_out) {
            a.count = before;
            if (c->reach)
                restore_percentages(c->reach);
        } else {
            count_candidate(&counted, k);
        }
    }
}

/* Return whether all pins fit. */
static bool add_pins(struct ek_plan *p, const struct ek_composing *c)
{
    for (int i = 0; i < c->pins; i++) {
        const struct ek_pinned *pin = &c->pin[i];
        int found = ek_plan_find(p, pin->feature, pin->cell);
        struct ek_plan_entry *at = found < 0 ? NULL : &p->entry[found];
        if (at && (at->by == EK_BY_OPERATOR || pin->by == EK_BY_RULES))
            continue;
        if (!at && p->count == EK_PLAN_MAX)
            return false;
        at = at ? at : &p->entry[p->count++];
        *at = ek_plan_entry_init(pin->feature, pin->cell, pin->treatment);
        at->by = pin->by;
    }
    return true;
}

static bool has_modes(const struct ek_plan *p, int feature)
{
    for (int i = 0; i < p->modes; i++)
        if (p->mode[i].feature == feature)
            return true;
    return false;
}

/* Add all modes of a feature, or none. Return whether they fit. */
static bool add_modes(struct ek_plan *p, const struct ek_composing *c, int feature)
{
    int before = p->modes;
    if (has_modes(p, feature))
        return true;
    for (int i = 0; i < c->modes; i++) {
        if (c->mode[i].feature != feature)
            continue;
        if (p->modes == EK_PLAN_MODES_MAX) {
            p->modes = before;
            return false;
        }
        p->mode[p->modes++] = c->mode[i];
    }
    return true;
}

/* Return whether all candidates fit. */
static bool add_candidates(struct ek_plan *p, const struct ek_composing *c,
                           const struct candidates *all)
{
    bool room = true;
    for (int i = 0; i < all->count; i++) {
        const struct candidate *k = &all->of[i];
        if (k->left_out)
            continue;
        if (p->count == EK_PLAN_MAX || !add_modes(p, c, k->desired->feature)) {
            room = false;
            continue;
        }
        struct ek_plan_entry *e = &p->entry[p->count++];
        *e = *k->desired;
        e->mode = k->mode;
        e->percent = k->percent;
        e->restarts = k->restarts;
    }
    return room;
}

static void fill(struct ek_plan *p, const struct ek_composing *c, struct ek_composed *out)
{
    struct candidates all;
    find_candidates(c, &all);
    out->limited = measure(c, &all, out);
    if (c->rules->on_limit == EK_LIMIT_OBSERVE && (out->limited || c->was_limited))
        leave_all_out(&all);
    else if (out->limited)
        truncate_candidates(c, &all);
    bool room = add_pins(p, c);
    room &= add_candidates(p, c, &all);
    if (!room && !out->limited)
        out->limited = EK_EXCEEDS_PLAN;
}

void ek_plan_compose(struct ek_plan *next, const struct ek_plan *now, const struct ek_composing *c,
                     struct ek_composed *out)
{
    *out = (struct ek_composed){.limited = EK_EXCEEDS_NONE};
    next->paused = c->paused;
    next->count = next->modes = 0;
    if (!c->paused)
        fill(next, c, out);
    out->changed = !ek_plan_same(next, now);
    next->version = now->version + out->changed;
}
