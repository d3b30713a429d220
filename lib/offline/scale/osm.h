/* One switch by MAP, OSM: greedy selection of features for the logarithm.
 *
 * All features begin with min-max. In order, each feature is switched to the logarithm, and a
 * linear ranker (offline/scale/rank_svm.h) is trained. The switch is kept if it increases the
 * validation MAP; a tie keeps min-max. The paper does not define whether kept switches stay while
 * later features are tried. Here they stay, so MAP increases with each switch and the last MAP
 * belongs to the whole selection. The result therefore depends on the order of the features.
 *
 * Missing values become 0, the minimum of both scalings. The cost is one training per feature plus
 * one. Deterministic.
 */
#ifndef EK_OFFLINE_SCALE_OSM_H
#define EK_OFFLINE_SCALE_OSM_H

#include "offline/scale/rank_svm.h"
#include "schema/enum_names.h"
#include "score/metrics.h"

#include <stdbool.h>

struct ek_osm_options {
    struct ek_rank_svm_options svm;
    enum ek_empty empty;  /* rule for lists without a relevant item */
    const bool *category; /* [F], features kept unscaled and not tried; NULL: none */
    /* Called after each training, from 1; nonzero stops with EK_ESTATE. May be NULL. */
    int (*progress)(void *context, int done, int of, double map);
    void *context;
};

/* Set all members of *o: the defaults of the ranker, empty lists skipped, and 0 for the others. */
void ek_osm_defaults(struct ek_osm_options *o);
/* Select scale [F]: minmax or log, none for a category. map [F + 1], or NULL, receives the MAP with
 * each feature switched (for a category, the best MAP so far), then the MAP of all min-max. Return
 * 0, EK_ENOMEM, EK_ESTATE if `progress` stops or a training does not converge, or EK_EUSAGE if the
 * lists have no pair or no validation list has a relevant item. On error `scale` is unchanged. */
int ek_osm(const struct ek_dataset *train, const struct ek_dataset *vali,
           const struct ek_osm_options *o, enum ek_transform_kind *scale, double *map,
           struct ek_error *e);

#endif
