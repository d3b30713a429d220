/* Cross validation as in LETOR: of P parts, fold f trains on f .. f+P-3, validates on f+P-2 and
 * tests on f+P-1, modulo P. So each list is tested once (Qin and Liu 2013: MQ2008 has five files).
 *
 * Shapes: parts are consecutive lists of one data set, numbers from 0. Owner: the caller; a fold is
 * a copy of the data. Threads: no state.
 */
#ifndef EK_OFFLINE_SCALE_CROSSVAL_H
#define EK_OFFLINE_SCALE_CROSSVAL_H

#include "lists/dataset.h"
#include "offline/scale/rank_svm.h"
#include "offline/scale/scaling.h"
#include "score/metrics.h"

#include <stddef.h>

enum { EK_FOLDS_MIN = 3, EK_FOLDS_DEFAULT = 5, EK_FOLDS_MAX = 20 };

struct ek_folds {
    int parts;
    size_t edge[EK_FOLDS_MAX + 1]; /* part i is the lists edge[i] .. edge[i+1]-1 */
};

struct ek_fold {
    struct ek_dataset train, vali, test;
    size_t first_tested; /* number in the whole of the first list of `test` */
};

/* Parts whose sizes differ by one at most, the larger ones first. EK_EUSAGE for a number of parts
 * that is out of range or above that of the lists. */
int ek_folds_split(struct ek_folds *f, size_t lists, int parts, struct ek_error *e);
/* Parts as given, the files of a set: lists [parts] is how many each has. EK_EUSAGE as above, and
 * when one is empty. */
int ek_folds_from_parts(struct ek_folds *f, const size_t *lists, int parts, struct ek_error *e);
/* Takes all of `d`, which has the lists that the parts were made for. EK_ENOMEM; there is nothing
 * to release then. */
int ek_fold_make(struct ek_fold *out, const struct ek_folds *f, const struct ek_dataset *d,
                 int number, struct ek_error *e);
void ek_fold_release(struct ek_fold *f);

/* The two-sided paired t-test: whether two ways of ranking differ by more than chance over the same
 * lists (Student 1908; as used for retrieval: Smucker, Allan and Carterette 2007).
 *
 *   t = mean(d) / (sd(d) / sqrt(n)), d = a - b, sd with n - 1;  p = I_x(v/2, 1/2), x = v / (v +
 * t^2)
 *
 * with v = n - 1 degrees of freedom. Lists with NaN on either side are left out. Without any
 * difference t is 0 and p 1; where all differ by the same, t is infinite and p 0; of fewer than two
 * lists nothing can be said: t and p are NaN. No state, no failure.
 */
struct ek_paired_test {
    size_t pairs;   /* that counted, n */
    double degrees; /* of freedom, v; 0 for none */
    double mean;    /* of the differences a - b; NaN without any */
    double t, p;
};

/* a, b [n]. */
void ek_paired_test(const double *a, const double *b, size_t n, struct ek_paired_test *out);
/* The probability of |T| >= |t| for Student's T of v > 0 degrees of freedom; relative error below
 * 1e-11. NaN for NaN. */
double ek_student_two_sided(double t, double degrees);

/* The judge of scalings: a linear ranker (choose/rank_svm.h) on each, by cross validation. It is
 * weak on purpose, as in the papers: what it cannot bend, the scaling must have bent.
 *
 * Per fold C is chosen on the validation part, of ek_crossval_c by MAP, the smaller of equals; the
 * ranker with it is tested. Figures are means over the tested lists of all folds, each list once.
 * Lists without a relevant item follow one rule for all figures; the gain of NDCG is 2^y - 1 or y,
 * ERR is by the data's highest label. A C at which training does not settle is passed over.
 *
 * Shapes: F item features become `columns` per method and fold. Deterministic, whatever the number
 * of threads. Memory: per fold at work the data once more, and its rows after scaling.
 * Owner: the caller, ek_crossval_scores_release.
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
/* The grid of C, in rising order: 0.01 to 100000, a step being tenfold. */
double ek_crossval_c(int number);

/* What a scaling makes of a fold: rows of finite numbers, in the order of the items. */
struct ek_crossval_rows {
    size_t columns;
    float *train, *vali, *test; /* [items, columns], from ek_calloc; the judge frees them */
};

/* A way to scale: learns on `train` (and may try things on `vali`), makes rows of all three. May be
 * called from several threads at once. On failure what is in `rows` is freed all the same. */
struct ek_crossval_result {
    const char *name;
    int (*scale)(void *context, const struct ek_fold *fold, struct ek_crossval_rows *rows,
                 struct ek_error *e);
    void *context;
};

struct ek_crossval_options {
    enum ek_gain gain;
    enum ek_empty empty;
    struct ek_rank_svm_options svm; /* its C is not looked at */
    /* Before each method, from 0, and at the end; non-zero stops (EK_ESTATE). May be NULL. */
    int (*progress)(void *context, int done, int of, const char *name);
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    void *context;
};

struct ek_crossval_fold {
    double c;        /* chosen */
    int edge;        /* it is the least (-1) or the largest (1) of the grid */
    int unsettled;   /* how many C were passed over */
    double vali_map; /* at the chosen C */
    size_t columns;
    struct ek_metric_mean mean[EK_CROSSVAL_METRICS];
};

struct ek_crossval_scores {
    const char *name;
    int parts;
    double max_label;              /* of the data, which ERR is relative to */
    struct ek_crossval_fold *fold; /* [parts] */
    struct ek_metric_mean mean[EK_CROSSVAL_METRICS];
    double *first; /* [Q] NDCG@1 per list, by the rule for empty ones; NaN: skipped */
};

/* Gain exp, empty lists skipped, the ranker's defaults. */
void ek_crossval_defaults(struct ek_crossval_options *o);
/* "p@1" ... "err". */
struct ek_metric ek_crossval_metric(int number);
const char *ek_crossval_metric_name(int number, char *text, size_t size);
/* out [count]. EK_EUSAGE when a fold has nothing to learn from or to choose by, EK_ESTATE,
 * EK_ENOMEM, and what `scale` fails with; nothing is to be released then. */
int ek_crossval(const struct ek_dataset *d, const struct ek_folds *folds,
                const struct ek_crossval_result *of, int count, const struct ek_crossval_options *o,
                struct ek_crossval_scores *out, struct ek_error *e);
void ek_crossval_scores_release(struct ek_crossval_scores *j);

/* The judge on the methods of choose/method.h: a method learns on the training part of a fold, as
 * osm does on the validation part too, and scales all three. Missing values are 0 afterwards.
 *
 * Owner: the caller. Threads: read-only, so that folds may be scaled at the same time.
 */
struct ek_crossval_method {
    enum ek_method method;
    struct ek_osm_options osm; /* without progress: several folds may be at work */
};

/* How the judge calls it; `m` must live as long. */
struct ek_crossval_result ek_crossval_from_method(struct ek_crossval_method *m);

#endif
