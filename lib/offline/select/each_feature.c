#include "offline/select/each_feature.h"

#include "base/alloc.h"

#include <math.h>

struct job {
    const struct ek_importance_options *options;
    int features;
    int (*measure)(void *arg, int feature, struct ek_error *e);
    void *arg;
    struct ek_error *error; /* [features] */
};

int ek_metric_of_model(const struct ek_model *m, const struct ek_dataset *d,
                       const struct ek_importance_options *o, const struct ek_treatment *treatment,
                       double *of_list, double *value, struct ek_error *e)
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
    int rc = ek_metric_of_model(m, d, o, NULL, of_list, value, e);
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
    struct job *j = arg;
    const struct ek_importance_options *o = j->options;
    struct ek_error *e = &j->error[feature];
    e->code = EK_OK;
    if (!j->measure(j->arg, feature, e) && o->done)
        o->done(o->context, j->features);
}

int ek_each_feature(const struct ek_importance_options *o, int features,
                    int (*measure)(void *arg, int feature, struct ek_error *e), void *arg,
                    struct ek_error *e)
{
    struct job j = {o, features, measure, arg, NULL};
    int rc = EK_OK;
    j.error = ek_calloc((size_t)features, sizeof *j.error);
    if (!j.error)
        return ek_fail(e, EK_ENOMEM, "no memory for %d features", features);
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
