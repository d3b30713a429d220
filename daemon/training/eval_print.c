#include "daemon/training/eval_print.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Return the mean of a metric over the models, and its deviation (divisor V); NaN if a model has
 * none. */
static double eval_mean(const struct ek_eval_args *a, const struct ek_eval_result *r, int metric,
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

static void print_rules(const struct ek_eval_args *a, const struct ek_eval_result *r)
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

void ek_eval_print_text(const struct ek_eval_args *a, const struct ek_eval_result *r)
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
static int add_metrics(struct ek_buf *b, const struct ek_eval_args *a,
                       const struct ek_eval_result *r, const char *name, int model)
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

static int add_counts(struct ek_buf *b, const struct ek_eval_args *a,
                      const struct ek_eval_result *r)
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
                     const struct ek_eval_result *r, int model)
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
                   const struct ek_eval_result *r)
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

int ek_eval_print_json(struct ek_eval_args *a, const struct ek_manifest *m,
                       const struct ek_eval_result *r)
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
