#include "offline/world/faults.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RATES[EK_FAULT_RATES] = {1, 0.8, 1.3, 7.2, 18, 110, 1400};

void ek_fault_release(struct ek_fault *f)
{
    for (int i = 0; f->codes && i < f->item_count; i++)
        ek_free(f->codes[i].value);
    ek_free(f->codes);
    ek_free(f->item);
    ek_free(f->query);
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

/* Collect the finite values of an item feature in ascending order. */
static size_t sorted_values(const struct ek_dataset *d, int item, float *values)
{
    size_t n = 0;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + (size_t)item];
        if (isfinite(x))
            values[n++] = x;
    }
    qsort(values, n, sizeof *values, by_value);
    return n;
}

static double median_of(const float *values, size_t n)
{
    return n ? 0.5 * ((double)values[(n - 1) / 2] + (double)values[n / 2]) : 0;
}

static int copy_codes(struct ek_codes *c, const float *values, size_t n, struct ek_error *e)
{
    size_t count = 0;
    c->count = 0;
    ek_free(c->value);
    c->value = ek_calloc(EK_FAULT_CODES_MAX, sizeof *c->value);
    if (!c->value)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        if (count && values[i] <= c->value[count - 1])
            continue;
        if (count == EK_FAULT_CODES_MAX)
            return ek_fail(e, EK_EUSAGE, "a feature with more than %d values cannot be recoded",
                           EK_FAULT_CODES_MAX);
        c->value[count++] = values[i];
    }
    c->count = count;
    return EK_OK;
}

bool ek_fault_needs_fit(const struct ek_fault *f)
{
    return f->op == EK_FAULT_ADD_MEDIANS || f->op == EK_FAULT_RECODE;
}

int ek_fault_fit(struct ek_fault *f, const struct ek_dataset *d, struct ek_error *e)
{
    if (!ek_fault_needs_fit(f))
        return EK_OK;
    int rc = EK_OK;
    float *values = ek_calloc(d->items, sizeof *values);
    if (!values)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < f->item_count && !rc; i++) {
        size_t n = sorted_values(d, f->item[i], values);
        if (f->op == EK_FAULT_RECODE)
            rc = copy_codes(&f->codes[i], values, n, e);
        else
            f->median[i] = median_of(values, n);
    }
    ek_free(values);
    return rc;
}

static bool in_segment(const struct ek_fault *f, const struct ek_list *q)
{
    if (!f->dimension)
        return true;
    struct ek_text value = ek_list_segment(q, f->dimension);
    return value.text && value.length == strlen(f->segment_value) &&
           !memcmp(value.text, f->segment_value, value.length);
}

/* Return a number in [0, 1) derived from the seed and up to two numbers. */
static double drawn(const uint64_t *of, size_t count, uint64_t seed)
{
    uint8_t bytes[2 * sizeof *of];
    for (size_t i = 0; i < count * sizeof *of; i++)
        bytes[i] = (uint8_t)(of[i / sizeof *of] >> (8 * (i % sizeof *of)));
    return (double)(ek_hash(bytes, count * sizeof *of, seed) >> 11) * 0x1p-53;
}

bool ek_fault_hits(const struct ek_fault *f, const struct ek_list *q, uint64_t number,
                   uint64_t seed)
{
    if (number < f->from || number >= f->to || !in_segment(f, q) || f->source >= q->sources)
        return false;
    return f->share >= 1 || drawn(&number, 1, seed) < f->share;
}

/* Draws the rate separately from the fraction of lists, which would otherwise exclude some rates.
 */
static int rate_of(uint64_t number, uint64_t seed)
{
    return (int)(drawn((const uint64_t[]){number, UINT64_MAX}, 2, seed) * EK_FAULT_RATES);
}

int ek_fault_arm(const struct ek_fault *f, const struct ek_list *q, uint64_t number, uint64_t seed)
{
    if (!ek_fault_hits(f, q, number, seed))
        return 0;
    return f->op == EK_FAULT_CURRENCY ? 1 + rate_of(number, seed) : 1;
}

static bool hits_item(const struct ek_fault *f, const struct ek_list *q, uint64_t number, int item,
                      uint64_t seed)
{
    if (f->source >= 0 && q->source[item] != f->source)
        return false;
    return f->items >= 1 || drawn((const uint64_t[]){number, (uint64_t)item}, 2, seed) < f->items;
}

static double next_code(const struct ek_codes *c, double x)
{
    float key = (float)x;
    const float *at = bsearch(&key, c->value, c->count, sizeof *c->value, by_value);
    if (!at)
        return x;
    return (double)(at + 1 == c->value + c->count ? c->value[0] : at[1]);
}

/* Return the changed value of x, of the i-th feature of the fault. */
static double changed(const struct ek_fault *f, const struct ek_list *q, double x, int i,
                      double rate)
{
    switch (f->op) {
    case EK_FAULT_SCALE:
        return x * f->value;
    case EK_FAULT_POWER:
        return x == 0 ? x : copysign(pow(fabs(x), f->value), x);
    case EK_FAULT_ADD:
        return x + f->value;
    case EK_FAULT_ADD_MEDIANS:
        return x + f->value * f->median[i];
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
    case EK_FAULT_CURRENCY:
        return x * rate;
    case EK_FAULT_RECODE:
        return next_code(&f->codes[i], x);
    }
    return x;
}

bool ek_fault_apply(const struct ek_fault *f, struct ek_list *q, uint64_t number, uint64_t seed)
{
    if (!ek_fault_hits(f, q, number, seed))
        return false;
    double rate = RATES[rate_of(number, seed)];
    for (int i = 0; i < f->query_count; i++) {
        float *x = &q->query[f->query[i]];
        if (!isnan(*x))
            *x = (float)changed(f, q, *x, i, rate);
    }
    for (int k = 0; k < q->items; k++)
        for (int i = 0; i < f->item_count && hits_item(f, q, number, k, seed); i++) {
            float *x = &q->x[(size_t)k * (size_t)q->item_features + (size_t)f->item[i]];
            if (!isnan(*x))
                *x = (float)changed(f, q, *x, i, rate);
        }
    return true;
}
