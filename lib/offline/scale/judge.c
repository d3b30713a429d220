#include "offline/scale/judge.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double GRID[EK_JUDGE_CS] = {.01, .1, 1, 10, 100, 1e3, 1e4, 1e5};

/* One method, whose folds may be at work at the same time. */
struct bench {
    const struct ek_dataset *data;
    const struct ek_folds *folds;
    const struct ek_judged *of;
    const struct ek_judge_options *o;
    double max_label;
    struct ek_judgement *out;
    struct ek_error *error; /* [parts] */
    int *rc;                /* [parts] */
};

/* What one fold needs to train and to test. */
struct bout {
    const struct bench *b;
    struct ek_fold fold;
    struct ek_judge_rows rows;
    double *w, *best;         /* [columns] */
    double *scores, *scratch; /* [longest list] */
    int *order;               /* [longest list] */
    struct ek_judge_fold *out;
};

void ek_judge_defaults(struct ek_judge_options *o)
{
    *o = (struct ek_judge_options){.gain = EK_GAIN_EXP, .empty = EK_EMPTY_SKIP};
    ek_rank_svm_defaults(&o->svm);
}

struct ek_metric ek_judge_metric(int number)
{
    if (number == EK_JUDGE_MAP)
        return (struct ek_metric){EK_MAP, 0};
    if (number == EK_JUDGE_ERR)
        return (struct ek_metric){EK_ERR, 0};
    enum ek_metric_kind kind = number < EK_JUDGE_NDCG ? EK_PRECISION : EK_NDCG;
    return (struct ek_metric){kind, number % EK_JUDGE_DEPTH + 1};
}

const char *ek_judge_metric_name(int number, char *text, size_t size)
{
    struct ek_metric m = ek_judge_metric(number);
    if (m.cutoff)
        snprintf(text, size, "%s@%d", m.kind == EK_NDCG ? "ndcg" : "p", m.cutoff);
    else
        snprintf(text, size, "%s", m.kind == EK_MAP ? "map" : "err");
    return text;
}

double ek_judge_c(int number)
{
    return GRID[number];
}

static size_t longest(const struct ek_dataset *d, size_t length)
{
    for (size_t q = 0; q < d->lists; q++)
        if (d->offset[q + 1] - d->offset[q] > length)
            length = d->offset[q + 1] - d->offset[q];
    return length;
}

static int prepare(struct bout *k, struct ek_error *e)
{
    size_t length = longest(&k->fold.test, longest(&k->fold.vali, 0));
    k->w = ek_calloc(k->rows.columns, sizeof *k->w);
    k->best = ek_calloc(k->rows.columns, sizeof *k->best);
    k->scores = ek_calloc(length, sizeof *k->scores);
    k->scratch = ek_calloc(length, sizeof *k->scratch);
    k->order = ek_calloc(length, sizeof *k->order);
    if (!k->w || !k->best || !k->scores || !k->scratch || !k->order)
        return ek_fail(e, EK_ENOMEM, "no memory to judge lists of %zu items", length);
    return EK_OK;
}

static void release(struct bout *k)
{
    ek_fold_release(&k->fold);
    ek_free(k->rows.train);
    ek_free(k->rows.vali);
    ek_free(k->rows.test);
    ek_free(k->w);
    ek_free(k->best);
    ek_free(k->scores);
    ek_free(k->scratch);
    ek_free(k->order);
}

/* Scores and ranks list q of a part. */
static void rank(struct bout *k, const struct ek_dataset *d, const float *rows, const double *w,
                 size_t q)
{
    size_t from = d->offset[q], n = d->offset[q + 1] - from, columns = k->rows.columns;
    for (size_t i = 0; i < n; i++) {
        const float *x = rows + (from + i) * columns;
        double sum = 0;
        for (size_t c = 0; c < columns; c++)
            sum += w[c] * (double)x[c];
        k->scores[i] = sum;
    }
    ek_rank(k->scores, (int)n, k->order);
}

static double value(struct bout *k, const struct ek_dataset *d, size_t q, struct ek_metric metric)
{
    size_t from = d->offset[q];
    return ek_metric_of_list(metric, k->b->o->gain, k->order, d->label + from,
                             (int)(d->offset[q + 1] - from), k->b->max_label, k->scratch);
}

/* MAP of the validation part. */
static double validate(struct bout *k)
{
    struct ek_metric_mean map = {0};
    for (size_t q = 0; q < k->fold.vali.lists; q++) {
        rank(k, &k->fold.vali, k->rows.vali, k->w, q);
        ek_metric_add(&map, value(k, &k->fold.vali, q, ek_judge_metric(EK_JUDGE_MAP)),
                      k->b->o->empty);
    }
    return ek_metric_result(&map);
}

/* Trains with each C; `best` are the weights of the one chosen. */
static int choose(struct bout *k, struct ek_error *e)
{
    struct ek_rank_svm_options svm = k->b->o->svm;
    struct ek_judge_fold *out = k->out;
    int chosen = -1;
    for (int i = 0; i < EK_JUDGE_CS; i++) {
        svm.c = GRID[i];
        int rc = ek_rank_svm(&k->fold.train, k->rows.train, k->rows.columns, &svm, k->w, NULL, e);
        if (rc && rc != EK_ESTATE)
            return rc;
        out->unsettled += rc == EK_ESTATE;
        double map = rc ? NAN : validate(k);
        if (rc || (chosen >= 0 && !(map > out->vali_map)))
            continue;
        chosen = i;
        out->vali_map = map;
        memcpy(k->best, k->w, k->rows.columns * sizeof *k->best);
    }
    if (chosen < 0)
        return EK_ESTATE; /* as the last training said */
    if (isnan(out->vali_map))
        return ek_fail(e, EK_EUSAGE, "no list of the validation part has a relevant item");
    out->c = GRID[chosen];
    out->edge = chosen == 0 ? -1 : chosen == EK_JUDGE_CS - 1;
    return EK_OK;
}

static void test(struct bout *k)
{
    for (size_t q = 0; q < k->fold.test.lists; q++) {
        rank(k, &k->fold.test, k->rows.test, k->best, q);
        for (int i = 0; i < EK_JUDGE_METRICS; i++) {
            struct ek_metric_mean one = {0};
            double v = value(k, &k->fold.test, q, ek_judge_metric(i));
            ek_metric_add(&k->out->mean[i], v, k->b->o->empty);
            ek_metric_add(&one, v, k->b->o->empty);
            if (i == EK_JUDGE_NDCG)
                k->b->out->first[k->fold.first_tested + q] = ek_metric_result(&one);
        }
    }
}

static void judge_fold(void *arg, int number)
{
    struct bench *b = arg;
    struct bout k = {.b = b, .out = b->out->fold + number};
    struct ek_error *e = b->error + number;
    int rc = ek_fold_make(&k.fold, b->folds, b->data, number, e);
    if (rc) {
        b->rc[number] = rc;
        return;
    }
    rc = b->of->scale(b->of->context, &k.fold, &k.rows, e);
    k.out->columns = k.rows.columns;
    if (!rc)
        rc = prepare(&k, e);
    if (!rc)
        rc = choose(&k, e);
    if (!rc)
        test(&k);
    b->rc[number] = rc;
    release(&k);
}

static void run_folds(struct bench *b)
{
    if (b->o->run)
        b->o->run(b->o->context, judge_fold, b, b->folds->parts);
    else
        for (int f = 0; f < b->folds->parts; f++)
            judge_fold(b, f);
}

/* The first fold that failed speaks, as with one thread. */
static int gather(const struct bench *b, struct ek_error *e)
{
    for (int f = 0; f < b->folds->parts; f++) {
        if (b->rc[f])
            return ek_fail(e, (enum ek_code)b->rc[f], "'%s', fold %d: %s", b->of->name, f + 1,
                           b->error[f].message);
        for (int i = 0; i < EK_JUDGE_METRICS; i++) {
            const struct ek_metric_mean *part = &b->out->fold[f].mean[i];
            b->out->mean[i].sum += part->sum;
            b->out->mean[i].count += part->count;
            b->out->mean[i].lists += part->lists;
        }
    }
    return EK_OK;
}

static int judge_one(struct bench *b, struct ek_error *e)
{
    size_t parts = (size_t)b->folds->parts;
    struct ek_judgement *j = b->out;
    memset(j, 0, sizeof *j);
    j->name = b->of->name;
    j->parts = b->folds->parts;
    j->max_label = b->max_label;
    j->fold = ek_calloc(parts, sizeof *j->fold);
    j->first = ek_calloc(b->data->lists, sizeof *j->first);
    b->error = ek_calloc(parts, sizeof *b->error);
    b->rc = ek_calloc(parts, sizeof *b->rc);
    int rc = EK_OK;
    if (!j->fold || !j->first || !b->error || !b->rc) {
        rc = ek_fail(e, EK_ENOMEM, "no memory for %zu folds", parts);
    } else {
        run_folds(b);
        rc = gather(b, e);
    }
    ek_free(b->error);
    ek_free(b->rc);
    return rc;
}

static int highest_label(const struct ek_dataset *d, double *highest, struct ek_error *e)
{
    *highest = 0;
    for (size_t i = 0; i < d->items; i++)
        *highest = fmax(*highest, (double)d->label[i]);
    if (*highest > (double)EK_LABEL_MAX)
        return ek_fail(e, EK_EUSAGE, "label %g is above %g, too large for ERR; give grades",
                       *highest, (double)EK_LABEL_MAX);
    return EK_OK;
}

static int report(const struct ek_judge_options *o, int done, int count, const char *name,
                  struct ek_error *e)
{
    if (o->progress && o->progress(o->context, done, count, name))
        return ek_fail(e, EK_ESTATE, "stopped");
    return EK_OK;
}

int ek_judge(const struct ek_dataset *d, const struct ek_folds *folds, const struct ek_judged *of,
             int count, const struct ek_judge_options *o, struct ek_judgement *out,
             struct ek_error *e)
{
    struct bench b = {.data = d, .folds = folds, .o = o};
    int done = 0, rc = highest_label(d, &b.max_label, e);
    while (done < count && !rc) {
        rc = report(o, done, count, of[done].name, e);
        if (rc)
            break;
        b.of = &of[done];
        b.out = &out[done++];
        rc = judge_one(&b, e);
    }
    if (!rc)
        rc = report(o, count, count, "", e);
    for (int i = 0; i < done && rc; i++)
        ek_judgement_release(&out[i]);
    return rc;
}

void ek_judgement_release(struct ek_judgement *j)
{
    ek_free(j->fold);
    ek_free(j->first);
    j->fold = NULL;
    j->first = NULL;
}
