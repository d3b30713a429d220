#include "offline/select/importance.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

struct feature_job {
    const struct ek_importance_options *options;
    int features;
    int (*measure)(void *arg, int feature, struct ek_error *e);
    void *arg;
    struct ek_error *error; /* [features] */
};

int ek_metric_evaluate_model(const struct ek_model *m, const struct ek_dataset *d,
                             const struct ek_importance_options *o,
                             const struct ek_treatment *treatment, double *of_list, double *value,
                             struct ek_error *e)
{
    struct ek_evaluation v = {.metric = {o->metric},
                              .metric_count = 1,
                              .gain = o->gain,
                              .empty = o->empty,
                              .treatment = treatment,
                              .of_list = of_list};
    int rc = ek_evaluate(m, d, &v, e);
    if (!rc)
        *value = ek_metric_result(&v.mean[0]);
    return rc;
}

int ek_metric_unchanged(const struct ek_model *m, const struct ek_dataset *d,
                        const struct ek_importance_options *o, double *of_list, double *value,
                        struct ek_error *e)
{
    int rc = ek_metric_evaluate_model(m, d, o, NULL, of_list, value, e);
    if (!rc && isnan(*value))
        rc = ek_fail(e, EK_EUSAGE, "no list has a positive label, so nothing can be lost");
    return rc;
}

int ek_model_routable_number(const struct ek_model *m, int feature)
{
    for (int k = 0; k < m->routable_count; k++)
        if (m->routable[k] == feature)
            return k;
    return -1;
}

static void of_feature(void *arg, int feature)
{
    struct feature_job *j = arg;
    const struct ek_importance_options *o = j->options;
    struct ek_error *e = &j->error[feature];
    e->code = EK_OK;
    if (!j->measure(j->arg, feature, e) && o->done)
        o->done(o->context, j->features);
}

int ek_feature_for_each(const struct ek_importance_options *o, int features,
                        int (*measure)(void *arg, int feature, struct ek_error *e), void *arg,
                        struct ek_error *e)
{
    struct feature_job j = {o, features, measure, arg, NULL};
    int rc = EK_OK;
    j.error = ek_calloc((size_t)features, sizeof *j.error);
    if (!j.error)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (o->run)
        o->run(o->context, of_feature, &j, features);
    else
        for (int f = 0; f < features; f++)
            of_feature(&j, f);
    for (int f = 0; f < features && !rc; f++) {
        rc = (int)j.error[f].code;
        if (rc && e)
            *e = j.error[f];
    }
    ek_free(j.error);
    return rc;
}

int ek_column_copy(struct ek_column *c, const struct ek_dataset *d, size_t feature,
                   struct ek_error *e)
{
    size_t row = (size_t)d->item_features;
    *c = (struct ek_column){*d, ek_calloc(d->items, sizeof *c->was), feature};
    c->data.x = ek_calloc(d->items, row * sizeof *c->data.x);
    if (!c->data.x || !c->was) {
        ek_column_release(c);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    if (d->items)
        memcpy(c->data.x, d->x, d->items * row * sizeof *d->x);
    for (size_t i = 0; i < d->items; i++)
        c->was[i] = d->x[i * row + feature];
    return EK_OK;
}

void ek_column_release(struct ek_column *c)
{
    ek_free(c->data.x);
    ek_free(c->was);
}

static void column_set(struct ek_column *c, size_t item, float x)
{
    c->data.x[item * (size_t)c->data.item_features + c->feature] = x;
}

void ek_column_restore(struct ek_column *c)
{
    for (size_t i = 0; i < c->data.items; i++)
        column_set(c, i, c->was[i]);
}

void ek_importance_defaults(struct ek_importance_options *o)
{
    *o = (struct ek_importance_options){
        .metric = {EK_NDCG, 3}, .gain = EK_GAIN_EXP, .empty = EK_EMPTY_SKIP, .repeats = 5};
}

/* State shared by all features. */
struct importance_run {
    const struct ek_model *model;
    const struct ek_dataset *data;
    const struct ek_importance_options *options;
    double whole;
    struct ek_importance *out; /* [F] */
    size_t values;             /* largest number of values shuffled at a time */
};

/* Scratch memory of one feature. */
struct copy {
    struct ek_column column;
    float *value; /* [values] */
    int *order;   /* [values] */
};

static void release(struct copy *c)
{
    ek_column_release(&c->column);
    ek_free(c->value);
    ek_free(c->order);
}

static int prepare(struct copy *c, const struct importance_run *j, size_t feature,
                   struct ek_error *e)
{
    int rc = ek_column_copy(&c->column, j->data, feature, e);
    if (rc)
        return rc;
    c->value = ek_calloc(j->values, sizeof *c->value);
    c->order = ek_calloc(j->values, sizeof *c->order);
    if (c->value && c->order)
        return EK_OK;
    release(c);
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static bool same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool differs_within_a_list(const struct copy *c)
{
    const struct ek_dataset *d = &c->column.data;
    const float *was = c->column.was;
    for (size_t q = 0; q < d->lists; q++)
        for (size_t i = d->offset[q] + 1; i < d->offset[q + 1]; i++)
            if (!same(was[i], was[i - 1]))
                return true;
    return false;
}

static void draw(struct copy *c, struct ek_rng *r, size_t count)
{
    for (size_t i = 0; i < count; i++)
        c->order[i] = (int)i;
    ek_rng_shuffle(r, c->order, count);
}

static void shuffle_items(struct copy *c, struct ek_rng *r)
{
    const struct ek_dataset *d = &c->column.data;
    for (size_t q = 0; q < d->lists; q++) {
        size_t first = d->offset[q], n = d->offset[q + 1] - first;
        draw(c, r, n);
        for (size_t i = 0; i < n; i++)
            column_set(&c->column, first + i, c->column.was[first + (size_t)c->order[i]]);
    }
}

/* Shuffle values between whole lists, without empty lists. */
static void shuffle_lists(struct copy *c, struct ek_rng *r)
{
    const struct ek_dataset *d = &c->column.data;
    size_t count = 0, next = 0;
    for (size_t q = 0; q < d->lists; q++)
        if (d->offset[q + 1] > d->offset[q])
            c->value[count++] = c->column.was[d->offset[q]];
    draw(c, r, count);
    for (size_t q = 0; q < d->lists; q++) {
        if (d->offset[q + 1] == d->offset[q])
            continue;
        float x = c->value[c->order[next++]];
        for (size_t i = d->offset[q]; i < d->offset[q + 1]; i++)
            column_set(&c->column, i, x);
    }
}

static int evaluate(const struct importance_run *j, const struct ek_dataset *d,
                    const struct ek_treatment *treatment, double *value, struct ek_error *e)
{
    return ek_metric_evaluate_model(j->model, d, j->options, treatment, NULL, value, e);
}

static int permute(const struct importance_run *j, int feature, struct ek_error *e)
{
    struct ek_importance *out = &j->out[feature];
    struct ek_rng random;
    struct copy c;
    int repeats = j->options->repeats, rc = prepare(&c, j, (size_t)feature, e);
    double sum = 0, squares = 0, value = 0;
    if (rc)
        return rc;
    bool within = differs_within_a_list(&c);
    ek_rng_seed_stream(&random, j->options->seed, (uint64_t)feature);
    for (int i = 0; i < repeats && !rc; i++) {
        (within ? shuffle_items : shuffle_lists)(&c, &random);
        rc = evaluate(j, &c.column.data, NULL, &value, e);
        sum += j->whole - value;
        squares += (j->whole - value) * (j->whole - value);
    }
    out->lost = sum / repeats;
    out->sd = sqrt(fmax(squares / repeats - out->lost * out->lost, 0));
    release(&c);
    return rc;
}

static int treat(const struct importance_run *j, int feature, struct ek_error *e)
{
    struct ek_importance *out = &j->out[feature];
    int count = j->model->routable_count, number = ek_model_routable_number(j->model, feature);
    double routed = NAN, silenced = NAN;
    out->routed = out->silenced = NAN;
    if (number < 0)
        return EK_OK;
    struct ek_treatment *t = ek_calloc((size_t)count, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t[number].action = EK_ACT_ROUTE;
    int rc = evaluate(j, j->data, t, &routed, e);
    t[number].action = EK_ACT_BLANK;
    if (!rc)
        rc = evaluate(j, j->data, t, &silenced, e);
    out->routed = j->whole - routed;
    out->silenced = j->whole - silenced;
    ek_free(t);
    return rc;
}

static int measure(void *arg, int feature, struct ek_error *e)
{
    const struct importance_run *j = arg;
    int rc = permute(j, feature, e);
    return rc ? rc : treat(j, feature, e);
}

static size_t max_shuffled(const struct ek_dataset *d)
{
    size_t most = d->lists;
    for (size_t q = 0; q < d->lists; q++)
        if (d->offset[q + 1] - d->offset[q] > most)
            most = d->offset[q + 1] - d->offset[q];
    return most;
}

int ek_importance_measure(const struct ek_model *m, const struct ek_dataset *d,
                          const struct ek_importance_options *o, double *whole,
                          struct ek_importance *out, struct ek_error *e)
{
    struct importance_run j = {m, d, o, NAN, out, max_shuffled(d)};
    if (o->repeats < 1)
        return ek_fail(e, EK_EUSAGE, "there must be at least 1 repeat, not %d", o->repeats);
    int rc = ek_metric_unchanged(m, d, o, NULL, &j.whole, e);
    if (!rc)
        rc = ek_feature_for_each(o, d->item_features, measure, &j, e);
    if (!rc)
        *whole = j.whole;
    return rc;
}
