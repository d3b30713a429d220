#include "fleet/finding_diff.h"

#include "base/alloc.h"
#include "fleet/evidence_report.h"

#include <math.h>
#include <string.h>

static const char SIGNAL[] = "fleet"; /* instances do not know the test that raised the alarm */

struct ek_finding_diff {
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    struct ek_record_order order;
    struct ek_open_findings known;
    int next;                  /* first finding that may have an event */
    uint64_t normal, previous; /* levels version of the last two records */
};

int ek_finding_diff_new(struct ek_finding_diff **out, const struct ek_manifest *m,
                        const struct ek_rules *rules)
{
    struct ek_finding_diff *n = ek_calloc(1, sizeof *n);
    if (!n)
        return EK_ENOMEM;
    n->manifest = m;
    n->rules = rules;
    *out = n;
    return EK_OK;
}

void ek_finding_diff_free(struct ek_finding_diff *n)
{
    if (!n)
        return;
    ek_open_findings_release(&n->known);
    ek_free(n);
}

static struct ek_open_finding *find(struct ek_finding_diff *n, uint32_t episode)
{
    for (int i = 0; i < n->known.count; i++)
        if (n->known.item[i].f.episode == episode)
            return &n->known.item[i];
    return NULL;
}

static int add(struct ek_finding_diff *n, const struct ek_fleet_cell *cell,
               const struct ek_finding *f, struct ek_open_finding **out)
{
    struct ek_open_finding *one = ek_open_findings_add(&n->known, f);
    if (!one)
        return EK_ENOMEM;
    if (cell->dimension.text)
        one->dimension = ek_strndup(cell->dimension.text, cell->dimension.length);
    if (cell->value.text)
        one->value = ek_strndup(cell->value.text, cell->value.length);
    if (!one->dimension != !cell->dimension.text || !one->value != !cell->value.text) {
        ek_open_findings_remove(&n->known, one);
        return EK_ENOMEM;
    }
    *out = one;
    return EK_OK;
}

/* Return whether an update must be reported. */
static bool differs(const struct ek_finding *reported, const struct ek_finding *now)
{
    if (now->class != reported->class || now->query_feature != reported->query_feature ||
        ek_finding_get_flags(now) != ek_finding_get_flags(reported) ||
        isnan(now->factor) != isnan(reported->factor))
        return true;
    return now->factor < reported->factor_low || now->factor > reported->factor_high;
}

static void store_finding(struct ek_finding_diff *n, struct ek_open_finding *k,
                          const struct ek_finding *f)
{
    k->f = *f;
    k->f.cell = -1;
    k->f.signal = SIGNAL;
    k->f.dimension = k->dimension;
    k->f.value = k->value;
    ek_fleet_finding_match_units(&k->f, n->rules, n->manifest);
}

static int apply_finding(void *context, const struct ek_fleet_cell *cell,
                         const struct ek_finding *f)
{
    struct ek_finding_diff *n = context;
    struct ek_open_finding *k = find(n, f->episode);
    int rc = k || f->feature < 0 ? EK_OK : add(n, cell, f, &k);
    if (rc || !k)
        return rc;
    k->present = true;
    if (k->reported && !differs(&k->f, f))
        return EK_OK;
    store_finding(n, k, f);
    k->changed = true;
    return EK_OK;
}

static int apply_normal(void *context, uint64_t version, uint64_t profile)
{
    (void)profile;
    struct ek_finding_diff *n = context;
    n->previous = n->normal;
    n->normal = version;
    return EK_OK;
}

static bool is_at(const struct ek_open_finding *k, const struct ek_fleet_place *p, int feature)
{
    return k->f.feature == feature && ek_text_same(ek_text_from(k->dimension), p->cell.dimension) &&
           ek_text_same(ek_text_from(k->value), p->cell.value);
}

static int apply_accepted(void *context, const struct ek_fleet_accept *a)
{
    struct ek_finding_diff *n = context;
    int feature = ek_manifest_find_watched(n->manifest, a->place.feature);
    for (int i = 0; a->version > n->previous && i < n->known.count; i++)
        n->known.item[i].accepted |= is_at(&n->known.item[i], &a->place, feature);
    return EK_OK;
}

/* Remove findings that are reported as ended. */
static void sweep(struct ek_finding_diff *n)
{
    for (int i = n->known.count - 1; i >= 0; i--)
        if (!n->known.item[i].present && !n->known.item[i].changed)
            ek_open_findings_remove(&n->known, &n->known.item[i]);
}

int ek_finding_diff_apply(struct ek_finding_diff *n, const void *bytes, size_t length,
                          struct ek_error *e)
{
    const struct ek_fleet_plan_visitor callbacks = {
        .context = n, .normal = apply_normal, .accepted = apply_accepted, .finding = apply_finding};
    struct ek_fleet_plan record;
    int rc = ek_fleet_plan_open(&record, bytes, length, n->manifest, e);
    if (rc || ek_record_order_check(&n->order, &record.head) == EK_FLEET_VOID)
        return rc;
    sweep(n);
    for (int i = 0; i < n->known.count; i++)
        n->known.item[i].present = n->known.item[i].accepted = false;
    n->next = 0;
    if (ek_fleet_plan_visit(&record, &callbacks))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < n->known.count; i++)
        n->known.item[i].changed |= !n->known.item[i].present;
    return EK_OK;
}

/* A finding that ended before it was ever reported has no event. */
static bool is_changed(const struct ek_open_finding *k)
{
    return k->changed && (k->present || k->reported);
}

int ek_finding_diff_next(struct ek_finding_diff *n, struct ek_finding *out)
{
    while (n->next < n->known.count && !is_changed(&n->known.item[n->next]))
        n->next++;
    if (n->next == n->known.count)
        return 0;
    struct ek_open_finding *k = &n->known.item[n->next];
    *out = k->f;
    if (!k->present && k->accepted) {
        out->state = EK_DISMISSED;
        out->reason = ek_finding_accepted();
    } else if (!k->present)
        out->state = ek_open_findings_is_handed_over(&n->known, k) ? EK_DISMISSED : EK_RECOVERED;
    else
        out->state = k->reported ? EK_UPDATED : EK_CONFIRMED;
    k->reported = true;
    k->changed = false;
    n->next++;
    return 1;
}

bool ek_finding_diff_has(const struct ek_finding_diff *n, const char *feature,
                         const char *dimension, const char *value)
{
    int item = ek_manifest_find_watched(n->manifest, ek_text_from(feature));
    for (int i = 0; i < n->known.count; i++) {
        const struct ek_open_finding *k = &n->known.item[i];
        if (k->present && k->f.feature == item &&
            ek_text_same(ek_text_from(k->dimension), ek_text_from(dimension)) &&
            ek_text_same(ek_text_from(k->value), ek_text_from(value)))
            return true;
    }
    return false;
}

int ek_finding_diff_members(const struct ek_finding_diff *n, uint32_t cause, int *features,
                            int most)
{
    int count = 0;
    for (int f = 0; f < n->manifest->watched_count && count < most; f++)
        for (int i = 0; i < n->known.count; i++) {
            const struct ek_open_finding *k = &n->known.item[i];
            if (!k->present || k->f.feature != f || k->f.cause != cause)
                continue;
            features[count++] = f;
            break;
        }
    return count;
}
