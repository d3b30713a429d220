/* Lists that profiles keep: from one into a fit, and from a fit into its profile. */
#include "base/alloc.h"
#include "offline/fit/profile_fit_inner.h"

#include <string.h>

void ek_profile_fit_keep(struct ek_profile_fit *fit)
{
    fit->keep = true;
}

int ek_profile_fit_move(struct ek_profile_fit *fit, struct ek_profile *p, const int *number)
{
    struct ek_profile_lists *l = ek_profile_lists_new(fit->features);
    if (!l)
        return EK_ENOMEM;
    p->lists = l;
    for (int f = 0; f < fit->features; f++)
        if (fit->category[f] &&
            ek_category_fit_counts(fit->category[f], number, fit->names, &l->category[f]))
            return EK_ENOMEM;
    l->queries = fit->queries;
    l->record = fit->record;
    l->relative = fit->key;
    l->stratum = fit->stratum;
    fit->record = NULL;
    fit->key = NULL;
    fit->stratum = NULL;
    fit->queries = fit->capacity = 0;
    return EK_OK;
}

static int check_field(const struct ek_profile_fit *fit, const struct ek_profile *p,
                       struct ek_error *e)
{
    const char *here = fit->field.name, *there = p->field;
    if (!here && !there)
        return EK_OK;
    if (here && there && !strcmp(here, there))
        return EK_OK;
    if (!there)
        return ek_fail(e, EK_ESTATE, "the profile was made without the baseline '%s'", here);
    if (!here)
        return ek_fail(e, EK_ESTATE, "the profile was made with the baseline '%s'", there);
    return ek_fail(e, EK_ESTATE, "the profile was made with the baseline '%s', not '%s'", there,
                   here);
}

/* The strata here of those of a profile. */
static int find_strata(struct ek_profile_fit *fit, const struct ek_profile *p, int *number,
                       struct ek_error *e)
{
    int rc = EK_OK;
    for (int s = 1; !rc && s < p->strata; s++)
        rc = ek_profile_fit_stratum(fit, (struct ek_text){p->stratum[s], strlen(p->stratum[s])},
                                    &number[s], e);
    return rc;
}

static int add_values(struct ek_profile_fit *fit, const struct ek_profile *p, const int *number)
{
    const struct ek_profile_lists *l = p->lists;
    for (int f = 0; f < fit->features; f++) {
        if (ek_sketch_set_put(fit->sketches, f, p->sketch[f]))
            return EK_ENOMEM;
        if (fit->category[f] && l->category[f].lists &&
            ek_category_fit_merge(fit->category[f], &l->category[f], number, p->strata))
            return EK_ENOMEM;
    }
    return ek_sketch_set_put_rows(fit->sketches, p->items);
}

static void add_records(struct ek_profile_fit *fit, const struct ek_profile_lists *l,
                        const int *number)
{
    size_t features = (size_t)fit->features;
    for (size_t f = 0; !fit->queries && f < features; f++) /* as with a first list */
        fit->pivot[f] = l->record[f].usable ? l->record[f].r : 0;
    memcpy(fit->record + fit->queries * features, l->record,
           l->queries * features * sizeof *l->record);
    memcpy(fit->key + fit->queries, l->relative, l->queries * sizeof *l->relative);
    for (size_t q = 0; q < l->queries; q++)
        fit->stratum[fit->queries + q] = number[l->stratum[q]];
    fit->queries += l->queries;
}

int ek_profile_fit_merge(struct ek_profile_fit *fit, const struct ek_profile *p, struct ek_error *e)
{
    int rc = check_field(fit, p, e);
    if (rc)
        return rc;
    int *number = ek_calloc((size_t)p->strata, sizeof *number);
    if (!number)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    rc = find_strata(fit, p, number, e);
    if (!rc && (ek_profile_fit_reserve(fit, p->lists->queries) || add_values(fit, p, number)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        add_records(fit, p->lists, number);
        fit->items += p->items;
    }
    ek_free(number);
    return rc;
}
