/* What measures of single features share: the metric of a model on data, and a loop over the
 * features that may use threads. Internal to lib/choose.
 *
 * Owner: all arrays are the caller's. Threads: as the options' `run` says; each feature has an
 * error of its own, so the first one by number is told whatever the threads did.
 */
#ifndef EK_CHOOSE_EACH_FEATURE_H
#define EK_CHOOSE_EACH_FEATURE_H

#include "offline/select/importance.h"
#include "offline/train/evaluate.h"

/* The metric of the options under a treatment [K] of all lists (NULL: nothing is treated). of_list
 * [Q], may be NULL: that of each list. As ek_evaluate. */
int ek_metric_of_model(const struct ek_model *m, const struct ek_dataset *d,
                       const struct ek_importance_options *o, const struct ek_treatment *treatment,
                       double *of_list, double *value, struct ek_error *e);
/* With nothing changed; EK_EUSAGE when no list counts. */
int ek_metric_unchanged(const struct ek_model *m, const struct ek_dataset *d,
                        const struct ek_importance_options *o, double *of_list, double *value,
                        struct ek_error *e);
/* Routable number of an item feature, -1: it is not routable. */
int ek_model_routable_number(const struct ek_model *m, int feature);
/* Calls measure(arg, f, ..) for f = 0 .. features-1, and `done` after each that succeeds. The first
 * error by number; EK_ENOMEM. */
int ek_each_feature(const struct ek_importance_options *o, int features,
                    int (*measure)(void *arg, int feature, struct ek_error *e), void *arg,
                    struct ek_error *e);

#endif
