/* Cross validation of scaling methods by a linear ranker: folds, a paired t-test, scores. */
#ifndef EK_OFFLINE_SCALE_CROSSVAL_H
#define EK_OFFLINE_SCALE_CROSSVAL_H

#include "lists/dataset.h"
#include "offline/scale/rank_svm.h"
#include "offline/scale/scaling.h"
#include "score/metrics.h"

#include <stddef.h>

/* Cross validation as in LETOR.
 *
 * Of P parts, fold f trains on f .. f+P-3, validates on f+P-2 and tests on f+P-1, modulo P. So each
 * list is tested once (Qin and Liu 2013: MQ2008 has five files). Parts are consecutive lists of one
 * dataset, numbered from 0. A fold is a copy of the data.
 */
enum { EK_FOLDS_MIN = 3, EK_FOLDS_DEFAULT = 5, EK_FOLDS_MAX = 20 };

struct ek_folds {
    int parts;
    size_t edge[EK_FOLDS_MAX + 1]; /* part i has the lists edge[i] .. edge[i+1]-1 */
};

struct ek_fold {
    struct ek_dataset train, vali, test;
    size_t first_tested; /* index in the dataset of the first list of `test` */
};

/* Set *f to parts of `lists` with sizes that differ by at most one, larger ones first. Return 0, or
 * EK_EUSAGE if `parts` is out of range or exceeds the number of lists. */
int ek_folds_split(struct ek_folds *f, size_t lists, int parts, struct ek_error *e);
/* Set *f to parts of sizes lists [parts], for example one file per part. Return 0, or EK_EUSAGE if
 * `parts` is out of range or for an empty part. */
int ek_folds_from_parts(struct ek_folds *f, const size_t *lists, int parts, struct ek_error *e);
/* Set *out to copies of the lists of fold `number` of `d`, which must have the lists of `f`.
 * Release it with ek_fold_release. Return 0, or EK_ENOMEM with nothing to release. */
int ek_fold_make(struct ek_fold *out, const struct ek_folds *f, const struct ek_dataset *d,
                 int number, struct ek_error *e);
void ek_fold_release(struct ek_fold *f);

/* Two-sided paired t-test of two rankers over the same lists (Student 1908; for retrieval: Smucker,
 * Allan and Carterette 2007).
 *
 *   t = mean(d) / (sd(d) / sqrt(n)), d = a - b, sd with n - 1
 *   p = I_x(v/2, 1/2), x = v / (v + t^2)
 *
 * v = n - 1 is the degrees of freedom. Lists with NaN on either side are skipped. Without any
 * difference t is 0 and p is 1. If all differences are equal, t is infinite and p is 0. For fewer
 * than two lists, t and p are NaN.
 */
struct ek_paired_test {
    size_t pairs;   /* n, pairs without NaN */
    double degrees; /* v, of freedom; 0 without pairs */
    double mean;    /* of a - b; NaN without pairs */
    double t, p;
};

/* Set *out to the paired t-test of a [n] against b [n]. */
void ek_paired_test(const double *a, const double *b, size_t n, struct ek_paired_test *out);
/* Return P(|T| >= |t|) for Student's T with degrees > 0 degrees of freedom, with a relative error
 * below 1e-11. NaN gives NaN. */
double ek_student_two_sided(double t, double degrees);

/* Cross validation of scalings by a linear ranker (offline/scale/rank_svm.h) on each.
 *
 * The ranker is weak on purpose, as in the papers: only the scaling can provide nonlinearity. Each
 * fold selects C from ek_crossval_c by MAP on the validation part, the smaller C of equals, and
 * tests that ranker. A C without convergence is skipped. Metrics are means over the tested lists of
 * all folds, each list once. Lists without a relevant item follow one rule for all metrics. The
 * gain of NDCG is 2^y - 1 or y; ERR uses the highest label of the data.
 *
 * F item features become `columns` per method and fold. Results do not depend on the number of
 * threads. Memory: per running fold, one copy of the data and its scaled rows.
 */
enum {
    EK_CROSSVAL_DEPTH = 10,                  /* of P@k and NDCG@k */
    EK_CROSSVAL_P = 0,                       /* P@1 .. */
    EK_CROSSVAL_NDCG = EK_CROSSVAL_DEPTH,    /* NDCG@1 .. */
    EK_CROSSVAL_MAP = 2 * EK_CROSSVAL_DEPTH, /* numbers of metrics */
    EK_CROSSVAL_ERR,
    EK_CROSSVAL_METRICS
};
enum { EK_CROSSVAL_CS = 8 };
/* Return C number `number`, ascending: 0.01 to 100000 in factors of ten. */
double ek_crossval_c(int number);

/* Scaled rows of a fold: finite numbers in the order of the items. */
struct ek_crossval_rows {
    size_t columns;
    float *train, *vali, *test; /* [items, columns], from ek_calloc; freed by ek_crossval */
};

/* Scaling method. It fits on `train`, may evaluate on `vali`, and makes rows of all three. Calls
 * may run in parallel. On failure, `rows` is freed too. */
struct ek_crossval_result {
    const char *name;
    int (*scale)(void *context, const struct ek_fold *fold, struct ek_crossval_rows *rows,
                 struct ek_error *e);
    void *context;
};

struct ek_crossval_options {
    enum ek_gain gain;
    enum ek_empty empty;
    struct ek_rank_svm_options svm; /* its `c` is ignored */
    /* Called before each method, from 0, and at the end; nonzero stops with EK_ESTATE. May be NULL.
     */
    int (*progress)(void *context, int done, int of, const char *name);
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    void *context;
};

struct ek_crossval_fold {
    double c;        /* selected */
    int edge;        /* -1: smallest of the grid, 1: largest, else 0 */
    int unsettled;   /* number of skipped C */
    double vali_map; /* at the selected C */
    size_t columns;
    struct ek_metric_mean mean[EK_CROSSVAL_METRICS];
};

struct ek_crossval_scores {
    const char *name;
    int parts;
    double max_label;              /* highest label of the data, for ERR */
    struct ek_crossval_fold *fold; /* [parts] */
    struct ek_metric_mean mean[EK_CROSSVAL_METRICS];
    double *first; /* [Q], NDCG@1 per list, with the rule for empty ones; NaN: skipped */
};

/* Set all members of *o: gain exp, empty lists skipped, the defaults of the ranker, and 0 for the
 * others. */
void ek_crossval_defaults(struct ek_crossval_options *o);
/* Return metric `number`, 0 .. EK_CROSSVAL_METRICS - 1. */
struct ek_metric ek_crossval_metric(int number);
/* Write the name of metric `number` to `text`, cut to fit: "p@1" ... "err". Return `text`. */
const char *ek_crossval_metric_name(int number, char *text, size_t size);
/* Cross-validate the methods of [count] on the folds, and set out [count], which
 * ek_crossval_scores_release frees. Return 0, EK_EUSAGE if a fold has no pair to train on or no
 * relevant item to validate on, EK_ESTATE if no C converges or `progress` stops, EK_ENOMEM, or an
 * error of `scale`. On error, nothing needs a release. */
int ek_crossval(const struct ek_dataset *d, const struct ek_folds *folds,
                const struct ek_crossval_result *of, int count, const struct ek_crossval_options *o,
                struct ek_crossval_scores *out, struct ek_error *e);
void ek_crossval_scores_release(struct ek_crossval_scores *j);

/* Scaling method of offline/scale/scaling.h for ek_crossval. It fits on the training part of a
 * fold, with osm also on the validation part. Missing values become 0. Read-only, so folds may run
 * in parallel. */
struct ek_crossval_method {
    enum ek_method method;
    struct ek_osm_options osm; /* without progress, because folds may run in parallel */
};

/* Return the method for ek_crossval; `m` must outlive it. */
struct ek_crossval_result ek_crossval_from_method(struct ek_crossval_method *m);

#endif
