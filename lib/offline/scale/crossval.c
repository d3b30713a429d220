#include "offline/scale/crossval.h"

#include "base/alloc.h"
#include "offline/scale/scaling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int check(int parts, struct ek_error *e)
{
    if (parts < EK_FOLDS_MIN || parts > EK_FOLDS_MAX)
        return ek_fail(e, EK_EUSAGE, "%d parts; folds are made of %d to %d", parts, EK_FOLDS_MIN,
                       EK_FOLDS_MAX);
    return EK_OK;
}

int ek_folds_split(struct ek_folds *f, size_t lists, int parts, struct ek_error *e)
{
    int rc = check(parts, e);
    if (rc)
        return rc;
    size_t count = (size_t)parts;
    if (lists < count)
        return ek_fail(e, EK_EUSAGE, "%zu lists are too few for %d parts", lists, parts);
    f->parts = parts;
    for (size_t i = 0; i <= count; i++)
        f->edge[i] = i * (lists / count) + (i < lists % count ? i : lists % count);
    return EK_OK;
}

int ek_folds_from_parts(struct ek_folds *f, const size_t *lists, int parts, struct ek_error *e)
{
    int rc = check(parts, e);
    for (int i = 0; i < parts && !rc; i++)
        if (!lists[i])
            rc = ek_fail(e, EK_EUSAGE, "part %d of %d has no list", i + 1, parts);
    if (rc)
        return rc;
    f->parts = parts;
    f->edge[0] = 0;
    for (int i = 0; i < parts; i++)
        f->edge[i + 1] = f->edge[i] + lists[i];
    return EK_OK;
}

static int add_part(struct ek_dataset *to, const struct ek_folds *f, const struct ek_dataset *d,
                    int part, struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = f->edge[part]; i < f->edge[part + 1] && !rc; i++) {
        struct ek_list q;
        ek_dataset_view(d, i, &q);
        rc = ek_dataset_add(to, &q, e);
    }
    return rc;
}

int ek_fold_make(struct ek_fold *out, const struct ek_folds *f, const struct ek_dataset *d,
                 int number, struct ek_error *e)
{
    struct ek_fold fold;
    int vali = (number + f->parts - 2) % f->parts, test = (number + f->parts - 1) % f->parts;
    int rc = EK_OK;
    ek_dataset_init(&fold.train, d->item_features, d->query_features);
    ek_dataset_init(&fold.vali, d->item_features, d->query_features);
    ek_dataset_init(&fold.test, d->item_features, d->query_features);
    fold.first_tested = f->edge[test];
    for (int i = 0; i < f->parts - 2 && !rc; i++)
        rc = add_part(&fold.train, f, d, (number + i) % f->parts, e);
    if (!rc)
        rc = add_part(&fold.vali, f, d, vali, e);
    if (!rc)
        rc = add_part(&fold.test, f, d, test, e);
    if (rc)
        ek_fold_release(&fold);
    else
        *out = fold;
    return rc;
}

void ek_fold_release(struct ek_fold *f)
{
    ek_dataset_release(&f->train);
    ek_dataset_release(&f->vali);
    ek_dataset_release(&f->test);
}

enum { TERMS_MAX = 100000 };

/* Return Gamma(a + 1/2) / Gamma(a). A difference of two large logarithms would lose half of the
 * digits. So `a` is raised until its expansion in 1/a is accurate (DLMF 5.11.13). */
static double half_step(double a)
{
    double product = 1;
    for (; a < 64; a++)
        product *= a / (a + 0.5);
    double u = 1 / a;
    double series =
        1 + u * (-1.0 / 8 +
                 u * (1.0 / 128 + u * (5.0 / 1024 + u * (-21.0 / 32768 - u * 399.0 / 262144))));
    return product * sqrt(a) * series;
}

static double not_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method
 * as modified by Thompson and Barnett (1986). It converges quickly for x < (a + 1) / (a + b + 2).
 */
static double fraction(double x, double a, double b)
{
    double upper = 1, lower = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = lower;
    for (int m = 1; m < TERMS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        lower = 1 / not_zero(1 + even * lower);
        upper = not_zero(1 + even / upper);
        value *= lower * upper;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        lower = 1 / not_zero(1 + odd * lower);
        upper = not_zero(1 + odd / upper);
        value *= lower * upper;
        if (fabs(lower * upper - 1) < 1e-15)
            break;
    }
    return value;
}

double ek_student_two_sided(double t, double degrees)
{
    if (isnan(t))
        return NAN;
    if (isinf(t))
        return 0;
    double a = degrees / 2, ratio = t * t / degrees, x = 1 / (1 + ratio),
           rest = ratio / (1 + ratio);
    if (isinf(ratio))
        return 0;
    /* x^a (1-x)^b / B(a, b), b = 1/2 */
    double front = exp(-a * log1p(ratio)) * sqrt(rest) * half_step(a) / sqrt(acos(-1));
    if (x < (a + 1) / (a + 2.5))
        return front * fraction(x, a, 0.5) / a;
    return 1 - front * fraction(rest, 0.5, a) / 0.5;
}

static double mean_of(const double *a, const double *b, size_t n, size_t *pairs)
{
    double sum = 0;
    *pairs = 0;
    for (size_t i = 0; i < n; i++) {
        double d = a[i] - b[i];
        if (isnan(d))
            continue;
        sum += d;
        ++*pairs;
    }
    return sum / (double)*pairs;
}

void ek_paired_test(const double *a, const double *b, size_t n, struct ek_paired_test *out)
{
    struct ek_paired_test r = {.t = NAN, .p = NAN};
    r.mean = mean_of(a, b, n, &r.pairs);
    if (r.pairs > 1) {
        double squares = 0;
        for (size_t i = 0; i < n; i++) {
            double off = a[i] - b[i] - r.mean;
            if (!isnan(off))
                squares += off * off;
        }
        r.degrees = (double)(r.pairs - 1);
        double error = sqrt(squares / r.degrees / (double)r.pairs);
        r.t = r.mean == 0 ? 0 : r.mean / error;
        r.p = ek_student_two_sided(r.t, r.degrees);
    }
    *out = r;
}

static int rows_of(const struct ek_scaling *s, const enum ek_transform_kind *scales,
                   const struct ek_dataset *d, float **rows, struct ek_error *e)
{
    *rows = ek_calloc(d->items, ek_scaling_columns(s) * sizeof **rows);
    if (!*rows)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_scaling_apply(s, d->x, d->items, 0, *rows);
    ek_scaling_clear_unscaled(s, scales, d->item_features, d->items, *rows);
    return EK_OK;
}

static int scale(void *context, const struct ek_fold *fold, struct ek_crossval_rows *rows,
                 struct ek_error *e)
{
    const struct ek_crossval_method *m = context;
    struct ek_scaling *s = NULL;
    enum ek_transform_kind *scales = ek_calloc((size_t)fold->train.item_features, sizeof *scales);
    if (!scales)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_method_scales(m->method, &fold->train, &fold->vali, &m->osm, scales, e);
    if (!rc)
        rc = ek_scaling_get(&s, &fold->train, scales, e);
    if (!rc) {
        rows->columns = ek_scaling_columns(s);
        rc = rows_of(s, scales, &fold->train, &rows->train, e);
    }
    if (!rc)
        rc = rows_of(s, scales, &fold->vali, &rows->vali, e);
    if (!rc)
        rc = rows_of(s, scales, &fold->test, &rows->test, e);
    ek_scaling_free(s);
    ek_free(scales);
    return rc;
}

struct ek_crossval_result ek_crossval_from_method(struct ek_crossval_method *m)
{
    return (struct ek_crossval_result){ek_method_names()[m->method], scale, m};
}

static const double GRID[EK_CROSSVAL_CS] = {.01, .1, 1, 10, 100, 1e3, 1e4, 1e5};

/* Cross validation of one method; its folds may run in parallel. */
struct bench {
    const struct ek_dataset *data;
    const struct ek_folds *folds;
    const struct ek_crossval_result *of;
    const struct ek_crossval_options *o;
    double max_label;
    struct ek_crossval_scores *out;
    struct ek_error *error; /* [parts] */
    int *rc;                /* [parts] */
};

/* State of one fold. */
struct bout {
    const struct bench *b;
    struct ek_fold fold;
    struct ek_crossval_rows rows;
    double *w, *best;         /* [columns] */
    double *scores, *scratch; /* [longest list] */
    int *order;               /* [longest list] */
    struct ek_crossval_fold *out;
};

void ek_crossval_defaults(struct ek_crossval_options *o)
{
    *o = (struct ek_crossval_options){.gain = EK_GAIN_EXP, .empty = EK_EMPTY_SKIP};
    ek_rank_svm_defaults(&o->svm);
}

struct ek_metric ek_crossval_metric(int number)
{
    if (number == EK_CROSSVAL_MAP)
        return (struct ek_metric){EK_MAP, 0};
    if (number == EK_CROSSVAL_ERR)
        return (struct ek_metric){EK_ERR, 0};
    enum ek_metric_kind kind = number < EK_CROSSVAL_NDCG ? EK_PRECISION : EK_NDCG;
    return (struct ek_metric){kind, number % EK_CROSSVAL_DEPTH + 1};
}

const char *ek_crossval_metric_name(int number, char *text, size_t size)
{
    struct ek_metric m = ek_crossval_metric(number);
    if (m.cutoff)
        snprintf(text, size, "%s@%d", m.kind == EK_NDCG ? "ndcg" : "p", m.cutoff);
    else
        snprintf(text, size, "%s", m.kind == EK_MAP ? "map" : "err");
    return text;
}

double ek_crossval_c(int number)
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
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

/* Score and rank list q of a part. */
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
    return ek_metric_compute(metric, k->b->o->gain, k->order, d->label + from,
                             (int)(d->offset[q + 1] - from), k->b->max_label, k->scratch);
}

/* Return the MAP of the validation part. */
static double validate(struct bout *k)
{
    struct ek_metric_mean map = {0};
    for (size_t q = 0; q < k->fold.vali.lists; q++) {
        rank(k, &k->fold.vali, k->rows.vali, k->w, q);
        ek_metric_add(&map, value(k, &k->fold.vali, q, ek_crossval_metric(EK_CROSSVAL_MAP)),
                      k->b->o->empty);
    }
    return ek_metric_result(&map);
}

/* Train with each C and keep the weights of the best one in `best`. */
static int choose(struct bout *k, struct ek_error *e)
{
    struct ek_rank_svm_options svm = k->b->o->svm;
    struct ek_crossval_fold *out = k->out;
    int chosen = -1;
    for (int i = 0; i < EK_CROSSVAL_CS; i++) {
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
        return EK_ESTATE; /* the last training has set the error */
    if (isnan(out->vali_map))
        return ek_fail(e, EK_EUSAGE, "no list of the validation part has a relevant item");
    out->c = GRID[chosen];
    out->edge = chosen == 0 ? -1 : chosen == EK_CROSSVAL_CS - 1;
    return EK_OK;
}

static void test(struct bout *k)
{
    for (size_t q = 0; q < k->fold.test.lists; q++) {
        rank(k, &k->fold.test, k->rows.test, k->best, q);
        for (int i = 0; i < EK_CROSSVAL_METRICS; i++) {
            struct ek_metric_mean one = {0};
            double v = value(k, &k->fold.test, q, ek_crossval_metric(i));
            ek_metric_add(&k->out->mean[i], v, k->b->o->empty);
            ek_metric_add(&one, v, k->b->o->empty);
            if (i == EK_CROSSVAL_NDCG)
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

/* Sum the folds. The error is that of the first failed fold, as with one thread. */
static int gather(const struct bench *b, struct ek_error *e)
{
    for (int f = 0; f < b->folds->parts; f++) {
        if (b->rc[f])
            return ek_fail(e, (enum ek_code)b->rc[f], "'%s', fold %d: %s", b->of->name, f + 1,
                           b->error[f].message);
        for (int i = 0; i < EK_CROSSVAL_METRICS; i++) {
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
    struct ek_crossval_scores *j = b->out;
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
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
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

static int report(const struct ek_crossval_options *o, int done, int count, const char *name,
                  struct ek_error *e)
{
    if (o->progress && o->progress(o->context, done, count, name))
        return ek_fail(e, EK_ESTATE, "stopped");
    return EK_OK;
}

int ek_crossval(const struct ek_dataset *d, const struct ek_folds *folds,
                const struct ek_crossval_result *of, int count, const struct ek_crossval_options *o,
                struct ek_crossval_scores *out, struct ek_error *e)
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
        ek_crossval_scores_release(&out[i]);
    return rc;
}

void ek_crossval_scores_release(struct ek_crossval_scores *j)
{
    ek_free(j->fold);
    ek_free(j->first);
    j->fold = NULL;
    j->first = NULL;
}
