#include "plan/control.h"

#include "base/alloc.h"
#include "plan/control_internal.h"

#include <math.h>
#include <string.h>

/* Shares of the traffic change with it, a value may find a cell, and nobody says when: lists until
 * they are looked at. */
enum { AGAIN_LISTS = 1024 };

static bool limits_share(const struct ek_control *c)
{
    const struct ek_control_cells *cells = &c->setup.cells;
    return c->setup.rules->max_routed_share < 1 && (cells->share_of || cells->each_list);
}

int ek_control_new(struct ek_control **out, const struct ek_control_setup *s, struct ek_error *e)
{
    struct ek_control *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->setup = *s;
    c->free_ms = -1;
    if (limits_share(c) && s->cells.each_list && ek_reach_new(&c->reach)) {
        ek_free(c);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    *out = c;
    return EK_OK;
}

void ek_control_free(struct ek_control *c)
{
    if (!c)
        return;
    ek_control_pins_free(c);
    ek_reach_free(c->reach);
    ek_free(c);
}

const struct ek_plan *ek_control_plan(const struct ek_control *c)
{
    return &c->plan[c->now];
}

const struct ek_plan *ek_control_wanted(const struct ek_control *c)
{
    return &c->wanted;
}

enum ek_bound ek_control_tripped(const struct ek_control *c)
{
    return c->tripped;
}

const struct ek_rollout *ek_control_rollout(const struct ek_control *c, int feature, int cell)
{
    return ek_rollout_find((struct ek_rollouts *)&c->rollouts, feature, cell);
}

static enum ek_bound bound_of(enum ek_exceeds x)
{
    static const enum ek_bound bound[] = {EK_BOUND_NONE, EK_BOUND_ROUTED, EK_BOUND_SHARE,
                                          EK_BOUND_PLAN};
    return bound[x];
}

/* As the rules have it; told only where too few lists have shown the fault, or none of late. */
static struct ek_decision decide(const struct ek_control *c, const struct ek_finding *f)
{
    const struct ek_control_setup *s = &c->setup;
    struct ek_decision d = ek_decide(s->rules, s->manifest, s->have_model, f);
    bool open = f->state == EK_CONFIRMED || f->state == EK_UPDATED;
    double credit;
    if (d.wanted && open && !ek_control_is_earned(c, f, &credit)) {
        d.treatment = (struct ek_treatment){EK_ACT_ALERT, 0};
        d.wanted = false;
    }
    return d;
}

struct ek_decision ek_control_decide(const struct ek_control *c, const struct ek_finding *f)
{
    const struct ek_control_setup *s = &c->setup;
    struct ek_decision d = decide(c, f);
    const struct ek_rollout *r = ek_control_rollout(c, f->feature, f->cell);
    bool acts = d.wanted && d.mode >= EK_MODE_CANARY;
    bool wanted = ek_plan_has(&c->wanted, f->feature, f->cell);
    if (acts && wanted && r && r->withdrawn != EK_RAIL_NONE)
        d.mode = EK_MODE_OBSERVE;
    const struct ek_plan_entry *entry = ek_plan_entry_at(&c->wanted, f->feature, f->cell);
    d.stays = f->state == EK_RECOVERED && entry && ek_plan_awaits(entry);
    d.paused = acts && c->paused;
    if (d.paused)
        d.mode = EK_MODE_OBSERVE;
    if (!acts || c->paused || ek_plan_has(ek_control_plan(c), f->feature, f->cell))
        return d;
    if (!wanted && !ek_plan_has_room(&c->wanted, f->feature, f->cell))
        d.limited = EK_BOUND_PLAN;
    else if (wanted && ek_rollout_may_act(r))
        d.limited = bound_of(c->limited);
    if (d.limited != EK_BOUND_NONE && s->rules->on_limit == EK_LIMIT_OBSERVE)
        d.mode = EK_MODE_OBSERVE;
    return d;
}

/* ---------------------------------------------------------------- findings */

/* A factor of a part of the lists undoes nothing in the others. */
static struct ek_repair repair_of(const struct ek_finding *f)
{
    static const double ALL_LISTS = .9;
    bool one = f->class == EK_SCALE && f->query_feature < 0 && f->share >= ALL_LISTS;
    bool by_list = f->class == EK_SCALE && f->query_feature >= 0;
    return (struct ek_repair){one ? f->factor : (double)NAN, by_list ? f->query_feature : -1};
}

/* A fault whose figures waver about a bound lets its route end and asks again: that is the same
 * fault, in which a guardrail's word is final. */
static struct ek_rollout *rollout_for(struct ek_control *c, const struct ek_finding *f,
                                      int64_t time_ms)
{
    struct ek_rollout *r = ek_rollout_find(&c->rollouts, f->feature, f->cell);
    if (r && f->state == EK_UPDATED && f->episode == r->about.episode)
        ek_rollout_take_up(r, time_ms);
    return ek_rollout_begin(&c->rollouts, f->feature, f->cell, c->setup.rules,
                            &ek_control_rule(c, f->feature)->canary, time_ms);
}

static void want(struct ek_control *c, const struct ek_finding *f, struct ek_treatment treatment,
                 int64_t time_ms)
{
    if (!ek_plan_has_room(&c->wanted, f->feature, f->cell)) {
        c->wanted_full = true;
        return;
    }
    double credit;
    ek_control_is_earned(c, f, &credit);
    const struct ek_plan_entry *before = ek_plan_entry_at(&c->wanted, f->feature, f->cell);
    c->retell |= before && ek_plan_awaits(before); /* its fault has come back */
    ek_plan_set(&c->wanted, f->feature, f->cell, treatment, time_ms);
    for (int i = 0; i < c->wanted.count; i++)
        if (c->wanted.entry[i].feature == f->feature && c->wanted.entry[i].cell == f->cell)
            c->wanted.entry[i].repair = repair_of(f);
    struct ek_rollout *r = rollout_for(c, f, time_ms);
    if (!r)
        return;
    r->credit = credit;
    r->about = (struct ek_rollout_about){f->episode,    f->class,       f->factor,
                                         f->factor_low, f->factor_high, f->share};
}

static void let_end(struct ek_control *c, const struct ek_finding *f, int64_t time_ms)
{
    const struct ek_rollout *r = ek_control_rollout(c, f->feature, f->cell);
    int64_t hold_ms = r ? ek_rollout_hold_ms(r, c->setup.rules) : c->setup.rules->hold_ms;
    int64_t earned_ms = ek_control_earned_ms(c, f, time_ms);
    ek_plan_end(&c->wanted, f->feature, f->cell, time_ms,
                earned_ms < hold_ms ? earned_ms : hold_ms);
}

/* Whether the route of a finding does anything; while all is paused, whether it did before. Where
 * nobody knows what was in force then, the rules say what would have been. */
static bool does_something(const struct ek_control *c, int feature, int cell)
{
    const struct ek_plan *p = c->paused ? &c->before : ek_control_plan(c);
    const struct ek_plan_entry *e = ek_plan_entry_at(p, feature, cell);
    if (c->paused && !p->count)
        return ek_control_mode_of(c, feature, cell) != EK_MODE_OBSERVE;
    return e && e->by == EK_BY_FINDING && e->mode != EK_MODE_OBSERVE;
}

/* Its fault is gone. With `recover: manual` what acts goes on until a person ends it. */
static void recover(struct ek_control *c, const struct ek_finding *f, int64_t time_ms)
{
    bool acts = does_something(c, f->feature, f->cell);
    if (c->setup.rules->recover_auto || !acts) {
        let_end(c, f, time_ms);
        return;
    }
    ek_plan_await(&c->wanted, f->feature, f->cell);
    c->retell = true;
}

void ek_control_found(struct ek_control *c, const struct ek_finding *f, int64_t time_ms)
{
    struct ek_decision d;
    switch (f->state) {
    case EK_CONFIRMED:
    case EK_UPDATED:
        d = decide(c, f);
        if (d.wanted)
            want(c, f, d.treatment, time_ms);
        else /* a figure that wavers about a bound makes no plan that does */
            let_end(c, f, time_ms);
        break;
    case EK_DISMISSED: /* one that was never confirmed takes no earlier one's hold away */
        if (f->class != EK_CLASS_NONE)
            ek_plan_remove(&c->wanted, f->feature, f->cell);
        break;
    case EK_RECOVERED:
        recover(c, f, time_ms);
        break;
    case EK_SUSPECTED:
        return;
    }
    c->stale = true;
}

void ek_control_forget(struct ek_control *c, int cell)
{
    int kept = 0;
    for (int i = 0; i < c->before.count; i++)
        if (c->before.entry[i].cell != cell)
            c->before.entry[kept++] = c->before.entry[i];
    c->before.count = kept;
    ek_rollouts_forget(&c->rollouts, cell);
}

void ek_control_begin_at(struct ek_control *c, uint64_t version)
{
    ek_control_now(c)->version = version;
}

/* --------------------------------------------------- what a plan is made of */

/* The cells in use, to who gives them away. */
void ek_control_keep(struct ek_control *c)
{
    const struct ek_plan *const plan[] = {&c->wanted, ek_control_plan(c), &c->before};
    int cells = 0;
    memset(c->held, 0, sizeof c->held);
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < plan[p]->count; i++)
            c->held[plan[p]->entry[i].cell] = 1;
    for (int i = 0; i < plan[1]->modes; i++)
        c->held[plan[1]->mode[i].cell] = 1;
    for (int i = 0; i < c->modes; i++)
        c->held[c->mode[i].cell] = 1;
    ek_control_pins_hold(c, c->held);
    for (int cell = 0; cell <= INT16_MAX; cell++)
        cells = c->held[cell] ? cell + 1 : cells;
    if (c->setup.cells.keep)
        c->setup.cells.keep(c->setup.cells.context, c->held, cells);
}

/* What the rules say of the lists of some values. Where one has no cell, the whole feature is left
 * alone: nobody could tell its lists from others. */
static bool put_modes(struct ek_control *c, int feature, const struct ek_feature_rule *said,
                      bool own)
{
    const struct ek_control_cells *cells = &c->setup.cells;
    for (int i = 0; i < said->mode_in_count; i++) {
        const struct ek_mode_in *in = &said->mode_in[i];
        int cell = -1;
        if (c->modes < EK_PLAN_MODES_MAX && cells->give)
            cell = cells->give(cells->context, in->dimension, in->value);
        c->no_memory |= cell < -1;
        if (cell < 0)
            return false;
        c->mode[c->modes++] = (struct ek_plan_mode){feature, cell, in->mode, own};
        if (!c->held[cell])
            ek_control_keep(c); /* the next value must not take it */
    }
    return true;
}

/* Words for the lists of values, of the features that something is wanted for. */
static void find_modes(struct ek_control *c)
{
    const struct ek_rules *rules = c->setup.rules;
    c->modes = 0;
    c->modes_full = c->no_memory = false;
    memset(c->apart, 0, sizeof c->apart);
    for (int i = 0; i < c->wanted.count; i++) {
        int feature = c->wanted.entry[i].feature, before = c->modes;
        const struct ek_feature_rule *rule = ek_control_rule(c, feature);
        bool known = c->apart[feature] != EK_APART_NEW;
        bool placed =
            known || (put_modes(c, feature, rule, true) &&
                      (rule->mode_said || put_modes(c, feature, &rules->defaults, false)));
        if (known)
            continue;
        c->apart[feature] = placed ? EK_APART_NO : EK_APART_YES;
        c->modes = placed ? c->modes : before;
        c->modes_full |= !placed && !c->no_memory;
    }
}

static enum ek_mode mode_of(void *context, int feature, int cell)
{
    const struct ek_control *c = context;
    return c->apart[feature] == EK_APART_YES ? EK_MODE_OBSERVE
                                             : ek_control_mode_of(c, feature, cell);
}

static int dimension_of(void *context, int cell)
{
    const struct ek_control_cells *cells = &((struct ek_control *)context)->setup.cells;
    return cells->dimension_of(cells->context, cell);
}

static double share_of(void *context, const int *cell, int count)
{
    const struct ek_control_cells *cells = &((struct ek_control *)context)->setup.cells;
    return cells->share_of(cells->context, cell, count);
}

/* ------------------------------------------------------------------ limits */

/* Whether what was exceeded is so no longer, for a hold. */
static bool is_free(const struct ek_control *c, int64_t time_ms)
{
    return c->limited == EK_EXCEEDS_NONE ||
           (c->free_ms >= 0 &&
            (time_ms < c->free_ms || time_ms - c->free_ms >= c->setup.rules->hold_ms));
}

/* A trip is when a limit begins to hold; it is the same one until a hold after nothing was exceeded
 * any more. */
static void note_limit(struct ek_control *c, const struct ek_composed *out, bool was,
                       int64_t time_ms)
{
    bool full = out->limited == EK_EXCEEDS_PLAN || c->modes_full;
    bool exceeds = out->limited != EK_EXCEEDS_NONE && out->limited != EK_EXCEEDS_PLAN;
    if (exceeds && !was)
        c->tripped = bound_of(out->limited);
    if (exceeds)
        c->limited = out->limited;
    else if (!was)
        c->limited = EK_EXCEEDS_NONE;
    if (exceeds || !was)
        c->free_ms = -1;
    else if (c->free_ms < 0)
        c->free_ms = time_ms;
    if ((full && !c->was_full) || c->wanted_full)
        c->tripped = c->tripped ? c->tripped : EK_BOUND_PLAN;
    c->was_full = full;
    c->wanted_full = false;
}

/* ----------------------------------------------------------------- settling */

/* Takes out what has ended. */
static void expire(struct ek_control *c, int64_t time_ms)
{
    if (c->wanted.count && ek_plan_expire(&c->wanted, time_ms))
        c->stale = true;
    if (c->spent && ek_control_end_spent(c))
        c->stale = true;
}

static bool is_due(const struct ek_control *c, int64_t time_ms, uint64_t query)
{
    bool moves = limits_share(c) || c->was_full;
    bool again = moves && c->wanted.count && query % AGAIN_LISTS == 0;
    bool freed = c->limited != EK_EXCEEDS_NONE && is_free(c, time_ms);
    return c->stale || (!c->paused && (again || freed)) || ek_control_pins_due(c, time_ms);
}

static void compose(struct ek_control *c, int64_t time_ms, struct ek_composed *out)
{
    bool was = !is_free(c, time_ms);
    ek_control_follow_wanted(c, time_ms);
    find_modes(c);
    if (c->reach && !c->paused) {
        ek_reach_clear(c->reach);
        c->setup.cells.each_list(c->setup.cells.context, c->reach);
    }
    struct ek_composing composing = {.rules = c->setup.rules,
                                     .wanted = &c->wanted,
                                     .rollouts = &c->rollouts,
                                     .pin = c->pinned,
                                     .pins = ek_control_pins_of(c, time_ms),
                                     .mode = c->mode,
                                     .modes = c->modes,
                                     .paused = c->paused,
                                     .was_limited = was,
                                     .mode_of = mode_of,
                                     .dimension_of = dimension_of,
                                     .share_of = limits_share(c) ? share_of : NULL,
                                     .reach = c->reach,
                                     .context = c};
    ek_plan_compose(&c->plan[!c->now], ek_control_plan(c), &composing, out);
    if (out->changed && c->plan[!c->now].version <= c->above)
        c->plan[!c->now].version = c->above + 1;
    if (!c->paused)
        note_limit(c, out, was, time_ms);
    c->now = !c->now;
    c->above = 0;
    c->stale = c->no_memory; /* then it is tried again with the next list */
    ek_control_keep(c);
}

int ek_control_settle(struct ek_control *c, int64_t time_ms, uint64_t query, bool *changed)
{
    struct ek_composed composed;
    *changed = false;
    c->tripped = EK_BOUND_NONE;
    expire(c, time_ms);
    if (ek_control_look(c, time_ms, query))
        c->stale = true;
    if (!is_due(c, time_ms, query))
        return EK_OK;
    compose(c, time_ms, &composed);
    *changed = composed.changed || c->retell;
    c->retell = false;
    const struct ek_plan *was = &c->plan[!c->now];
    int told = ek_control_tell(c, was, &composed, time_ms, query);
    int ended = ek_control_pins_end(c, time_ms, query, was->version);
    if (c->no_memory)
        return EK_ENOMEM;
    return told ? told : ended;
}
