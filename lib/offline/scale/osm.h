/* One switch by MAP, OSM: every feature min-max at first; then one after the other, in their order,
 * is given the logarithm, a linear ranker (choose/rank_svm.h) is trained again, and the switch is
 * kept where the MAP of the validation lists is higher than before it.
 *
 * The paper leaves open whether a kept switch stands while the next is tried. Here it does: so MAP
 * rises with each switch and the last is that of the whole choice, which switches tried one by one
 * against all min-max would not promise. The price is that the features' order matters.
 * A tie keeps min-max. Missing values are 0, the least of both scalings. A training for each and
 * one before them: minutes where one takes seconds. Deterministic. Owner: the caller. Threads: no
 * state.
 */
#ifndef EK_OFFLINE_SCALE_OSM_H
#define EK_OFFLINE_SCALE_OSM_H

#include "offline/scale/rank_svm.h"
#include "schema/transform_names.h"
#include "score/metrics.h"

#include <stdbool.h>

struct ek_osm_options {
    struct ek_rank_svm_options svm;
    enum ek_empty empty;  /* lists without a relevant item */
    const bool *category; /* [F]: these keep their values and are not tried; NULL: there are none */
    /* After each training, from 1; NULL or non-zero to stop (EK_ESTATE). */
    int (*progress)(void *context, int done, int of, double map);
    void *context;
};

/* Defaults of the ranker, empty lists skipped. */
void ek_osm_defaults(struct ek_osm_options *o);
/* scale [F]: minmax or log, none of a category. map [F + 1], may be NULL: with each feature
 * switched, what was best before where it is a category, and at the end of all min-max. EK_EUSAGE
 * when the lists have no pair or no list of `vali` counts, EK_ESTATE, EK_ENOMEM; scale is untouched
 * then. */
int ek_osm(const struct ek_dataset *train, const struct ek_dataset *vali,
           const struct ek_osm_options *o, enum ek_transform_kind *scale, double *map,
           struct ek_error *e);

#endif
