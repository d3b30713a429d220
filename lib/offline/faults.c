#include "offline/faults.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ek_fault_release(struct ek_fault *f)
{
    ek_free(f->item);
    ek_free(f->dimension);
    ek_free(f->segment_value);
    ek_free(f->median);
    memset(f, 0, sizeof *f);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median_of(const struct ek_dataset *d, int item, float *values)
{
    size_t n = 0;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + (size_t)item];
        if (isfinite(x))
            values[n++] = x;
    }
    if (!n)
        return 0;
    qsort(values, n, sizeof *values, by_value);
    return 0.5 * ((double)values[(n - 1) / 2] + (double)values[n / 2]);
}

int ek_fault_fit(struct ek_fault *f, const struct ek_dataset *d, struct ek_error *e)
{
    if (f->op != EK_FAULT_ADD_MEDIANS)
        return EK_OK;
    float *values = ek_calloc(d->items, sizeof *values);
    if (!values)
        return ek_fail(e, EK_ENOMEM, "no memory for the medians of %zu items", d->items);
    for (int i = 0; i < f->item_count; i++)
        f->median[i] = median_of(d, f->item[i], values);
    ek_free(values);
    return EK_OK;
}

static bool in_segment(const struct ek_fault *f, const struct ek_query *q)
{
    if (!f->dimension)
        return true;
    struct ek_text value = ek_query_segment(q, f->dimension);
    return value.text && value.length == strlen(f->segment_value) &&
           !memcmp(value.text, f->segment_value, value.length);
}

bool ek_fault_hits(const struct ek_fault *f, const struct ek_query *q, uint64_t number,
                   uint64_t seed)
{
    if (number < f->from || number >= f->to || !in_segment(f, q))
        return false;
    if (f->share >= 1)
        return true;
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    return (double)(ek_hash(bytes, sizeof bytes, seed) >> 11) * 0x1p-53 < f->share;
}

static double changed(const struct ek_fault *f, const struct ek_query *q, double x, double median)
{
    switch (f->op) {
    case EK_FAULT_SCALE:
        return x * f->value;
    case EK_FAULT_POWER:
        return x == 0 ? x : copysign(pow(fabs(x), f->value), x);
    case EK_FAULT_ADD:
        return x + f->value;
    case EK_FAULT_ADD_MEDIANS:
        return x + f->value * median;
    case EK_FAULT_NEGATE:
        return -x;
    case EK_FAULT_QUERY_FEATURE:
        return x == 0 ? x : x * (double)q->query[f->query_feature];
    case EK_FAULT_ZERO:
        return 0;
    case EK_FAULT_NAN:
        return NAN;
    case EK_FAULT_SET:
        return f->value;
    }
    return x;
}

bool ek_fault_apply(const struct ek_fault *f, struct ek_query *q, uint64_t number, uint64_t seed)
{
    if (!ek_fault_hits(f, q, number, seed))
        return false;
    for (int k = 0; k < q->items; k++)
        for (int i = 0; i < f->item_count; i++) {
            float *x = &q->x[(size_t)k * (size_t)q->item_features + (size_t)f->item[i]];
            if (!isnan(*x))
                *x = (float)changed(f, q, *x, f->median ? f->median[i] : 0);
        }
    return true;
}
