/* A copy of a data set in which one item feature may be changed, and put back. Internal to
 * lib/choose: each thread has one of its own.
 *
 * Owner: the caller, ek_column_release. The set that was copied must outlive it: all but x is its.
 */
#ifndef EK_OFFLINE_SELECT_IMPORTANCE_H
#define EK_OFFLINE_SELECT_IMPORTANCE_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "offline/train/evaluate.h"
#include "score/metrics.h"

struct ek_column {
    struct ek_dataset data; /* x is ours */
    float *was;             /* [N] */
    size_t feature;
};

/* EK_ENOMEM; there is nothing to release then. */
int ek_column_copy(struct ek_column *c, const struct ek_dataset *d, size_t feature,
                   struct ek_error *e);
void ek_column_release(struct ek_column *c);
void ek_column_restore(struct ek_column *c);

/* What a model would lose without a feature: the fall of a ranking metric when what the feature
 * says is destroyed, or when its way into the model is changed.
 *
 *   permutation   values shuffled among the items of a list, missing ones with them; of a feature
 *                 that never differs within a list, whole lists change values (Breiman 2001).
 *                 Mean and sd over the repeats
 *   routed        the feature takes the wide path in all lists
 *   silenced      it takes none
 *
 * A loss below 0 is a gain. The last two are NaN for features that are not routable. The metric is
 * that of `ek_evaluate`, which has the policy for missing values.
 * Deterministic by seed, whatever the number of threads. Shapes: F item features. Memory: a copy of
 * the items for each thread. Owner: all arrays are the caller's. Threads: `run` may use some.
 */
struct ek_importance {
    double lost, sd; /* by permutation; sd over the repeats, divisor n */
    double routed, silenced;
};

struct ek_importance_options {
    struct ek_metric metric;
    enum ek_gain gain;
    enum ek_empty empty;
    int repeats; /* >= 1 */
    uint64_t seed;
    /* Runs task(arg, i) for i = 0 .. count-1, maybe at the same time. NULL: one after the other. */
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    /* Called from the threads of `run` when one more of `count` features is done. May be NULL. */
    void (*done)(void *context, int count);
    void *context;
};

/* NDCG@3, gain 2^y - 1, lists without a positive label skipped; 5 repeats. */
void ek_importance_defaults(struct ek_importance_options *o);
/* out [F]; *whole is the metric with nothing changed. EK_EUSAGE without a repeat, or when no list
 * counts; EK_ENOMEM; and what ek_evaluate gives. */
int ek_importance_measure(const struct ek_model *m, const struct ek_dataset *d,
                          const struct ek_importance_options *o, double *whole,
                          struct ek_importance *out, struct ek_error *e);

/* What measures of single features share: the metric of a model on data, and a loop over the
 * features that may use threads. Internal to lib/choose.
 *
 * Owner: all arrays are the caller's. Threads: as the options' `run` says; each feature has an
 * error of its own, so the first one by number is told whatever the threads did.
 */
/* The metric of the options under a treatment [K] of all lists (NULL: nothing is treated). of_list
 * [Q], may be NULL: that of each list. As ek_evaluate. */
int ek_metric_evaluate_model(const struct ek_model *m, const struct ek_dataset *d,
                             const struct ek_importance_options *o,
                             const struct ek_treatment *treatment, double *of_list, double *value,
                             struct ek_error *e);
/* With nothing changed; EK_EUSAGE when no list counts. */
int ek_metric_unchanged(const struct ek_model *m, const struct ek_dataset *d,
                        const struct ek_importance_options *o, double *of_list, double *value,
                        struct ek_error *e);
/* Routable number of an item feature, -1: it is not routable. */
int ek_model_routable_number(const struct ek_model *m, int feature);
/* Calls measure(arg, f, ..) for f = 0 .. features-1, and `done` after each that succeeds. The first
 * error by number; EK_ENOMEM. */
int ek_feature_for_each(const struct ek_importance_options *o, int features,
                        int (*measure)(void *arg, int feature, struct ek_error *e), void *arg,
                        struct ek_error *e);

#endif
