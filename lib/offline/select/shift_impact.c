/* State shared by all features. */
#include "offline/select/shift_impact.h"

#include "base/alloc.h"
#include "offline/select/importance.h"
#include "offline/world/faults.h"
#include "schema/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    int rc = ek_metric_evaluate_model(j->model, d, j->options, treatment, of_list, &value, e);
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
        ek_column_restore(&p->column);
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

static int measure(void *arg, int feature, struct ek_error *e)
{
    const struct job *j = arg;
    struct ek_shift_impact *h = &j->out[feature];
    struct part p = {.job = j, .routable = ek_model_routable_number(j->model, feature)};
    p.treatment = ek_calloc((size_t)j->model->routable_count, sizeof *p.treatment);
    p.now = ek_calloc(j->data->lists, sizeof *p.now);
    p.lost = ek_calloc(j->data->lists, sizeof *p.lost);
    int rc = p.treatment && p.now && p.lost ? ek_column_copy(&p.column, j->data, (size_t)feature, e)
                                            : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        h->unnoticed = h->routed = h->silenced = 0;
        for (int i = 0; i < h->shift_count && !rc; i++)
            rc = shifted(&p, h, &h->shift[i], e);
        finish_part(h, &p);
        ek_column_release(&p.column);
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
    int rc = j.of_list ? ek_metric_unchanged(model, d, o, j.of_list, &j.whole, e)
                       : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        *whole = j.whole;
        rc = ek_feature_for_each(o, d->item_features, measure, &j, e);
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
static void add_units(struct ek_shift_impact *h, const struct ek_measure *measure,
                      enum ek_unit_fit fit)
{
    const struct ek_unit *u;
    for (size_t i = 0; (u = ek_units_at(NULL, i)); i++)
        if (u->quantity && ek_unit_fit(u, measure) == fit)
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
    struct ek_measure measure = ek_units_measure(NULL, f->unit);
    *out = (struct ek_shift_impact){.kind = measure.quantity ? measure.quantity : NUMBER};
    if (f->is_money)
        out->kind = MONEY;
    else if (f->type == EK_TYPE_CATEGORY)
        out->kind = CODE;
    else if (is_indicator(d, item))
        out->kind = INDICATOR;
    out->chance = chance_of(out->kind);
    bool has_unit = out->kind == measure.quantity || !strcmp(out->kind, MONEY);
    if (has_unit && measure.quantity && !strcmp(out->kind, measure.quantity)) {
        add_units(out, &measure, EK_UNIT_SAME);
        if (!out->shift_count)
            add_units(out, &measure, EK_UNIT_QUANTITY);
    }
    if (!strcmp(out->kind, MONEY))
        add_money(out, m);
    else if (!strcmp(out->kind, CODE))
        add_text(out, "recode");
    else if (!out->shift_count)
        add_places(out);
}
