/* How long work of `evenkeel select` is shown and spread over threads: the callbacks that the
 * library takes.
 *
 * Owner: the caller. Threads: the callbacks may come from those of the pool.
 */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_CHOOSE_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_CHOOSE_H

#include "daemon/base/command.h"
#include "daemon/tools/select/select_args.h"
#include "daemon/training/train_args.h"
#include "offline/select/greedy_select.h"
#include "offline/select/importance.h"
#include "offline/select/nfs.h"
#include "offline/select/relevance.h"

#include <pthread.h>

struct ek_select_progress {
    struct ek_progress progress;
    struct ek_pool *pool;
    pthread_mutex_t lock;
    int done;
};

void ek_select_progress_start(struct ek_select_progress *p, struct ek_pool *pool);
/* The callbacks `run` and `done`; their context is the struct. */
void ek_select_run(void *context, void (*task)(void *arg, int i), void *arg, int count);
void ek_select_progress_add(void *context, int count);

/* What `evenkeel select` measures of features, and the sets that it chooses.
 *
 * Shapes: F item features; candidates are those that are not constant. Sets do not fall
 * in size; two shares may come to the same one. Owner: the caller, ek_selection_release.
 */
struct ek_feature_set {
    double share;       /* percent; 0: chosen by count */
    int count, desired; /* wanted: more than count where only that many vary */
    int *item;          /* [count], the best first */
};

struct ek_selection {
    int features, candidates;         /* F, C */
    struct ek_relevance *relevance;   /* [F] */
    double *likeness;                 /* [F, F], by correlation or by NFS */
    bool *candidate;                  /* [F] */
    struct ek_importance *importance; /* [F]; NULL unless that is the method */
    double whole;                     /* metric of the model, for importance */
    struct ek_nfs nfs;                /* features 0 unless that is the method */
    int set_count;
    struct ek_feature_set set[EK_SHARES_MAX];
    struct ek_merge *merge; /* [C - 1] */
    int *leaf;              /* [C] features, by their number in the merges */
    int *cluster;           /* [F], of the largest set; -1: none. NULL: not chosen by clusters */
    int clusters;           /* in the tree, where it is cut for the largest set */
};

/* Lists that are chosen by, and the model for importance (else NULL). */
struct ek_select_data {
    const struct ek_manifest *m;
    const struct ek_dataset *train, *vali;
    const struct ek_model *model;
    struct ek_pool *pool;
};

/* Fills `s`; the caller releases it even on failure. Shows progress. */
int ek_selection_make(struct ek_selection *s, struct ek_select_args *a,
                      const struct ek_select_data *d);
void ek_selection_release(struct ek_selection *s);
/* Place of a feature in a set, from 1; 0: it is not in. */
int ek_feature_set_rank(const struct ek_feature_set *set, int item);
/* How like a feature is to that of a set which it is most like, itself left out; 0 for none. */
double ek_selection_redundancy(const struct ek_selection *s, int item,
                               const struct ek_feature_set *set);

#endif
