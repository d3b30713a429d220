#include "assets/query_ranges.h"

#include "assets/feature_columns.h"

#include <limits.h>
#include <math.h>
#include <string.h>

int ek_query_ranges_find_outside(const struct ek_query_ranges *r, const float *query)
{
    for (int i = 0; i < r->count; i++) {
        float x = query[r->query[i]];
        if (isnormal(x) && x > 0 && (x < r->low[i] || x > r->high[i]))
            return r->query[i];
    }
    return -1;
}

int ek_query_ranges_write(const struct ek_query_ranges *r, struct ek_tensors *file)
{
    const size_t count = (size_t)r->count, shape[] = {2, count};
    if (!r->count)
        return EK_OK;
    struct ek_tensor *query = ek_tensors_add(file, "query_range_feature", EK_U64, 1, &count);
    struct ek_tensor *range = query ? ek_tensors_add(file, "query_range", EK_F32, 2, shape) : NULL;
    if (!range)
        return EK_ENOMEM;
    ek_feature_columns_write(r->query, r->count, query->data);
    memcpy(range->data, r->low, count * sizeof *r->low);
    memcpy((float *)range->data + count, r->high, count * sizeof *r->high);
    return EK_OK;
}

static bool are_ranges(const struct ek_query_ranges *r)
{
    for (int i = 0; i < r->count; i++)
        if (!(r->low[i] > 0 && r->low[i] <= r->high[i] && isfinite(r->high[i])))
            return false;
    return true;
}

int ek_query_ranges_read(struct ek_query_ranges *r, const struct ek_tensors *file,
                         struct ek_error *e)
{
    const struct ek_tensor *query = ek_tensors_find(file, "query_range_feature"), *range;
    *r = (struct ek_query_ranges){0};
    if (!query)
        return EK_OK;
    if (query->dims != 1 || query->dtype != EK_U64 || !query->shape[0] ||
        query->shape[0] > EK_QUERY_RANGES_MAX)
        return ek_fail(e, EK_EFORMAT, "the query ranges of the profile have an invalid shape");
    const size_t count = query->shape[0], shape[] = {2, count};
    int rc = ek_tensors_expect(file, "query_range", EK_F32, 2, shape, &range, e);
    if (rc)
        return rc;
    r->count = (int)count;
    memcpy(r->low, range->data, count * sizeof *r->low);
    memcpy(r->high, (const float *)range->data + count, count * sizeof *r->high);
    if (ek_feature_columns_read(r->query, query->data, r->count, INT_MAX) && are_ranges(r))
        return EK_OK;
    *r = (struct ek_query_ranges){0};
    return ek_fail(e, EK_EFORMAT, "the query ranges of the profile are out of order or range");
}
