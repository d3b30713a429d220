#include "fleet/fleet_news.h"

#include "base/alloc.h"
#include "fleet/fleet_finding.h"

#include <math.h>
#include <string.h>

static const char SIGNAL[] = "fleet"; /* an instance does not know which bet it was */

struct known {
    struct ek_finding f; /* as it was told */
    char *dimension, *value;
    bool told, there; /* somebody was told; in the newest record */
    bool accepted;    /* it is normal since then */
    bool changed;
};

struct ek_fleet_news {
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    struct ek_fleet_order order;
    struct known *known; /* by age */
    int count, room;
    int next;               /* that may have something to tell */
    uint64_t normal, heard; /* version of what is normal by the last record, and the one before */
};

int ek_fleet_news_new(struct ek_fleet_news **out, const struct ek_manifest *m,
                      const struct ek_rules *rules)
{
    struct ek_fleet_news *n = ek_calloc(1, sizeof *n);
    if (!n)
        return EK_ENOMEM;
    n->manifest = m;
    n->rules = rules;
    *out = n;
    return EK_OK;
}

static void forget(struct known *k)
{
    ek_free(k->dimension);
    ek_free(k->value);
}

void ek_fleet_news_free(struct ek_fleet_news *n)
{
    if (!n)
        return;
    for (int i = 0; i < n->count; i++)
        forget(&n->known[i]);
    ek_free(n->known);
    ek_free(n);
}

static struct known *find(struct ek_fleet_news *n, uint32_t episode)
{
    for (int i = 0; i < n->count; i++)
        if (n->known[i].f.episode == episode)
            return &n->known[i];
    return NULL;
}

static int grow(struct ek_fleet_news *n)
{
    int room = n->room ? 2 * n->room : 8;
    if (n->count < n->room)
        return EK_OK;
    struct known *more = ek_realloc(n->known, (size_t)room, sizeof *more);
    if (!more)
        return EK_ENOMEM;
    n->known = more;
    n->room = room;
    return EK_OK;
}

static int add(struct ek_fleet_news *n, const struct ek_fleet_cell *cell, struct known **out)
{
    struct known one = {.there = true};
    if (grow(n))
        return EK_ENOMEM;
    if (cell->dimension.text)
        one.dimension = ek_strndup(cell->dimension.text, cell->dimension.length);
    if (cell->value.text)
        one.value = ek_strndup(cell->value.text, cell->value.length);
    if (!one.dimension != !cell->dimension.text || !one.value != !cell->value.text) {
        forget(&one);
        return EK_ENOMEM;
    }
    n->known[n->count] = one;
    *out = &n->known[n->count++];
    return EK_OK;
}

/* Whether it is worth a word that the finding is this now. */
static bool differs(const struct ek_finding *told, const struct ek_finding *now)
{
    if (now->class != told->class || now->query_feature != told->query_feature ||
        now->fewer != told->fewer || now->passing != told->passing ||
        isnan(now->factor) != isnan(told->factor))
        return true;
    return now->factor < told->factor_low || now->factor > told->factor_high;
}

static void hold(struct ek_fleet_news *n, struct known *k, const struct ek_finding *f)
{
    k->f = *f;
    k->f.cell = -1;
    k->f.signal = SIGNAL;
    k->f.dimension = k->dimension;
    k->f.value = k->value;
    ek_fleet_finding_match_units(&k->f, n->rules, n->manifest);
}

static int take_finding(void *context, const struct ek_fleet_cell *cell, const struct ek_finding *f)
{
    struct ek_fleet_news *n = context;
    struct known *k = find(n, f->episode);
    int rc = k || f->feature < 0 ? EK_OK : add(n, cell, &k);
    if (rc || !k)
        return rc;
    k->there = true;
    if (k->told && !differs(&k->f, f))
        return EK_OK;
    hold(n, k, f);
    k->changed = true;
    return EK_OK;
}

static int take_normal(void *context, uint64_t version, uint64_t profile)
{
    (void)profile;
    struct ek_fleet_news *n = context;
    n->heard = n->normal;
    n->normal = version;
    return EK_OK;
}

static bool is_at(const struct known *k, const struct ek_fleet_place *p, int feature)
{
    return k->f.feature == feature && ek_text_same(ek_text_of(k->dimension), p->cell.dimension) &&
           ek_text_same(ek_text_of(k->value), p->cell.value);
}

static int take_accepted(void *context, const struct ek_fleet_accept *a)
{
    struct ek_fleet_news *n = context;
    int feature = ek_manifest_find_item(n->manifest, a->place.feature);
    for (int i = 0; a->version > n->heard && i < n->count; i++)
        n->known[i].accepted |= is_at(&n->known[i], &a->place, feature);
    return EK_OK;
}

/* Those that were told to be gone. */
static void sweep(struct ek_fleet_news *n)
{
    int kept = 0;
    for (int i = 0; i < n->count; i++) {
        if (!n->known[i].there && !n->known[i].changed) {
            forget(&n->known[i]);
            continue;
        }
        n->known[kept++] = n->known[i];
    }
    n->count = kept;
}

int ek_fleet_news_take(struct ek_fleet_news *n, const void *bytes, size_t length,
                       struct ek_error *e)
{
    const struct ek_fleet_plan_hears hears = {
        .context = n, .normal = take_normal, .accepted = take_accepted, .finding = take_finding};
    struct ek_fleet_plan record;
    int rc = ek_fleet_plan_open(&record, bytes, length, n->manifest, e);
    if (rc || ek_fleet_order_take(&n->order, &record.head) == EK_FLEET_VOID)
        return rc;
    sweep(n);
    for (int i = 0; i < n->count; i++)
        n->known[i].there = n->known[i].accepted = false;
    n->next = 0;
    if (ek_fleet_plan_tell(&record, &hears))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < n->count; i++)
        n->known[i].changed |= !n->known[i].there;
    return EK_OK;
}

/* Whether one that came later says the same of another cell. */
static bool is_handed_over(const struct ek_fleet_news *n, int gone)
{
    for (int i = gone + 1; i < n->count; i++)
        if (n->known[i].there && n->known[i].f.feature == n->known[gone].f.feature)
            return true;
    return false;
}

/* What came and went before anybody asked is none. */
static bool is_news(const struct known *k)
{
    return k->changed && (k->there || k->told);
}

int ek_fleet_news_next(struct ek_fleet_news *n, struct ek_finding *out)
{
    while (n->next < n->count && !is_news(&n->known[n->next]))
        n->next++;
    if (n->next == n->count)
        return 0;
    struct known *k = &n->known[n->next];
    *out = k->f;
    if (!k->there && k->accepted) {
        out->state = EK_DISMISSED;
        out->reason = ek_finding_accepted();
    } else if (!k->there)
        out->state = is_handed_over(n, n->next) ? EK_DISMISSED : EK_RECOVERED;
    else
        out->state = k->told ? EK_UPDATED : EK_CONFIRMED;
    k->told = true;
    k->changed = false;
    n->next++;
    return 1;
}
