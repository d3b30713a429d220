/* Command `eval`: ranking quality of models on lists with faults, routes and other mitigations. */
#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/base/command.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/routing_warning.h"
#include "daemon/training/eval_args.h"
#include "daemon/training/eval_mitigation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shapes: V models, K routable features. */
struct eval_result {
    size_t lists;
    struct ek_evaluation *of;       /* [V] */
    struct ek_treatment *treatment; /* [V, K] */
};

/* Return the mean of a metric over the models, and its deviation (divisor V); NaN if a model has
 * none. */
static double eval_mean(const struct ek_eval_args *a, const struct eval_result *r, int metric,
                        double *deviation)
{
    double sum = 0, squares = 0;
    int n = a->model.count;
    for (int i = 0; i < n; i++)
        sum += ek_metric_result(&r->of[i].mean[metric]);
    for (int i = 0; i < n; i++) {
        double off = ek_metric_result(&r->of[i].mean[metric]) - sum / n;
        squares += off * off;
    }
    *deviation = sqrt(squares / n);
    return sum / n;
}

static void print_text(const char *word, const char *text)
{
    if (text)
        printf("; %s: %s", word, text);
}

static void print_rules(const struct ek_eval_args *a, const struct eval_result *r)
{
    static const char *const rules[] = {"are skipped", "count 0", "count 1"};
    const struct ek_evaluation *v = &r->of[0];
    printf("%zu lists; gain %s; lists without a relevant item %s; equal scores keep the order of "
           "the file; maximum label of ERR %g",
           r->lists, v->gain == EK_GAIN_EXP ? "2^y - 1" : "y", rules[v->empty], v->max_label);
    if (a->model.count > 1)
        printf("; mean and deviation of %d models", a->model.count);
    if (a->sources)
        printf("; items of %d random sources", a->sources);
    printf("\nrouted: %s%s", a->route ? a->route : "none",
           a->spread ? ", logs divided by their spread ratio" : "");
    print_text("routed by source", a->route_per_source);
    print_text("blanked", a->blank);
    print_text(a->by_arm ? "repaired by arm" : "repaired", a->repair);
    print_text("imputed", a->impute);
    printf("\n");
}

static void print_quality(const struct ek_eval_args *a, const struct eval_result *r)
{
    print_rules(a, r);
    for (int i = 0; i < a->evaluation.metric_count; i++) {
        double deviation, mean = eval_mean(a, r, i, &deviation);
        printf("%-10s %.4f", a->name[i], mean);
        if (a->model.count > 1)
            printf(" +- %.4f", deviation);
        printf("  over %zu lists\n", r->of[0].mean[i].count);
    }
}

static int add_number(struct ek_buf *b, double x)
{
    return isnan(x) ? ek_buf_text(b, "null") : ek_buf_printf(b, "%.9g", x);
}

/* Append "metrics":{"ndcg@10":0.61,...} of a model; model < 0: mean or deviation. */
static int add_metrics(struct ek_buf *b, const struct ek_eval_args *a, const struct eval_result *r,
                       const char *name, int model)
{
    bool deviations = !strcmp(name, "sd");
    ek_buf_printf(b, "\"%s\":{", name);
    for (int i = 0; i < a->evaluation.metric_count; i++) {
        double deviation, x = eval_mean(a, r, i, &deviation);
        if (model >= 0)
            x = ek_metric_result(&r->of[model].mean[i]);
        ek_buf_printf(b, "%s\"%s\":", i ? "," : "", a->name[i]);
        add_number(b, deviations ? deviation : x);
    }
    return ek_buf_text(b, "}");
}

static int add_counts(struct ek_buf *b, const struct ek_eval_args *a, const struct eval_result *r)
{
    ek_buf_text(b, ",\"counted\":{");
    for (int i = 0; i < a->evaluation.metric_count; i++)
        ek_buf_printf(b, "%s\"%s\":%zu", i ? "," : "", a->name[i], r->of[0].mean[i].count);
    return ek_buf_text(b, "},");
}

/* Append ,"routed":{"price":1.02,...}: spread ratios of routed features, 1 with --normalize-spread
 * off. */
static int add_routed(struct ek_buf *b, const struct ek_manifest *m, const struct ek_treatment *t)
{
    const char *comma = "";
    ek_buf_text(b, ",\"routed\":{");
    for (int k = 0; k < m->routable_count; k++) {
        const char *name = m->item[m->routable[k]]->name;
        if (!ek_action_routes(t[k].action))
            continue;
        ek_buf_text(b, comma);
        ek_buf_json(b, name, strlen(name));
        ek_buf_printf(b, ":%.9g", t[k].value);
        comma = ",";
    }
    return ek_buf_text(b, "}");
}

static int add_model(struct ek_buf *b, const struct ek_eval_args *a, const struct ek_manifest *m,
                     const struct eval_result *r, int model)
{
    const char *path = a->model.path[model];
    ek_buf_text(b, model ? ",{\"model\":" : "{\"model\":");
    ek_buf_json(b, path, strlen(path));
    ek_buf_text(b, ",");
    add_metrics(b, a, r, "metrics", model);
    add_routed(b, m, r->treatment + (size_t)model * (size_t)m->routable_count);
    return ek_buf_text(b, "}");
}

static int add_all(struct ek_buf *b, const struct ek_eval_args *a, const struct ek_manifest *m,
                   const struct eval_result *r)
{
    static const char *const rules[] = {"skip", "0", "1"};
    const struct ek_evaluation *v = &r->of[0];
    ek_buf_printf(b, "{\"lists\":%zu,", r->lists);
    add_metrics(b, a, r, "metrics", -1);
    add_counts(b, a, r);
    add_metrics(b, a, r, "sd", -1);
    ek_buf_printf(b,
                  ",\"gain\":\"%s\",\"empty\":\"%s\",\"ties\":\"input order\","
                  "\"max_label\":%g,\"models\":[",
                  v->gain == EK_GAIN_EXP ? "exp" : "linear", rules[v->empty], v->max_label);
    for (int i = 0; i < a->model.count; i++)
        add_model(b, a, m, r, i);
    return ek_buf_text(b, "]}\n");
}

/* Return 0, or EK_ENOMEM without output. */
static int print_json(struct ek_eval_args *a, const struct ek_manifest *m,
                      const struct eval_result *r)
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    int rc = add_all(&b, a, m, r);
    if (rc)
        ek_fail(&a->e, (enum ek_code)rc, "out of memory");
    else
        fwrite(b.data, 1, b.length, stdout);
    ek_buf_release(&b);
    return rc;
}

struct models {
    struct ek_model *model[EK_FILES_MAX];
    int count;
};

static int load_models(struct models *v, struct ek_eval_args *a, const struct ek_manifest *m)
{
    for (v->count = 0; v->count < a->model.count; v->count++) {
        const char *path = a->model.path[v->count];
        int rc = ek_model_load(&v->model[v->count], path, &a->e);
        if (rc)
            return ek_kind_explain(path, EK_KIND_MODEL, &a->e);
        rc = ek_model_check(v->model[v->count], m, &a->e);
        if (rc) {
            ek_model_free(v->model[v->count]);
            ek_error_place(&a->e, path, 0, 0);
            return rc;
        }
    }
    return EK_OK;
}

static void free_models(struct models *v)
{
    for (int i = 0; i < v->count; i++)
        ek_model_free(v->model[i]);
}

/* Apply faults, then mitigations. upstream: empty; filled from messages. */
static int prepare(struct ek_eval_args *a, const struct ek_manifest *m, struct ek_mitigation *c,
                   struct ek_dataset *d, struct ek_upstream_scores *upstream)
{
    int rc = a->has_teacher ? ek_files_read_relabeled(&a->data, m, a->config, d, upstream, &a->e)
                            : ek_files_read(&a->data, m, d, &a->e);
    if (!rc)
        rc = ek_mitigation_apply_fault(c, m, d, a);
    return rc ? rc : ek_mitigation_repair(c, m, d, a);
}

static int measure(struct ek_eval_args *a, const struct models *v, const struct ek_mitigation *c,
                   struct ek_dataset *d, struct eval_result *r)
{
    int rc = EK_OK;
    r->lists = d->lists;
    for (int i = 0; i < v->count && !rc; i++) {
        size_t routable = (size_t)v->model[i]->routable_count;
        struct ek_treatment *t = r->treatment + (size_t)i * routable;
        ek_mitigation_from_model(c, v->model[i], d, a->spread, t);
        r->of[i] = a->evaluation;
        r->of[i].treatment = t;
        rc = ek_evaluate(v->model[i], d, &r->of[i], &a->e);
    }
    return rc;
}

/* Save the model with this agreement in place of an earlier one. */
static int save_with(struct ek_eval_args *a, struct ek_model *model,
                     const struct ek_model_agreement *f)
{
    if (!f->lists)
        return ek_fail(&a->e, EK_EFORMAT,
                       "no list has different upstream scores, so there is no agreement");
    model->agreement = *f;
    return ek_model_save(model, a->output, &a->e);
}

/* r: result of the only model. */
static int measure_agreement(struct ek_eval_args *a, struct ek_model *model,
                             const struct ek_mitigation *c, struct ek_dataset *d,
                             const struct ek_upstream_scores *upstream, struct eval_result *r)
{
    struct ek_model_agreement f;
    ek_mitigation_from_model(c, model, d, a->spread, r->treatment);
    int rc = ek_model_agreement_measure(model, d, upstream, r->treatment, &f, &a->e);
    if (!rc && a->output)
        rc = save_with(a, model, &f);
    if (rc)
        return rc;
    if (!a->json) {
        ek_routing_agreement_print(&f, d->lists, stdout);
        return EK_OK;
    }
    ek_routing_agreement_print_json(&f, stdout);
    putchar('\n');
    return EK_OK;
}

static int measure_quality(struct ek_eval_args *a, const struct ek_manifest *m,
                           const struct models *v, const struct ek_mitigation *c,
                           struct ek_dataset *d, struct eval_result *r)
{
    int rc = measure(a, v, c, d, r);
    if (!rc && a->json)
        rc = print_json(a, m, r);
    else if (!rc)
        print_quality(a, r);
    return rc;
}

static int with_models(struct ek_eval_args *a, const struct ek_manifest *m, const struct models *v)
{
    struct ek_dataset d;
    struct ek_mitigation c;
    size_t count = (size_t)v->count;
    struct eval_result r = {
        .of = ek_calloc(count, sizeof *r.of),
        .treatment = ek_calloc(count, (size_t)m->routable_count * sizeof *r.treatment),
    };
    struct ek_upstream_scores upstream = {0};
    ek_dataset_init(&d, m->item_count, m->query_count);
    int rc = ek_mitigation_parse(&c, m, a);
    if (!rc && (!r.of || !r.treatment))
        rc = ek_fail(&a->e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < v->count && !rc; i++)
        ek_routing_warn(a->model.path[i], v->model[i], c.treatment, NULL);
    if (!rc)
        rc = prepare(a, m, &c, &d, &upstream);
    if (!rc && a->has_teacher)
        rc = measure_agreement(a, v->model[0], &c, &d, &upstream, &r);
    else if (!rc)
        rc = measure_quality(a, m, v, &c, &d, &r);
    ek_upstream_scores_release(&upstream);
    ek_dataset_release(&d);
    ek_mitigation_release(&c);
    ek_free(r.of);
    ek_free(r.treatment);
    return rc;
}

static int with_manifest(struct ek_eval_args *a)
{
    struct ek_manifest *m;
    struct models v;
    int rc = ek_manifest_load(&m, a->manifest, &a->e);
    if (rc)
        return ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e);
    rc = load_models(&v, a, m);
    if (!rc)
        rc = with_models(a, m, &v);
    free_models(&v);
    ek_manifest_free(m);
    return rc;
}

int ek_cmd_eval(int argc, char **argv)
{
    struct ek_eval_args a;
    ek_eval_parse(&a, argc, argv);
    return with_manifest(&a) ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
