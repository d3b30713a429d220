#include "serve/wide_columns.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

enum { SHARE_ZERO = 1, SHARE_NEGATIVE };

/* z is a multiple, so that the rounding of a product crosses no threshold of a tree. */
static const double STEP = 0x1p-16;

static bool has_some(const struct ek_profile *p, int feature, int share)
{
    return p->baseline[feature].share[share] > 0 && p->baseline[feature].share[share] < 1;
}

/* Add the columns of a kind; share -1: of all routable features. Return 0 or EK_ENOMEM. */
static int add_kind(struct ek_wide_columns *w, const struct ek_manifest *m,
                    const struct ek_profile *p, const char *kind, int share)
{
    int rc = EK_OK;
    for (int f = 0; f < m->item_count && !rc; f++) {
        if (m->routable_of_item[f] < 0 || (share >= 0 && !has_some(p, f, share)))
            continue;
        w->feature[w->count++] = f;
        rc = ek_buf_printf(&w->names, "%s:%s", kind, m->item[f]->name);
        if (!rc)
            rc = ek_buf_add(&w->names, "", 1);
    }
    return rc;
}

static int select_columns(struct ek_wide_columns *w, const struct ek_manifest *m,
                          const struct ek_profile *p)
{
    int rc = add_kind(w, m, p, "z", -1);
    w->z = w->count;
    if (!rc)
        rc = add_kind(w, m, p, "zero", SHARE_ZERO);
    w->zeros = w->count - w->z;
    if (!rc)
        rc = add_kind(w, m, p, "neg", SHARE_NEGATIVE);
    const char *name = (const char *)w->names.data;
    for (int i = 0; i < w->count && !rc; i++) {
        w->name[i] = name;
        name += strlen(name) + 1;
    }
    return rc;
}

static int check(const struct ek_wide_columns *w, const struct ek_manifest *m, struct ek_error *e)
{
    if (!w->count)
        return ek_fail(e, EK_ECONFIG, "no feature of the manifest is 'routable: true'");
    for (int i = 0; i < w->count; i++)
        for (int f = 0; f < m->item_count; f++)
            if (!strcmp(w->name[i], m->item[f]->name))
                return ek_fail(e, EK_ECONFIG, "feature '%s' has the name of a wide column",
                               w->name[i]);
    return EK_OK;
}

int ek_wide_columns_new(struct ek_wide_columns **out, const struct ek_manifest *m,
                        const struct ek_profile *p, struct ek_error *e)
{
    enum { KINDS = 3 };
    size_t most = KINDS * (size_t)m->routable_count;
    struct ek_wide_columns *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_init(&w->names, 0);
    w->feature = ek_calloc(most, sizeof *w->feature);
    w->name = ek_calloc(most, sizeof *w->name);
    int rc = w->feature && w->name ? select_columns(w, m, p) : EK_ENOMEM;
    rc = rc ? ek_fail(e, EK_ENOMEM, "out of memory") : check(w, m, e);
    if (rc)
        ek_wide_columns_free(w);
    else
        *out = w;
    return rc;
}

void ek_wide_columns_free(struct ek_wide_columns *w)
{
    if (!w)
        return;
    ek_buf_release(&w->names);
    ek_free(w->feature);
    ek_free(w->name);
    ek_free(w);
}

/* One feature of a list: a value per item, `step` apart. */
struct column {
    const double *value;
    size_t items, step;
};

static bool is_usable(double x)
{
    return x != 0 && isfinite(x);
}

/* Return the mean ln|x| of the usable values, NaN if there are none. */
static double mean_ln(const struct column *c)
{
    double sum = 0;
    size_t usable = 0;
    for (size_t i = 0; i < c->items; i++) {
        double x = c->value[i * c->step];
        if (is_usable(x)) {
            sum += log(fabs(x));
            usable++;
        }
    }
    return usable ? sum / (double)usable : (double)NAN;
}

static double z_of(double x, double mean)
{
    return is_usable(x) ? rint((log(fabs(x)) - mean) / STEP) * STEP : 0;
}

void ek_wide_columns_compute(const struct ek_wide_columns *w, const struct ek_manifest *m,
                             const struct ek_list *q, const double *values, bool whole, double *out)
{
    size_t items = (size_t)q->items, features = (size_t)q->item_features;
    for (int k = 0; k < w->count; k++) {
        size_t f = (size_t)w->feature[k];
        const struct column column = {values + f, items, features};
        bool is_z = k < w->z, is_sign = k >= w->z + w->zeros, given = q->has_log_means;
        double mean = !is_z    ? 0
                      : given  ? q->log_mean[m->routable_of_item[f]]
                      : !whole ? (double)NAN
                               : mean_ln(&column);
        for (size_t i = 0; i < items; i++) {
            double x = values[i * features + f], now = given ? (double)q->x[i * features + f] : x;
            double flag = is_sign ? x < 0 : x == 0;
            double y = !is_z ? flag : x == 0 ? 0 : z_of(now, mean);
            out[i * (size_t)w->count + (size_t)k] = isfinite(x) ? y : (double)NAN;
        }
    }
}
