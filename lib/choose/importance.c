#include "choose/importance.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "choose/column.h"
#include "offline/evaluate.h"

#include <math.h>

void ek_importance_defaults(struct ek_importance_options *o)
{
    *o = (struct ek_importance_options){
        .metric = {EK_NDCG, 3}, .gain = EK_GAIN_EXP, .empty = EK_EMPTY_SKIP, .repeats = 5};
}

/* One job: what all its parts share, and the error of each. */
struct job {
    const struct ek_model *model;
    const struct ek_dataset *data;
    const struct ek_importance_options *options;
    double whole;
    struct ek_importance *out; /* [F] */
    struct ek_error *error;    /* [F] */
    size_t values;             /* the most values that are shuffled at a time */
};

/* The scratch of a part. */
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

static int prepare(struct copy *c, const struct job *j, size_t feature, struct ek_error *e)
{
    int rc = ek_column_copy(&c->column, j->data, feature, e);
    if (rc)
        return rc;
    c->value = ek_calloc(j->values, sizeof *c->value);
    c->order = ek_calloc(j->values, sizeof *c->order);
    if (c->value && c->order)
        return EK_OK;
    release(c);
    return ek_fail(e, EK_ENOMEM, "no memory to shuffle %zu values", j->values);
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
            ek_column_set(&c->column, first + i, c->column.was[first + (size_t)c->order[i]]);
    }
}

/* Empty lists have no value to give, and need none. */
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
            ek_column_set(&c->column, i, x);
    }
}

static int evaluate(const struct job *j, const struct ek_dataset *d,
                    const struct ek_treatment *treatment, double *value, struct ek_error *e)
{
    const struct ek_importance_options *o = j->options;
    struct ek_evaluation v = {.metric = {o->metric},
                              .metric_count = 1,
                              .gain = o->gain,
                              .empty = o->empty,
                              .treatment = treatment};
    int rc = ek_evaluate(j->model, d, &v, e);
    if (!rc)
        *value = ek_metric_result(&v.mean[0]);
    return rc;
}

static int permute(const struct job *j, int feature, struct ek_error *e)
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

static int treat(const struct job *j, int feature, struct ek_error *e)
{
    struct ek_importance *out = &j->out[feature];
    int count = j->model->routable_count, number = 0, rc = EK_OK;
    double routed = NAN, silenced = NAN;
    out->routed = out->silenced = NAN;
    while (number < count && j->model->routable[number] != feature)
        number++;
    if (number == count)
        return EK_OK;
    struct ek_treatment *t = ek_calloc((size_t)count, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "no memory for %d treatments", count);
    t[number].action = EK_ACT_ROUTE;
    rc = evaluate(j, j->data, t, &routed, e);
    t[number].action = EK_ACT_SILENCE;
    if (!rc)
        rc = evaluate(j, j->data, t, &silenced, e);
    out->routed = j->whole - routed;
    out->silenced = j->whole - silenced;
    ek_free(t);
    return rc;
}

static void of_feature(void *arg, int feature)
{
    struct job *j = arg;
    struct ek_error *e = &j->error[feature];
    e->code = EK_OK;
    if (!permute(j, feature, e) && !treat(j, feature, e) && j->options->done)
        j->options->done(j->options->context, j->data->item_features);
}

static int run_all(struct job *j, struct ek_error *e)
{
    const struct ek_importance_options *o = j->options;
    int features = j->data->item_features;
    if (o->run)
        o->run(o->context, of_feature, j, features);
    else
        for (int f = 0; f < features; f++)
            of_feature(j, f);
    for (int f = 0; f < features; f++)
        if (j->error[f].code) {
            if (e)
                *e = j->error[f];
            return (int)j->error[f].code;
        }
    return EK_OK;
}

static size_t most_shuffled(const struct ek_dataset *d)
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
    struct job j = {m, d, o, NAN, out, NULL, most_shuffled(d)};
    if (o->repeats < 1)
        return ek_fail(e, EK_EUSAGE, "there must be at least 1 repeat, not %d", o->repeats);
    int rc = evaluate(&j, d, NULL, &j.whole, e);
    if (!rc && isnan(j.whole))
        rc = ek_fail(e, EK_EUSAGE, "no list has a positive label, so nothing can be lost");
    if (rc)
        return rc;
    j.error = ek_calloc((size_t)d->item_features, sizeof *j.error);
    if (!j.error)
        return ek_fail(e, EK_ENOMEM, "no memory for %d features", d->item_features);
    rc = run_all(&j, e);
    ek_free(j.error);
    if (!rc)
        *whole = j.whole;
    return rc;
}
