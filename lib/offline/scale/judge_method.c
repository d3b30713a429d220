#include "offline/scale/judge_method.h"

#include "base/alloc.h"
#include "offline/scale/scaling.h"

static int rows_of(const struct ek_scaling *s, const enum ek_scale *scales,
                   const struct ek_dataset *d, float **rows, struct ek_error *e)
{
    *rows = ek_calloc(d->items, ek_scaling_columns(s) * sizeof **rows);
    if (!*rows)
        return ek_fail(e, EK_ENOMEM, "no memory for %zu items of %zu columns", d->items,
                       ek_scaling_columns(s));
    ek_scaling_apply(s, d->x, d->items, 0, *rows);
    ek_scaling_drop_unscaled(s, scales, d->item_features, d->items, *rows);
    return EK_OK;
}

static int scale(void *context, const struct ek_fold *fold, struct ek_judge_rows *rows,
                 struct ek_error *e)
{
    const struct ek_judge_method *m = context;
    struct ek_scaling *s = NULL;
    enum ek_scale *scales = ek_calloc((size_t)fold->train.item_features, sizeof *scales);
    if (!scales)
        return ek_fail(e, EK_ENOMEM, "no memory for %d features", fold->train.item_features);
    int rc = ek_method_scales(m->method, &fold->train, &fold->vali, &m->osm, scales, e);
    if (!rc)
        rc = ek_scaling_of(&s, &fold->train, scales, e);
    if (!rc) {
        rows->columns = ek_scaling_columns(s);
        rc = rows_of(s, scales, &fold->train, &rows->train, e);
    }
    if (!rc)
        rc = rows_of(s, scales, &fold->vali, &rows->vali, e);
    if (!rc)
        rc = rows_of(s, scales, &fold->test, &rows->test, e);
    ek_scaling_free(s);
    ek_free(scales);
    return rc;
}

struct ek_judged ek_judge_of_method(struct ek_judge_method *m)
{
    return (struct ek_judged){ek_method_names()[m->method], scale, m};
}
