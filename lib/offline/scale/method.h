/* Ways to give every feature its scaling: by its values (fdm), by trying (osm), or one for all.
 *
 * Threads: no state. Owner: the caller.
 */
#ifndef EK_CHOOSE_METHOD_H
#define EK_CHOOSE_METHOD_H

#include "offline/scale/osm.h"
#include "lists/dataset.h"
#include "schema/scale.h"

enum ek_method {
    EK_METHOD_FDM,
    EK_METHOD_OSM,
    EK_METHOD_MINMAX,
    EK_METHOD_LOG,
    EK_METHOD_ARCTAN,
    EK_METHOD_ZSCORE,
    EK_METHOD_CDF,
    EK_METHOD_LOG1P,
    EK_METHOD_MERGE,
    EK_METHOD_COUNT
};

/* [EK_METHOD_COUNT], as options and manifests spell them. */
const char *const *ek_method_names(void);
/* The scaling that a method has for all features; EK_SCALE_NONE of fdm and osm. */
enum ek_scale ek_method_scale(enum ek_method method);
/* scale [F], by the lists of `train`; a category (o->category) has none
 * whatever the method. All else of o, and vali, is looked at by osm only. What ek_osm fails with,
 * or EK_ENOMEM. */
int ek_method_scales(enum ek_method method, const struct ek_dataset *train,
                     const struct ek_dataset *vali, const struct ek_osm_options *o,
                     enum ek_scale *scale, struct ek_error *e);

#endif
