#include "assets/profile_inner.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ln of the largest float is 88.7; levels and what is compared with them stay well inside this. */
static const float LN_MOST = 200, RELATED_MOST = 1.001f, CALIBRATION_MOST = 1e4f;

/* Whether all values lie in [low, high]; NaN does not. */
static bool within(const float *x, size_t count, float low, float high)
{
    for (size_t i = 0; i < count; i++)
        if (!(x[i] >= low && x[i] <= high))
            return false;
    return true;
}

static bool positive(const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(x[i] > 0 && isfinite(x[i])))
            return false;
    return true;
}

static const char *fault_of(const struct ek_baseline *b)
{
    if (!within(&b->level, 1, -LN_MOST, LN_MOST))
        return "feature_level";
    if (!positive(&b->sd, 1))
        return "sd";
    if (!positive(b->inv_sd, EK_SD_SIZES))
        return "inv_sd";
    if (!within(&b->log_mean, 1, -LN_MOST, LN_MOST))
        return "log_mean";
    if (!within(&b->log_sd, 1, 0, LN_MOST))
        return "log_sd";
    if (!within(b->spread_hi, EK_SIZE_CLASSES, -LN_MOST, EK_SPREAD_UNKNOWN))
        return "spread_hi";
    if (!within(b->spread_mean, EK_SIZE_CLASSES, -LN_MOST, LN_MOST))
        return "spread_mean";
    if (!positive(b->spread_sd, EK_SIZE_CLASSES))
        return "spread_sd";
    if (!within(b->share, EK_SHARES, 0, 1))
        return "share";
    return within(&b->related, 1, 0, RELATED_MOST) ? NULL : "related";
}

static const char *fault_of_category(const struct ek_category_table *t)
{
    size_t values = (size_t)t->count, strata = (size_t)t->strata;
    for (size_t i = 0; i < values; i++)
        if (isnan(t->value[i]) || (i && !(t->value[i - 1] < t->value[i])))
            return "category_value";
    if (!within(t->share, values * strata, 0, 1))
        return "category_share";
    return within(t->unknown, strata, 0, 1) ? NULL : "category_unknown";
}

const char *ek_profile_fault(const struct ek_profile *p)
{
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    const char *fault = NULL;
    for (int f = 0; !fault && f < p->features; f++)
        fault = fault_of(&p->baseline[f]);
    for (int f = 0; !fault && f < p->features; f++)
        fault = fault_of_category(&p->category[f]);
    if (fault)
        return fault;
    if (!within(p->level, features * strata, -LN_MOST, LN_MOST))
        return "level";
    if (!positive(p->density, features * EK_DENSITY_BINS))
        return "density";
    if (!within(p->calibration, features * strata * EK_CALIBRATED, 1, CALIBRATION_MOST))
        return "calibration";
    for (size_t s = 1; s < strata; s++)
        if (strcmp(p->stratum[s - 1], p->stratum[s]) >= 0)
            return "strata";
    return NULL;
}
