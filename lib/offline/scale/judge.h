/* The judge of scalings: a linear ranker (choose/rank_svm.h) on each, by cross validation. It is
 * weak on purpose, as in the papers: what it cannot bend, the scaling must have bent.
 *
 * Per fold C is chosen on the validation part, of ek_judge_c by MAP, the smaller of equals; the
 * ranker with it is tested. Figures are means over the tested lists of all folds, each list once.
 * Lists without a relevant item follow one rule for all figures; the gain of NDCG is 2^y - 1 or y,
 * ERR is by the data's highest label. A C at which training does not settle is passed over.
 *
 * Shapes: F item features become `columns` per method and fold. Deterministic, whatever the number
 * of threads. Memory: per fold at work the data once more, and its rows after scaling.
 * Owner: the caller, ek_judgement_release.
 */
#ifndef EK_CHOOSE_JUDGE_H
#define EK_CHOOSE_JUDGE_H

#include "offline/scale/folds.h"
#include "offline/scale/rank_svm.h"
#include "score/metrics.h"

enum {
    EK_JUDGE_DEPTH = 10,               /* of P@k and NDCG@k */
    EK_JUDGE_P = 0,                    /* P@1 .. */
    EK_JUDGE_NDCG = EK_JUDGE_DEPTH,    /* NDCG@1 .. */
    EK_JUDGE_MAP = 2 * EK_JUDGE_DEPTH, /* numbers of metrics */
    EK_JUDGE_ERR,
    EK_JUDGE_METRICS
};
enum { EK_JUDGE_CS = 8 };
/* The grid of C, in rising order: 0.01 to 100000, a step being tenfold. */
double ek_judge_c(int number);

/* What a scaling makes of a fold: rows of finite numbers, in the order of the items. */
struct ek_judge_rows {
    size_t columns;
    float *train, *vali, *test; /* [items, columns], from ek_calloc; the judge frees them */
};

/* A way to scale: learns on `train` (and may try things on `vali`), makes rows of all three. May be
 * called from several threads at once. On failure what is in `rows` is freed all the same. */
struct ek_judged {
    const char *name;
    int (*scale)(void *context, const struct ek_fold *fold, struct ek_judge_rows *rows,
                 struct ek_error *e);
    void *context;
};

struct ek_judge_options {
    enum ek_gain gain;
    enum ek_empty empty;
    struct ek_rank_svm_options svm; /* its C is not looked at */
    /* Before each method, from 0, and at the end; non-zero stops (EK_ESTATE). May be NULL. */
    int (*progress)(void *context, int done, int of, const char *name);
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    void *context;
};

struct ek_judge_fold {
    double c;        /* chosen */
    int edge;        /* it is the least (-1) or the largest (1) of the grid */
    int unsettled;   /* how many C were passed over */
    double vali_map; /* at the chosen C */
    size_t columns;
    struct ek_metric_mean mean[EK_JUDGE_METRICS];
};

struct ek_judgement {
    const char *name;
    int parts;
    double max_label;           /* of the data, which ERR is relative to */
    struct ek_judge_fold *fold; /* [parts] */
    struct ek_metric_mean mean[EK_JUDGE_METRICS];
    double *first; /* [Q] NDCG@1 per list, by the rule for empty ones; NaN: skipped */
};

/* Gain exp, empty lists skipped, the ranker's defaults. */
void ek_judge_defaults(struct ek_judge_options *o);
/* "p@1" ... "err". */
struct ek_metric ek_judge_metric(int number);
const char *ek_judge_metric_name(int number, char *text, size_t size);
/* out [count]. EK_EUSAGE when a fold has nothing to learn from or to choose by, EK_ESTATE,
 * EK_ENOMEM, and what `scale` fails with; nothing is to be released then. */
int ek_judge(const struct ek_dataset *d, const struct ek_folds *folds, const struct ek_judged *of,
             int count, const struct ek_judge_options *o, struct ek_judgement *out,
             struct ek_error *e);
void ek_judgement_release(struct ek_judgement *j);

#endif
