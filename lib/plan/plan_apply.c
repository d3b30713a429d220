/* What a plan has for a list, and whether two plans have the same for every list. */
#include "plan/plan.h"

#include <string.h>

/* The entries that count for a list, one of each feature. */
struct winners {
    int count;
    struct {
        int16_t entry, place; /* place of its cell among the list's */
    } of[EK_PLAN_MAX];
};

static int place_of(const struct ek_plan_list *l, int cell)
{
    for (int c = 0; c < l->cell_count; c++)
        if (l->cells[c] == cell)
            return c;
    return -1;
}

static bool is_pin(const struct ek_plan_entry *e)
{
    return e->by != EK_BY_FINDING;
}

static bool treats(enum ek_action a)
{
    return a != EK_ACT_NONE && a != EK_ACT_ALERT;
}

/* Whether an entry counts before the one that has counted so far. */
static bool beats(const struct ek_plan *p, const struct winners *w, int at, int entry, int place)
{
    bool pin = is_pin(&p->entry[entry]), was = is_pin(&p->entry[w->of[at].entry]);
    return pin == was ? place > w->of[at].place : pin;
}

static void enter(const struct ek_plan *p, struct winners *w, int entry, int place)
{
    int at = 0;
    while (at < w->count && p->entry[w->of[at].entry].feature != p->entry[entry].feature)
        at++;
    if (at < w->count && !beats(p, w, at, entry, place))
        return;
    w->count += at == w->count;
    w->of[at].entry = (int16_t)entry;
    w->of[at].place = (int16_t)place;
}

static void find_winners(const struct ek_plan *p, const struct ek_plan_list *l,
                         const int *routable_of_item, struct winners *w)
{
    w->count = 0;
    for (int i = 0; i < p->count; i++) {
        const struct ek_plan_entry *e = &p->entry[i];
        int place = place_of(l, e->cell);
        bool able = l->sources || e->treatment.action != EK_ACT_ROUTE_SOURCE;
        if (place >= 0 && able && routable_of_item[e->feature] >= 0)
            enter(p, w, i, place);
    }
}

static enum ek_mode mode_for(const struct ek_plan *p, const struct ek_plan_list *l,
                             const struct ek_plan_entry *e)
{
    enum ek_mode mode = e->mode;
    int level = -1; /* of what said it: the entry, `defaults`, the feature */
    for (int i = 0; i < p->modes && !is_pin(e); i++) {
        const struct ek_plan_mode *m = &p->mode[i];
        if (m->feature != e->feature || m->own < level || place_of(l, m->cell) < 0)
            continue;
        if (m->own > level || m->mode < mode)
            mode = m->mode;
        level = m->own;
    }
    return mode;
}

/* Takes one entry into the routing of a list, with the mode it has for it. */
static void route(const struct ek_plan_entry *e, int entry, enum ek_mode mode, int bucket, int k,
                  struct ek_plan_routing *out)
{
    if (mode == EK_MODE_OBSERVE || !treats(e->treatment.action))
        return;
    bool acts = mode == EK_MODE_ENFORCE || (mode == EK_MODE_CANARY && bucket < e->percent);
    enum ek_word word = mode == EK_MODE_SHADOW   ? EK_WORD_SHADOW
                        : !acts                  ? EK_WORD_PASS
                        : mode == EK_MODE_CANARY ? EK_WORD_CANARY
                                                 : EK_WORD_ROUTED;
    out->would[k] = e->treatment;
    out->wanted++;
    if (acts)
        out->acts[k] = e->treatment;
    out->acted += acts;
    out->word = word > out->word ? word : out->word;
    out->reach[entry / 64] |= (uint64_t)1 << (entry % 64);
    if (out->entries < EK_ROUTING_ENTRIES)
        out->entry[out->entries++] = (int16_t)entry;
}

/* Of pins, or of what findings ask for. The latter come first: their guardrails and canaries go by
 * what becomes of the list, and only the first entries are remembered. */
static void route_all(const struct ek_plan *p, const struct ek_plan_list *list,
                      const struct winners *w, bool pins, const int *routable_of_item,
                      struct ek_plan_routing *out)
{
    for (int i = 0; i < w->count; i++) {
        const struct ek_plan_entry *e = &p->entry[w->of[i].entry];
        if (is_pin(e) == pins)
            route(e, w->of[i].entry, mode_for(p, list, e), list->bucket,
                  routable_of_item[e->feature], out);
    }
}

void ek_plan_apply(const struct ek_plan *p, const struct ek_plan_list *list,
                   const int *routable_of_item, int routables, struct ek_plan_routing *out)
{
    struct winners w;
    out->acted = out->wanted = out->entries = 0;
    out->word = p->paused ? EK_WORD_PAUSED : EK_WORD_PASS;
    if (!p->count)
        return;
    memset(out->reach, 0, sizeof out->reach);
    memset(out->acts, 0, (size_t)routables * sizeof *out->acts);
    memset(out->would, 0, (size_t)routables * sizeof *out->would);
    find_winners(p, list, routable_of_item, &w);
    route_all(p, list, &w, false, routable_of_item, out);
    route_all(p, list, &w, true, routable_of_item, out);
}

static bool same_entry(const struct ek_plan_entry *a, const struct ek_plan_entry *b)
{
    return a->feature == b->feature && a->cell == b->cell &&
           a->treatment.action == b->treatment.action && a->mode == b->mode &&
           a->percent == b->percent && is_pin(a) == is_pin(b);
}

static bool same_mode(const struct ek_plan_mode *a, const struct ek_plan_mode *b)
{
    return a->feature == b->feature && a->cell == b->cell && a->mode == b->mode && a->own == b->own;
}

/* Order does not count; where it is the same, this is one pass. */
static bool has_entry(const struct ek_plan *p, const struct ek_plan_entry *e, int guess)
{
    bool found = same_entry(&p->entry[guess], e);
    for (int i = 0; i < p->count && !found; i++)
        found = same_entry(&p->entry[i], e);
    return found;
}

static bool has_mode(const struct ek_plan *p, const struct ek_plan_mode *m, int guess)
{
    bool found = same_mode(&p->mode[guess], m);
    for (int i = 0; i < p->modes && !found; i++)
        found = same_mode(&p->mode[i], m);
    return found;
}

bool ek_plan_same(const struct ek_plan *a, const struct ek_plan *b)
{
    bool same = a->paused == b->paused && a->count == b->count && a->modes == b->modes;
    for (int i = 0; i < a->count && same; i++)
        same = has_entry(b, &a->entry[i], i);
    for (int i = 0; i < a->modes && same; i++)
        same = has_mode(b, &a->mode[i], i);
    return same;
}
