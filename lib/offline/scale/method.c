#include "offline/scale/method.h"

#include "offline/scale/fdm.h"

static const char *const NAMES[] = {
    [EK_METHOD_FDM] = "fdm", [EK_METHOD_OSM] = "osm",       [EK_METHOD_MINMAX] = "minmax",
    [EK_METHOD_LOG] = "log", [EK_METHOD_ARCTAN] = "arctan", [EK_METHOD_ZSCORE] = "zscore",
    [EK_METHOD_CDF] = "cdf", [EK_METHOD_LOG1P] = "log1p",   [EK_METHOD_MERGE] = "merge",
};

const char *const *ek_method_names(void)
{
    return NAMES;
}

enum ek_scale ek_method_scale(enum ek_method method)
{
    static const enum ek_scale SCALES[] = {
        [EK_METHOD_MINMAX] = EK_SCALE_MINMAX, [EK_METHOD_LOG] = EK_SCALE_LOG,
        [EK_METHOD_ARCTAN] = EK_SCALE_ARCTAN, [EK_METHOD_ZSCORE] = EK_SCALE_ZSCORE,
        [EK_METHOD_CDF] = EK_SCALE_CDF,       [EK_METHOD_LOG1P] = EK_SCALE_LOG1P,
        [EK_METHOD_MERGE] = EK_SCALE_MERGE,   [EK_METHOD_FDM] = EK_SCALE_NONE,
        [EK_METHOD_OSM] = EK_SCALE_NONE,
    };
    return SCALES[method];
}

static int by_distribution(const struct ek_dataset *d, enum ek_scale *scale, struct ek_error *e)
{
    size_t width = (size_t)d->item_features;
    int rc = EK_OK;
    for (size_t f = 0; f < width && !rc; f++) {
        struct ek_values v = {0};
        struct ek_fdm found;
        rc = ek_values_of_column(&v, d->x + f, d->items, width, e);
        if (!rc) {
            ek_fdm(&v, &found);
            scale[f] = found.scale;
        }
        ek_values_release(&v);
    }
    return rc;
}

int ek_method_scales(enum ek_method method, const struct ek_dataset *train,
                     const struct ek_dataset *vali, const struct ek_osm_options *o,
                     enum ek_scale *scale, struct ek_error *e)
{
    int rc = EK_OK;
    if (method == EK_METHOD_OSM)
        return ek_osm(train, vali, o, scale, NULL, e);
    if (method == EK_METHOD_FDM)
        rc = by_distribution(train, scale, e);
    for (int f = 0; f < train->item_features && !rc; f++)
        if (o->category && o->category[f])
            scale[f] = EK_SCALE_NONE;
        else if (method != EK_METHOD_FDM)
            scale[f] = ek_method_scale(method);
    return rc;
}
