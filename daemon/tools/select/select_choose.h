/* Feature selection of `select`: measurements, selected sets, and their progress. */
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

/* Progress and thread pool of `select`, as callbacks of the library. The callbacks may run on
 * threads of the pool. */
struct ek_select_progress {
    struct ek_progress progress;
    struct ek_pool *pool;
    pthread_mutex_t lock;
    int done;
};

/* Initialize *p without output. pool: for ek_select_run, not owned; NULL: one thread. The caller
 * shows p->progress with ek_progress_start and ek_progress_finish. Nothing needs a release. */
void ek_select_progress_start(struct ek_select_progress *p, struct ek_pool *pool);
/* Callback `run` of the options; context: the progress. Run the tasks in its pool. */
void ek_select_run(void *context, void (*task)(void *arg, int i), void *arg, int count);
/* Callback `done` of the options; context: the progress. Count a feature of `count` as measured and
 * show it. Any thread. */
void ek_select_progress_add(void *context, int count);

/* Measurements and selected feature sets of `select`.
 *
 * Shapes: F item features, C candidates, which are not constant. Sets are in increasing size; two
 * fractions may give equal sets. Release with ek_selection_release.
 */
struct ek_feature_set {
    double share;       /* percent; 0: by count */
    int count, desired; /* desired: larger than count if fewer features vary */
    int *item;          /* [count], best first */
};

struct ek_selection {
    int features, candidates;         /* F, C */
    struct ek_relevance *relevance;   /* [F] */
    double *likeness;                 /* [F, F], correlation or NFS similarity */
    bool *candidate;                  /* [F] */
    struct ek_importance *importance; /* [F]; NULL for other methods */
    double whole;                     /* metric of the complete model, for importance */
    struct ek_nfs nfs;                /* features is 0 for other methods */
    int set_count;
    struct ek_feature_set set[EK_SHARES_MAX];
    struct ek_merge *merge; /* [C - 1] */
    int *leaf;              /* [C] features, by their number in the merges */
    int *cluster;           /* [F], of the largest set; -1: none. NULL: not selected by clusters */
    int clusters;           /* where the tree is cut for the largest set */
};

/* Lists for the selection, and the model for importance, else NULL. */
struct ek_select_data {
    const struct ek_manifest *m;
    const struct ek_dataset *train, *vali;
    const struct ek_model *model;
    struct ek_pool *pool;
};

/* Measure and select features, and set *s; release it even on failure. Shows progress. Return 0,
 * EK_EUSAGE if fewer features vary than requested or an option does not fit the data, EK_ESTATE if
 * a training does not converge or data and model do not fit, or EK_ENOMEM, with the error in *a. */
int ek_selection_make(struct ek_selection *s, struct ek_select_args *a,
                      const struct ek_select_data *d);
void ek_selection_release(struct ek_selection *s);
/* Return the position of a feature in a set, from 1; 0: absent. */
int ek_feature_set_rank(const struct ek_feature_set *set, int item);
/* Return the largest similarity of a feature to another one in the set; 0 without any. */
double ek_selection_redundancy(const struct ek_selection *s, int item,
                               const struct ek_feature_set *set);

#endif
