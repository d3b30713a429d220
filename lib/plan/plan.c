/* Treatment of a list under a plan, and comparison of plans. */
#include "plan/plan.h"

#include "schema/manifest.h"

#include <math.h>
#include <string.h>

/* Return the modes up to m as a set. */
static unsigned up_to(enum ek_mode m)
{
    return 2 * ek_mode_bit(m) - 1;
}

/* Return whether a list can be in both cells. */
static bool meet(const struct ek_plan_outcomes *w, int a, int b)
{
    return a == b || w->dimension_of(w->context, a) != w->dimension_of(w->context, b);
}

static const struct ek_plan_mode *mode_at(const struct ek_plan_outcomes *w, int feature, int cell,
                                          bool own)
{
    for (int i = 0; i < w->modes; i++)
        if (w->mode[i].feature == feature && w->mode[i].cell == cell && w->mode[i].own == own)
            return &w->mode[i];
    return NULL;
}

/* Return the modes that lists of a cell can get from one level of rules. `above`: modes of lists
 * that this level does not cover. */
static unsigned modes_of_level(const struct ek_plan_outcomes *w, int feature, int cell, bool own,
                               unsigned above)
{
    const struct ek_plan_mode *here = mode_at(w, feature, cell, own);
    unsigned modes = here ? ek_mode_bit(here->mode) : above, most = here ? up_to(here->mode) : ~0u;
    for (int i = 0; i < w->modes; i++) {
        const struct ek_plan_mode *m = &w->mode[i];
        bool counts = m->feature == feature && m->own == own && meet(w, m->cell, cell);
        if (counts && (own || !mode_at(w, feature, m->cell, true)))
            modes |= ek_mode_bit(m->mode) & most; /* of two modes the more careful one applies */
    }
    return modes;
}

unsigned ek_plan_get_modes(const struct ek_plan_outcomes *w, int feature, int cell,
                           enum ek_mode mode)
{
    unsigned of_defaults = modes_of_level(w, feature, cell, false, ek_mode_bit(mode));
    return modes_of_level(w, feature, cell, true, of_defaults);
}

const char *ek_plan_source_name(enum ek_plan_source by)
{
    static const char *const names[EK_PLAN_SOURCE_COUNT] = {"finding", "operator", "rules"};
    return names[by];
}

const char *ek_repair_by_name(enum ek_repair_by by)
{
    static const char *const names[EK_REPAIR_COUNT] = {
        "unknown", "number", "list",    "item", "level", "query_feature", "power",
        "offset",  "sign",   "missing", "zero", "all",   "blank"};
    return names[by];
}

const char *ek_list_outcome_name(enum ek_list_outcome w)
{
    static const char *const names[] = {"pass",   "shadow",   "canary",     "routed",
                                        "paused", "repaired", "undecodable"};
    return names[w];
}

struct ek_plan_entry ek_plan_entry_init(int feature, int cell, struct ek_treatment treatment)
{
    return (struct ek_plan_entry){.feature = feature,
                                  .cell = cell,
                                  .treatment = treatment,
                                  .mode = EK_MODE_ENFORCE,
                                  .percent = EK_PERCENT_WHOLE,
                                  .by = EK_BY_FINDING,
                                  .repair = {.factor = NAN, .query_feature = -1},
                                  .until_ms = -1};
}

struct ek_plan_repair ek_plan_entry_repair(const struct ek_plan_entry *e)
{
    struct ek_plan_repair r = e->repair;
    if (r.by == EK_REPAIR_UNKNOWN && e->treatment.action == EK_ACT_BLANK)
        r.by = EK_REPAIR_BLANK;
    else if (r.by == EK_REPAIR_UNKNOWN && e->treatment.action == EK_ACT_FILL)
        r.by = EK_REPAIR_MISSING;
    return r;
}

int ek_plan_find(const struct ek_plan *p, int feature, int cell)
{
    for (int i = 0; i < p->count; i++)
        if (p->entry[i].feature == feature && p->entry[i].cell == cell)
            return i;
    return -1;
}

static struct ek_plan_entry *find(struct ek_plan *p, int feature, int cell)
{
    int i = ek_plan_find(p, feature, cell);
    return i < 0 ? NULL : &p->entry[i];
}

int ek_plan_set(struct ek_plan *p, int feature, int cell, struct ek_treatment treatment,
                int64_t now_ms)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (found) {
        int changed = found->treatment.action != treatment.action;
        found->treatment = treatment;
        found->until_ms = -1;
        p->version += (uint64_t)changed;
        return changed;
    }
    if (p->count == EK_PLAN_MAX)
        return 0;
    found = &p->entry[p->count++];
    *found = ek_plan_entry_init(feature, cell, treatment);
    found->since_ms = now_ms;
    p->version++;
    return 1;
}

int ek_plan_has(const struct ek_plan *p, int feature, int cell)
{
    return ek_plan_find(p, feature, cell) >= 0;
}

const struct ek_plan_entry *ek_plan_entry_at(const struct ek_plan *p, int feature, int cell)
{
    return find((struct ek_plan *)p, feature, cell);
}

void ek_plan_await(struct ek_plan *p, int feature, int cell)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (found)
        found->until_ms = found->min_duration_ms = EK_PLAN_AWAITS_MS;
}

int ek_plan_has_space(const struct ek_plan *p, int feature, int cell)
{
    return p->count < EK_PLAN_MAX || ek_plan_has(p, feature, cell);
}

static void remove_entry(struct ek_plan *p, struct ek_plan_entry *entry)
{
    size_t behind = (size_t)(p->entry + p->count - (entry + 1));
    memmove(entry, entry + 1, behind * sizeof *entry);
    p->count--;
    p->version++;
}

int ek_plan_remove(struct ek_plan *p, int feature, int cell)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (found)
        remove_entry(p, found);
    return found != NULL;
}

/* Add without overflow. */
static int64_t later(int64_t ms, int64_t by_ms)
{
    return by_ms < INT64_MAX - ms ? ms + by_ms : INT64_MAX;
}

void ek_plan_end(struct ek_plan *p, int feature, int cell, int64_t now_ms, int64_t min_duration_ms)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (!found)
        return;
    int64_t held = later(found->since_ms, min_duration_ms);
    found->until_ms = held > now_ms ? held : now_ms;
    found->min_duration_ms = min_duration_ms;
}

int ek_plan_expire(struct ek_plan *p, int64_t now_ms)
{
    int changed = 0;
    for (int i = p->count - 1; i >= 0; i--) {
        struct ek_plan_entry *entry = &p->entry[i];
        if (entry->until_ms > now_ms && entry->until_ms - now_ms > entry->min_duration_ms)
            entry->until_ms = later(now_ms, entry->min_duration_ms);
        if (entry->until_ms >= 0 && entry->until_ms <= now_ms) {
            remove_entry(p, entry);
            changed = 1;
        }
    }
    return changed;
}

/* Applicable entries of a list, one per feature. */
struct winners {
    int count;
    struct {
        int16_t entry, place; /* index of its cell in the list */
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

/* Return whether an entry takes precedence over the current winner. */
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
        bool able = l->sources || e->treatment.action != EK_ACT_ROUTE_PER_SOURCE;
        if (place >= 0 && able && routable_of_item[e->feature] >= 0)
            enter(p, w, i, place);
    }
}

static enum ek_mode mode_for(const struct ek_plan *p, const struct ek_plan_list *l,
                             const struct ek_plan_entry *e)
{
    enum ek_mode mode = e->mode;
    int level = -1; /* level of `mode`: -1 the entry, 0 `defaults`, 1 the feature */
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

/* Add one entry with its mode to the routing of a list. */
static void route(const struct ek_plan_entry *e, int entry, enum ek_mode mode, int bucket, int k,
                  struct ek_plan_routing *out)
{
    if (mode == EK_MODE_OBSERVE || !ek_action_treats(e->treatment.action))
        return;
    bool acts = mode == EK_MODE_ENFORCE || (mode == EK_MODE_CANARY && bucket < e->percent);
    enum ek_list_outcome word = mode == EK_MODE_SHADOW   ? EK_LIST_SHADOW
                                : !acts                  ? EK_LIST_PASSED
                                : mode == EK_MODE_CANARY ? EK_LIST_CANARY
                                                         : EK_LIST_ROUTED;
    out->would[k] = e->treatment;
    out->desired++;
    if (acts)
        out->acts[k] = e->treatment;
    out->acted += acts;
    out->outcome = word > out->outcome ? word : out->outcome;
    out->reach[entry / 64] |= (uint64_t)1 << (entry % 64);
    if (out->entries < EK_ROUTING_ENTRIES)
        out->entry[out->entries++] = (int16_t)entry;
}

/* Add pins, or entries of findings. The latter must be first: guardrails and canaries need their
 * outcome, and only the first entries are recorded. */
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

void ek_plan_treat(const struct ek_plan *p, const struct ek_plan_list *list,
                   const int *routable_of_item, int routables, struct ek_plan_routing *out)
{
    struct winners w;
    out->acted = out->desired = out->entries = 0;
    out->outcome = p->paused ? EK_LIST_PAUSED : EK_LIST_PASSED;
    if (!p->count)
        return;
    memset(out->reach, 0, sizeof out->reach);
    memset(out->acts, 0, (size_t)routables * sizeof *out->acts);
    memset(out->would, 0, (size_t)routables * sizeof *out->would);
    find_winners(p, list, routable_of_item, &w);
    route_all(p, list, &w, false, routable_of_item, out);
    route_all(p, list, &w, true, routable_of_item, out);
}

static bool same_repair(const struct ek_plan_repair *a, const struct ek_plan_repair *b)
{
    return a->by == b->by && (a->by == EK_REPAIR_UNKNOWN ||
                              (a->query_feature == b->query_feature && a->exact == b->exact &&
                               a->number == b->number && a->scale == b->scale));
}

static bool same_entry(const struct ek_plan_entry *a, const struct ek_plan_entry *b)
{
    return a->feature == b->feature && a->cell == b->cell &&
           a->treatment.action == b->treatment.action && a->mode == b->mode &&
           a->percent == b->percent && is_pin(a) == is_pin(b) &&
           same_repair(&a->repair, &b->repair);
}

static bool same_mode(const struct ek_plan_mode *a, const struct ek_plan_mode *b)
{
    return a->feature == b->feature && a->cell == b->cell && a->mode == b->mode && a->own == b->own;
}

/* Order does not matter. `guess` makes equal order one pass. */
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

enum { WITH_REPAIR = 16 }; /* added to the source of an entry that a repair follows */

void ek_plan_repair_serialize(struct ek_plan_repair *r, struct ek_serialize *s)
{
    int by = (int)r->by, exact = r->exact;
    ek_serialize_int(s, &by, EK_REPAIR_UNKNOWN, EK_REPAIR_COUNT - 1);
    r->by = (enum ek_repair_by)by;
    ek_serialize_int(s, &exact, 0, 1);
    r->exact = exact;
    ek_serialize_f64(s, &r->number);
    ek_serialize_f64(s, &r->scale);
    ek_serialize_require(s, isfinite(r->number) && isfinite(r->scale));
}

static void entry_serialize(struct ek_plan_entry *entry, struct ek_serialize *s, int features,
                            int cells)
{
    int action = (int)entry->treatment.action, mode = (int)entry->mode;
    int by = (int)entry->by | (entry->repair.by == EK_REPAIR_UNKNOWN ? 0 : WITH_REPAIR);
    ek_serialize_int(s, &entry->feature, 0, features - 1);
    ek_serialize_int(s, &entry->cell, 0, cells - 1);
    ek_serialize_int(s, &action, EK_ACT_NONE, EK_ACT_FILL);
    entry->treatment.action = (enum ek_action)action;
    ek_serialize_f64(s, &entry->treatment.value);
    ek_serialize_int(s, &mode, EK_MODE_OBSERVE, EK_MODE_COUNT - 1);
    entry->mode = (enum ek_mode)mode;
    ek_serialize_int(s, &entry->percent, 0, EK_PERCENT_WHOLE);
    ek_serialize_int(s, &by, EK_BY_FINDING, WITH_REPAIR + EK_BY_RULES);
    bool has_repair = by & WITH_REPAIR;
    by &= ~WITH_REPAIR;
    ek_serialize_require(s, by <= EK_BY_RULES);
    entry->by = by <= EK_BY_RULES ? (enum ek_plan_source)by : EK_BY_FINDING;
    ek_serialize_f64(s, &entry->repair.factor);
    ek_serialize_int(s, &entry->repair.query_feature, -1, EK_FEATURES_MAX - 1);
    ek_serialize_i64(s, &entry->since_ms);
    ek_serialize_i64(s, &entry->until_ms);
    ek_serialize_i64(s, &entry->min_duration_ms);
    ek_serialize_require(s, entry->since_ms >= 0 && entry->until_ms >= -1 &&
                                entry->min_duration_ms >= 0);
    if (has_repair)
        ek_plan_repair_serialize(&entry->repair, s);
}

static void mode_serialize(struct ek_plan_mode *m, struct ek_serialize *s, int features, int cells)
{
    int mode = (int)m->mode, own = m->own;
    ek_serialize_int(s, &m->feature, 0, features - 1);
    ek_serialize_int(s, &m->cell, 0, cells - 1);
    ek_serialize_int(s, &mode, EK_MODE_OBSERVE, EK_MODE_COUNT - 1);
    m->mode = (enum ek_mode)mode;
    ek_serialize_int(s, &own, 0, 1);
    m->own = own;
}

void ek_plan_serialize(struct ek_plan *p, struct ek_serialize *s, int features, int cells)
{
    int paused = p->paused;
    ek_serialize_u64(s, &p->version);
    ek_serialize_int(s, &paused, 0, 1);
    p->paused = paused;
    ek_serialize_int(s, &p->count, 0, EK_PLAN_MAX);
    for (int i = 0; i < p->count; i++)
        entry_serialize(&p->entry[i], s, features, cells);
    ek_serialize_int(s, &p->modes, 0, EK_PLAN_MODES_MAX);
    for (int i = 0; i < p->modes; i++)
        mode_serialize(&p->mode[i], s, features, cells);
}
