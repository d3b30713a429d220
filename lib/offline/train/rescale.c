#include "offline/train/rescale.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <math.h>

static float *value_of(const struct ek_dataset *d, size_t i, int item)
{
    return &d->x[i * (size_t)d->item_features + (size_t)item];
}

static double median(double *values, size_t n)
{
    ek_sort_doubles(values, n);
    return n ? 0.5 * (values[(n - 1) / 2] + values[n / 2]) : NAN;
}

/* Return the median over the lists of one arm. `logs` has space for all items. */
static double ln_median(const struct ek_dataset *d, int item, const int *arm, int which,
                        double *logs)
{
    size_t n = 0;
    for (size_t q = 0; q < d->lists; q++)
        for (size_t i = d->offset[q]; i < d->offset[q + 1] && (!arm || arm[q] == which); i++) {
            double x = (double)*value_of(d, i, item);
            if (isfinite(x) && x != 0)
                logs[n++] = log(fabs(x));
        }
    return median(logs, n);
}

static double *reserve_logs(const struct ek_dataset *d, struct ek_error *e)
{
    double *logs = ek_calloc(d->items, sizeof *logs);
    if (!logs)
        ek_fail(e, EK_ENOMEM, "out of memory");
    return logs;
}

int ek_ln_median(const struct ek_dataset *d, int item, double *out, struct ek_error *e)
{
    double *logs = reserve_logs(d, e);
    if (!logs)
        return EK_ENOMEM;
    *out = ln_median(d, item, NULL, 0, logs);
    ek_free(logs);
    return EK_OK;
}

int ek_rescale_fit(struct ek_dataset *d, int item, double reference_ln_median, const int *arm,
                   int arms, double *factor, struct ek_error *e)
{
    double *logs = reserve_logs(d, e);
    if (!logs)
        return EK_ENOMEM;
    for (int a = 0; a < arms; a++) {
        double c = exp(ln_median(d, item, arm, a, logs) - reference_ln_median);
        factor[a] = isnan(c) ? 1 : c;
    }
    for (size_t q = 0; q < d->lists; q++)
        for (size_t i = d->offset[q]; i < d->offset[q + 1]; i++) {
            float *x = value_of(d, i, item);
            *x = (float)((double)*x / factor[arm ? arm[q] : 0]);
        }
    ek_free(logs);
    return EK_OK;
}

void ek_impute(struct ek_dataset *d, int item, float value)
{
    for (size_t i = 0; i < d->items; i++)
        *value_of(d, i, item) = value;
}
