#include "offline/select/importance.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "offline/world/faults.h"
#include "schema/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct feature_job {
    const struct ek_importance_options *options;
    int features;
    int (*measure)(void *arg, int feature, struct ek_error *e);
    void *arg;
    struct ek_error *error; /* [features] */
};

/* Set *value to the metric with a treatment [K] of all lists; NULL means none. of_list [Q], or
 * NULL, receives the metric per list. Return 0 or an error of ek_evaluate. */
static int metric_evaluate_model(const struct ek_model *m, const struct ek_dataset *d,
                                 const struct ek_importance_options *o,
                                 const struct ek_treatment *treatment, double *of_list,
                                 double *value, struct ek_error *e)
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

/* Set *value to the metric without a treatment, and of_list [Q], unless NULL, to that of each list.
 * Return 0, EK_EUSAGE if no list counts, or an error of ek_evaluate. */
static int metric_unchanged(const struct ek_model *m, const struct ek_dataset *d,
                            const struct ek_importance_options *o, double *of_list, double *value,
                            struct ek_error *e)
{
    int rc = metric_evaluate_model(m, d, o, NULL, of_list, value, e);
    if (!rc && isnan(*value))
        rc = ek_fail(e, EK_EUSAGE, "no list has a positive label, so nothing can be lost");
    return rc;
}

/* Return the routable index of an item feature, or -1. */
static int model_routable_number(const struct ek_model *m, int feature)
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

/* Call measure(arg, f, ..) for f = 0 .. features-1, and `done` after each success. Return 0,
 * EK_ENOMEM, or the error of the lowest failed feature, independent of the threads. */
static int feature_for_each(const struct ek_importance_options *o, int features,
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

static void column_release(struct ek_column *c)
{
    ek_free(c->data.x);
    ek_free(c->was);
}

/* Set *c to a copy of a dataset in which the caller may change `feature`; release it with
 * column_release. Return 0, or EK_ENOMEM with nothing to release. */
static int column_copy(struct ek_column *c, const struct ek_dataset *d, size_t feature,
                       struct ek_error *e)
{
    size_t row = (size_t)d->item_features;
    *c = (struct ek_column){*d, ek_calloc(d->items, sizeof *c->was), feature};
    c->data.x = ek_calloc(d->items, row * sizeof *c->data.x);
    if (!c->data.x || !c->was) {
        column_release(c);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    if (d->items)
        memcpy(c->data.x, d->x, d->items * row * sizeof *d->x);
    for (size_t i = 0; i < d->items; i++)
        c->was[i] = d->x[i * row + feature];
    return EK_OK;
}

static void column_set(struct ek_column *c, size_t item, float x)
{
    c->data.x[item * (size_t)c->data.item_features + c->feature] = x;
}

/* Restore the original values of the feature. */
static void column_restore(struct ek_column *c)
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
    column_release(&c->column);
    ek_free(c->value);
    ek_free(c->order);
}

static int prepare(struct copy *c, const struct importance_run *j, size_t feature,
                   struct ek_error *e)
{
    int rc = column_copy(&c->column, j->data, feature, e);
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
    return metric_evaluate_model(j->model, d, j->options, treatment, NULL, value, e);
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
    int count = j->model->routable_count, number = model_routable_number(j->model, feature);
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
    int rc = metric_unchanged(m, d, o, NULL, &j.whole, e);
    if (!rc)
        rc = feature_for_each(o, d->item_features, measure, &j, e);
    if (!rc)
        *whole = j.whole;
    return rc;
}

/* State shared by all features. */
/* EK_HARM_NONE: a smaller loss is no harm. EK_HARM_NEAR: losses closer than this count as equal,
 * because a thousand lists cannot separate them. */
#define EK_HARM_NONE 5e-4
#define EK_HARM_NEAR 5e-3

struct job {
    const struct ek_model *model;
    const struct ek_manifest *manifest;
    const struct ek_dataset *data;
    const struct ek_importance_options *options;
    double whole;
    double *of_list;             /* [Q], metric of unchanged data */
    struct ek_shift_impact *out; /* [F] */
};

/* State of one feature. */
struct part {
    const struct job *job;
    struct ek_column column;
    struct ek_treatment *treatment; /* [K] */
    int routable;                   /* -1: not routable */
    double *now, *lost;             /* [Q], metric under a shift; weighted loss */
};

/* Compute the loss of the metric. of_list [Q], or NULL, receives the metric per list. */
static int lost(const struct job *j, const struct ek_dataset *d,
                const struct ek_treatment *treatment, double *of_list, double *out,
                struct ek_error *e)
{
    double value = NAN;
    int rc = metric_evaluate_model(j->model, d, j->options, treatment, of_list, &value, e);
    if (!rc)
        *out = j->whole - value;
    return rc;
}

static int lost_under(struct part *p, enum ek_action action, double *out, struct ek_error *e)
{
    if (p->routable < 0) {
        *out = NAN;
        return EK_OK;
    }
    p->treatment[p->routable].action = action;
    return lost(p->job, &p->column.data, p->treatment, NULL, out, e);
}

static void apply(struct part *p, const struct ek_fault *f)
{
    for (size_t q = 0; q < p->column.data.lists; q++) {
        struct ek_list view;
        ek_dataset_view(&p->column.data, q, &view);
        ek_fault_apply(f, &view, q, p->job->options->seed);
    }
}

static void add_lost(struct part *p, double weight)
{
    for (size_t q = 0; q < p->job->data->lists; q++)
        p->lost[q] += weight * (p->job->of_list[q] - p->now[q]);
}

/* Return the standard error of the mean loss over the lists that have the metric. */
static double error_of(const double *lost, size_t lists, double weight)
{
    double n = 0, mean = 0, squares = 0;
    for (size_t q = 0; q < lists; q++) {
        if (isnan(lost[q]))
            continue;
        double d = lost[q] / weight - mean;
        mean += d / ++n;
        squares += d * (lost[q] / weight - mean);
    }
    return n < 2 ? INFINITY : sqrt(squares / (n - 1) / n);
}

enum ek_shift_impact_known ek_shift_impact_known(const struct ek_shift_impact *h)
{
    if (isnan(h->unnoticed))
        return EK_HARM_UNKNOWN;
    if (h->unnoticed < EK_HARM_NONE && fabs(h->unnoticed) + 2 * h->error < EK_HARM_NEAR)
        return EK_HARM_NO;
    return h->unnoticed >= EK_HARM_NONE && h->unnoticed >= 2 * h->error ? EK_HARM_YES
                                                                        : EK_HARM_UNKNOWN;
}

/* Measure the feature under one shift. */
static int shifted(struct part *p, struct ek_shift_impact *h, struct ek_shift *s,
                   struct ek_error *e)
{
    char spec[sizeof s->how + EK_NAME_BYTES_MAX + 2];
    struct ek_fault fault;
    double routed = NAN, silenced = NAN;
    snprintf(spec, sizeof spec, "%s=%s", p->job->manifest->item[p->column.feature]->name, s->how);
    int rc = ek_fault_parse(&fault, p->job->manifest, spec, e);
    if (rc)
        return rc;
    rc = ek_fault_fit(&fault, p->job->data, e);
    if (rc == EK_EUSAGE) { /* too many codes; other features can still be measured */
        ek_fault_release(&fault);
        e->code = EK_OK;
        s->lost = h->unnoticed = h->routed = h->silenced = NAN;
        return EK_OK;
    }
    if (!rc) {
        column_restore(&p->column);
        apply(p, &fault);
        rc = lost(p->job, &p->column.data, NULL, p->now, &s->lost, e);
    }
    if (!rc)
        add_lost(p, s->weight);
    if (!rc)
        rc = lost_under(p, EK_ACT_ROUTE, &routed, e);
    if (!rc)
        rc = lost_under(p, EK_ACT_BLANK, &silenced, e);
    h->unnoticed += s->weight * s->lost;
    h->routed += s->weight * routed;
    h->silenced += s->weight * silenced;
    ek_fault_release(&fault);
    return rc;
}

/* Normalize the means and select the action with the smallest loss. */
static void finish_part(struct ek_shift_impact *h, const struct part *p)
{
    double weight = 0;
    for (int i = 0; i < h->shift_count; i++)
        weight += h->shift[i].weight;
    h->error = isnan(h->unnoticed) ? NAN : error_of(p->lost, p->job->data->lists, weight);
    h->unnoticed /= weight;
    h->routed /= weight;
    h->silenced /= weight;
    h->action = EK_ACT_ALERT;
    h->left = h->unnoticed;
    h->expected = h->chance * h->unnoticed;
    if (isnan(h->unnoticed) || isnan(h->routed) || h->unnoticed < EK_HARM_NONE)
        return;
    bool route = h->routed <= h->silenced + EK_HARM_NEAR && h->routed < h->unnoticed;
    double best = route ? h->routed : h->silenced;
    if (best < h->unnoticed) {
        h->action = route ? EK_ACT_ROUTE : EK_ACT_BLANK;
        h->left = best;
    }
}

static int measure_impact(void *arg, int feature, struct ek_error *e)
{
    const struct job *j = arg;
    struct ek_shift_impact *h = &j->out[feature];
    struct part p = {.job = j, .routable = model_routable_number(j->model, feature)};
    p.treatment = ek_calloc((size_t)j->model->routable_count, sizeof *p.treatment);
    p.now = ek_calloc(j->data->lists, sizeof *p.now);
    p.lost = ek_calloc(j->data->lists, sizeof *p.lost);
    int rc = p.treatment && p.now && p.lost ? column_copy(&p.column, j->data, (size_t)feature, e)
                                            : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        h->unnoticed = h->routed = h->silenced = 0;
        for (int i = 0; i < h->shift_count && !rc; i++)
            rc = shifted(&p, h, &h->shift[i], e);
        finish_part(h, &p);
        column_release(&p.column);
    }
    ek_free(p.treatment);
    ek_free(p.now);
    ek_free(p.lost);
    return rc;
}

int ek_shift_impact_measure(const struct ek_model *model, const struct ek_manifest *m,
                            const struct ek_dataset *d, const struct ek_importance_options *o,
                            double *whole, struct ek_shift_impact *out, struct ek_error *e)
{
    struct job j = {.model = model, .manifest = m, .data = d, .options = o, .out = out};
    j.of_list = ek_calloc(d->lists, sizeof *j.of_list);
    int rc = j.of_list ? metric_unchanged(model, d, o, j.of_list, &j.whole, e)
                       : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        *whole = j.whole;
        rc = feature_for_each(o, d->item_features, measure_impact, &j, e);
    }
    ek_free(j.of_list);
    return rc;
}

static const char MONEY[] = "money", NUMBER[] = "number", INDICATOR[] = "indicator",
                  CODE[] = "code";

/* Probability that the unit of such a feature changes within a year. These are judgments: prices
 * pass through the most systems; ratings and ratios have two common notations each; indicators have
 * no unit. Names are the quantities of rules/units.yaml, plus four more. */
static const struct {
    const char *kind;
    double chance;
} CHANCES[] = {
    {MONEY, 0.20},    {"length", 0.10}, {"time", 0.10},  {"ratio", 0.10}, {"rating", 0.08},
    {"weight", 0.08}, {"data", 0.08},   {"speed", 0.05}, {"area", 0.05},  {"volume", 0.05},
    {"energy", 0.05}, {"power", 0.05},  {CODE, 0.05},    {NUMBER, 0.03},  {INDICATOR, 0.005},
};
enum { KINDS = sizeof CHANCES / sizeof *CHANCES };

const char *ek_shift_impact_kind(int i, double *chance)
{
    if (i < 0 || i >= KINDS)
        return NULL;
    *chance = CHANCES[i].chance;
    return CHANCES[i].kind;
}

static double chance_of(const char *kind)
{
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(CHANCES[i].kind, kind))
            return CHANCES[i].chance;
    return chance_of(NUMBER);
}

static bool is_indicator(const struct ek_dataset *d, int item)
{
    bool any = false;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + (size_t)item];
        if (!isnan(x) && x != 0 && x != 1)
            return false;
        any = any || !isnan(x);
    }
    return any;
}

static struct ek_shift *add(struct ek_shift_impact *h, double weight, const char *unit)
{
    if (h->shift_count == EK_SHIFTS_MAX)
        return NULL;
    struct ek_shift *s = &h->shift[h->shift_count++];
    *s = (struct ek_shift){.weight = weight, .unit = unit};
    return s;
}

static void add_factor(struct ek_shift_impact *h, double factor, double weight, const char *unit)
{
    struct ek_shift *s = add(h, weight, unit);
    if (s)
        snprintf(s->how, sizeof s->how, "x%.10g", factor);
}

static void add_text(struct ek_shift_impact *h, const char *word)
{
    struct ek_shift *s = add(h, 1, NULL);
    if (s)
        snprintf(s->how, sizeof s->how, "%s", word);
}

/* Add all conversions with this fit. */
static void add_units(struct ek_shift_impact *h, const struct ek_measure *measure_impact,
                      enum ek_unit_fit fit)
{
    const struct ek_unit *u;
    for (size_t i = 0; (u = ek_units_at(NULL, i)); i++)
        if (u->quantity && ek_unit_fit(u, measure_impact) == fit)
            add_factor(h, u->factor, 1, u->id);
}

static void add_money(struct ek_shift_impact *h, const struct ek_manifest *m)
{
    if (!h->shift_count)
        add_factor(h, 100, 1, "cents");
    add_text(h, "currency");
    if (!m->nights_feature)
        return;
    struct ek_shift *s = add(h, 1, m->nights_feature);
    if (s) {
        s->by_query = true;
        snprintf(s->how, sizeof s->how, "*%s", m->nights_feature);
    }
}

/* Add a shift by one decimal place, and by two with a smaller weight. */
static void add_places(struct ek_shift_impact *h)
{
    add_factor(h, 10, 1, "tenfold");
    add_factor(h, 0.1, 1, "tenth");
    add_factor(h, 100, 0.25, NULL);
}

void ek_shift_candidates(const struct ek_manifest *m, int item, const struct ek_dataset *d,
                         struct ek_shift_impact *out)
{
    const struct ek_feature *f = m->item[item];
    struct ek_measure measure_impact = ek_units_measure(NULL, f->unit);
    *out = (struct ek_shift_impact){.kind =
                                        measure_impact.quantity ? measure_impact.quantity : NUMBER};
    if (f->is_money)
        out->kind = MONEY;
    else if (f->type == EK_TYPE_CATEGORY)
        out->kind = CODE;
    else if (is_indicator(d, item))
        out->kind = INDICATOR;
    out->chance = chance_of(out->kind);
    bool has_unit = out->kind == measure_impact.quantity || !strcmp(out->kind, MONEY);
    if (has_unit && measure_impact.quantity && !strcmp(out->kind, measure_impact.quantity)) {
        add_units(out, &measure_impact, EK_UNIT_SAME);
        if (!out->shift_count)
            add_units(out, &measure_impact, EK_UNIT_QUANTITY);
    }
    if (!strcmp(out->kind, MONEY))
        add_money(out, m);
    else if (!strcmp(out->kind, CODE))
        add_text(out, "recode");
    else if (!out->shift_count)
        add_places(out);
}
