/* Tables of category features in the profile's file: one after the other, `category_offset` says
 * where each begins. A profile without category features has none of these arrays.
 */
#include "assets/profile_inner.h"

#include "base/alloc.h"

#include <string.h>

enum { ARRAYS = 4 };
/* In `category_unknown`: the feature is no category. */
static const float NO_CATEGORY = -1;
static const char *const NAMES[ARRAYS] = {"category_offset", "category_value", "category_share",
                                          "category_unknown"};

static size_t values_of(const struct ek_profile *p)
{
    size_t sum = 0;
    for (int f = 0; f < p->features; f++)
        sum += (size_t)p->category[f].count;
    return sum;
}

bool ek_profile_has_categories(const struct ek_profile *p)
{
    for (int f = 0; f < p->features; f++)
        if (p->category[f].strata)
            return true;
    return false;
}

static void fill(const struct ek_profile *p, uint64_t *offset, float *value, float *share,
                 float *unknown)
{
    size_t strata = (size_t)p->strata;
    for (int f = 0; f < p->features; f++, unknown += strata) {
        const struct ek_category_table *t = &p->category[f];
        size_t values = (size_t)t->count;
        offset[f + 1] = offset[f] + values;
        for (size_t s = 0; s < strata; s++)
            unknown[s] = t->strata ? t->unknown[s] : NO_CATEGORY;
        if (!values)
            continue;
        memcpy(value + offset[f], t->value, values * sizeof *value);
        memcpy(share + offset[f] * strata, t->share, values * strata * sizeof *share);
    }
}

int ek_profile_add_categories(struct ek_tensors *t, const struct ek_profile *p)
{
    size_t features = (size_t)p->features, strata = (size_t)p->strata, values = values_of(p);
    const size_t shape[ARRAYS][2] = {
        {features + 1, 0}, {values, 0}, {values, strata}, {features, strata}};
    struct ek_tensor *array[ARRAYS];
    if (!ek_profile_has_categories(p))
        return EK_OK;
    for (int i = 0; i < ARRAYS; i++) {
        array[i] = ek_tensors_add(t, NAMES[i], i ? EK_F32 : EK_U64, shape[i][1] ? 2 : 1, shape[i]);
        if (!array[i])
            return EK_ENOMEM;
    }
    fill(p, array[0]->data, array[1]->data, array[2]->data, array[3]->data);
    return EK_OK;
}

static int take(struct ek_profile *p, const uint64_t *offset, const float *value,
                const float *share, const float *unknown, struct ek_error *e)
{
    size_t strata = (size_t)p->strata;
    for (int f = 0; f < p->features; f++, unknown += strata) {
        size_t values = offset[f + 1] - offset[f];
        if (unknown[0] == NO_CATEGORY && !values)
            continue;
        if (ek_category_table_init(&p->category[f], (int)values, p->strata))
            return ek_fail(e, EK_ENOMEM, "out of memory");
        memcpy(p->category[f].value, value + offset[f], values * sizeof *value);
        memcpy(p->category[f].share, share + offset[f] * strata, values * strata * sizeof *share);
        memcpy(p->category[f].unknown, unknown, strata * sizeof *unknown);
    }
    return EK_OK;
}

/* Whether every table lies within the values, and is no larger than a table may be. */
static int sound(const uint64_t *offset, size_t features, size_t values, size_t strata)
{
    size_t cells = EK_CATEGORY_CELLS_MAX / strata;
    size_t most = cells < EK_CATEGORIES_MAX ? cells : EK_CATEGORIES_MAX;
    if (offset[0] || offset[features] != values)
        return 0;
    for (size_t f = 0; f < features; f++)
        if (offset[f] > offset[f + 1] || offset[f + 1] - offset[f] > most)
            return 0;
    return 1;
}

int ek_profile_read_categories(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e)
{
    const struct ek_tensor *array[ARRAYS];
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    const struct ek_tensor *value = ek_tensors_find(t, NAMES[1]);
    size_t values = value ? value->count : 0;
    const size_t shape[ARRAYS][2] = {
        {features + 1, 0}, {values, 0}, {values, strata}, {features, strata}};
    if (!ek_tensors_find(t, NAMES[0]))
        return EK_OK;
    for (int i = 0; i < ARRAYS; i++) {
        int rc = ek_tensors_expect(t, NAMES[i], i ? EK_F32 : EK_U64, shape[i][1] ? 2 : 1, shape[i],
                                   &array[i], e);
        if (rc)
            return rc;
    }
    if (!sound(array[0]->data, features, values, strata))
        return ek_fail(e, EK_EFORMAT, "'%s' of the profile holds what no training gives", NAMES[0]);
    return take(p, array[0]->data, array[1]->data, array[2]->data, array[3]->data, e);
}
