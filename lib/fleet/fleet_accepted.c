#include "fleet/fleet_accepted.h"

#include "base/alloc.h"
#include "detect/accepted_shift.h"

#include <math.h>
#include <string.h>

static void release(struct ek_fleet_accepted_shift *a)
{
    ek_free(a->author);
    ek_free(a->reason);
    *a = (struct ek_fleet_accepted_shift){0};
}

void ek_fleet_accepted_set_clear(struct ek_fleet_accepted_set *n)
{
    for (int i = 0; i < n->levels.count; i++)
        release(&n->about[i]);
    n->levels.count = 0;
    n->levels.version = 0;
}

static int copy(struct ek_text text, char **out)
{
    *out = text.length ? ek_strndup(text.text, text.length) : NULL;
    return text.length && !*out ? EK_ENOMEM : EK_OK;
}

static int set_comment(struct ek_fleet_accepted_shift *a, int64_t time_ms, struct ek_text author,
                       struct ek_text reason)
{
    *a = (struct ek_fleet_accepted_shift){.time_ms = time_ms};
    int rc = copy(author, &a->author);
    if (!rc)
        rc = copy(reason, &a->reason);
    if (rc)
        release(a);
    return rc;
}

int ek_fleet_accepted_load(struct ek_fleet_accepted_set *n, const struct ek_fleet_accept *a,
                           int feature, int cell)
{
    int i = n->levels.count;
    if (i == EK_LEVEL_OFFSETS_MAX)
        return EK_OK; /* no record has more */
    int rc = set_comment(&n->about[i], a->time_ms, a->author, a->reason);
    if (rc)
        return rc;
    n->levels.one[i] = (struct ek_level_offset){
        .feature = feature, .cell = cell, .shift_ln = a->shift_ln, .version = a->version};
    n->since_ms[i] = a->since_ms;
    n->levels.count++;
    return EK_OK;
}

struct ek_fleet_accept ek_fleet_accepted_set_accept(const struct ek_fleet_accepted_set *n, int i,
                                                    const struct ek_fleet_place *place)
{
    return (struct ek_fleet_accept){.place = *place,
                                    .shift_ln = n->levels.one[i].shift_ln,
                                    .version = n->levels.one[i].version,
                                    .since_ms = n->since_ms[i],
                                    .time_ms = n->about[i].time_ms,
                                    .author = ek_text_from(n->about[i].author),
                                    .reason = ek_text_from(n->about[i].reason)};
}

static struct ek_accept_place names_of(const struct ek_fleet_accepted_set_tools *t, int feature,
                                       int place)
{
    struct ek_fleet_cell cell = ek_fleet_pool_cell(t->pool, place);
    return (struct ek_accept_place){t->manifest->item[feature]->name, cell.dimension.text,
                                    cell.value.text};
}

static int nothing_there(const struct ek_fleet_accepted_set_tools *t, int feature,
                         const struct ek_decision_record *m, struct ek_error *e)
{
    const struct ek_accept_place at = {m->feature, m->dimension, m->value};
    const struct ek_finding *near = ek_fleet_findings_get(t->findings, feature);
    if (!near)
        return ek_accept_unconfirmed(&at, NULL, e);
    const struct ek_accept_place other = names_of(t, feature, near->cell);
    return ek_accept_unconfirmed(&at, &other, e);
}

static int check(const struct ek_fleet_accepted_set *n, const struct ek_fleet_accepted_set_tools *t,
                 const struct ek_finding *f, struct ek_error *e)
{
    int query = f->query_feature;
    const struct ek_accept_change c = {.at = names_of(t, f->feature, f->cell),
                                       .class = f->class,
                                       .query_feature =
                                           query < 0 ? NULL : t->manifest->query[query]->name,
                                       .share = f->share};
    int rc = ek_accept_check(&c, e);
    if (!rc && !(fabs(log(f->factor)) <= EK_OFFSET_MAX_LN))
        rc = ek_fail(e, EK_ESTATE, "the factor of '%s' there is not known yet", c.at.feature);
    if (!rc && n->levels.count == EK_LEVEL_OFFSETS_MAX)
        rc = ek_accept_too_many(e);
    return rc;
}

static void note(struct ek_decision_record *m, const struct ek_level_offset *one, uint64_t normal)
{
    m->accept = one->version;
    m->normal = normal;
    m->factor = exp(one->shift_ln);
}

/* Return the factor of the unit that the finding names with certainty (guard/finding_text.h), if it
 * lies in the interval; else the estimate. */
static double settled_factor(const struct ek_finding *f)
{
    for (int i = 0; i < f->unit_count; i++) {
        double factor = f->unit[i].unit->factor;
        bool expected =
            f->unit[i].listed || f->unit[i].fit < EK_UNIT_ANY || !f->unit[i].unit->quantity;
        if (expected && factor >= f->factor_low && factor <= f->factor_high)
            return factor;
    }
    return f->factor;
}

int ek_fleet_accepted_set_add(struct ek_fleet_accepted_set *n,
                              const struct ek_fleet_accepted_set_tools *t, int feature, int place,
                              struct ek_decision_record *m, struct ek_finding *over,
                              struct ek_error *e)
{
    const struct ek_finding *f =
        place < 0 ? NULL : ek_fleet_findings_find(t->findings, feature, place);
    int i = n->levels.count;
    int rc = f ? check(n, t, f, e) : nothing_there(t, feature, m, e);
    if (rc)
        return rc;
    if (set_comment(&n->about[i], t->time_ms, ek_text_from(m->actor), ek_text_from(m->reason)))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    n->since_ms[i] = f->since_ms;
    ek_level_offsets_add(&n->levels, feature, place, log(settled_factor(f)), 0);
    note(m, &n->levels.one[i], n->levels.version);
    ek_fleet_findings_accept(t->findings, f, t->time_ms, over);
    return EK_OK;
}

int ek_fleet_accepted_set_remove(struct ek_fleet_accepted_set *n, uint64_t version,
                                 struct ek_decision_record *m, struct ek_level_offset *one,
                                 struct ek_error *e)
{
    const struct ek_level_offset *is = ek_level_offsets_find_version(&n->levels, version);
    if (!is)
        return ek_accept_not_found(&n->levels, version, e);
    int at = (int)(is - n->levels.one);
    size_t behind = (size_t)(n->levels.count - at - 1);
    *one = *is;
    release(&n->about[at]);
    memmove(&n->about[at], &n->about[at + 1], behind * sizeof *n->about);
    memmove(&n->since_ms[at], &n->since_ms[at + 1], behind * sizeof *n->since_ms);
    ek_level_offsets_remove(&n->levels, is);
    note(m, one, n->levels.version);
    return EK_OK;
}
