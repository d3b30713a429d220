/* Feature importance by permutation and routing, and the helpers of measures per feature. Internal
 * to offline/select, except the importance. */
#ifndef EK_OFFLINE_SELECT_IMPORTANCE_H
#define EK_OFFLINE_SELECT_IMPORTANCE_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "offline/train/evaluate.h"
#include "score/metrics.h"

/* Copy of a dataset in which one item feature can be changed and restored.
 *
 * Internal to offline/select; one per thread. The copy owns only x, so the original must outlive
 * it.
 */
struct ek_column {
    struct ek_dataset data; /* owns x */
    float *was;             /* [N] */
    size_t feature;
};

/* Set *c to a copy of a dataset in which the caller may change `feature`; release it with
 * ek_column_release. Return 0, or EK_ENOMEM with nothing to release. */
int ek_column_copy(struct ek_column *c, const struct ek_dataset *d, size_t feature,
                   struct ek_error *e);
void ek_column_release(struct ek_column *c);
/* Restore the original values of the feature. */
void ek_column_restore(struct ek_column *c);

/* Feature importance: the decrease of a ranking metric when a feature is destroyed or rerouted.
 *
 *   permutation  values shuffled among the items of a list, missing ones included. If a
 *                feature is constant within every list, whole lists exchange values
 *                (Breiman 2001). Mean and sd over the repeats
 *   routed       the feature takes the wide path in all lists
 *   silenced     the model ignores the feature
 *
 * A loss below 0 is a gain. `routed` and `silenced` are NaN for features that are not routable.
 * ek_evaluate defines the metric and the policy for missing values. The result depends on the seed
 * but not on the number of threads. Memory: one copy of the items per thread.
 */
struct ek_importance {
    double lost, sd; /* by permutation; sd over the repeats with divisor n */
    double routed, silenced;
};

struct ek_importance_options {
    struct ek_metric metric;
    enum ek_gain gain;
    enum ek_empty empty;
    int repeats; /* >= 1 */
    uint64_t seed;
    /* Run task(arg, i) for i = 0 .. count-1, possibly in parallel. NULL: sequentially. */
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    /* Called by the threads of `run` after each of `count` features. May be NULL. */
    void (*done)(void *context, int count);
    void *context;
};

/* Set all members of *o: NDCG@3, gain 2^y - 1, lists without a positive label skipped, 5 repeats,
 * and 0 (no threads, no callbacks) for the others. */
void ek_importance_defaults(struct ek_importance_options *o);
/* Set out [F] to the importance of all item features, and *whole to the metric of unchanged data.
 * Return 0, EK_ENOMEM, an error of ek_evaluate, or EK_EUSAGE if `repeats` is below 1 or no list
 * counts. */
int ek_importance_measure(const struct ek_model *m, const struct ek_dataset *d,
                          const struct ek_importance_options *o, double *whole,
                          struct ek_importance *out, struct ek_error *e);

/* Helpers for measures per feature: the metric of a model, and a loop over features that may use
 * threads. Internal to offline/select. */
/* Set *value to the metric with a treatment [K] of all lists; NULL means none. of_list [Q], or
 * NULL, receives the metric per list. Return 0 or an error of ek_evaluate. */
int ek_metric_evaluate_model(const struct ek_model *m, const struct ek_dataset *d,
                             const struct ek_importance_options *o,
                             const struct ek_treatment *treatment, double *of_list, double *value,
                             struct ek_error *e);
/* Set *value to the metric without a treatment, and of_list [Q], unless NULL, to that of each list.
 * Return 0, EK_EUSAGE if no list counts, or an error of ek_evaluate. */
int ek_metric_unchanged(const struct ek_model *m, const struct ek_dataset *d,
                        const struct ek_importance_options *o, double *of_list, double *value,
                        struct ek_error *e);
/* Return the routable index of an item feature, or -1. */
int ek_model_routable_number(const struct ek_model *m, int feature);
/* Call measure(arg, f, ..) for f = 0 .. features-1, and `done` after each success. Return 0,
 * EK_ENOMEM, or the error of the lowest failed feature, independent of the threads. */
int ek_feature_for_each(const struct ek_importance_options *o, int features,
                        int (*measure)(void *arg, int feature, struct ek_error *e), void *arg,
                        struct ek_error *e);

#endif
