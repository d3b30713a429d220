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
#ifndef EK_CHOOSE_IMPORTANCE_H
#define EK_CHOOSE_IMPORTANCE_H

#include "lists/dataset.h"
#include "assets/model.h"
#include "score/metrics.h"

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

#endif
