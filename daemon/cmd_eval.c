/* evenkeel eval: ranking quality of a model on data, with routing and faults. */
#include "daemon/check.h"
#include "daemon/cli.h"
#include "daemon/ranking_args.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/parse.h"
#include "offline/evaluate.h"
#include "offline/faults.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FAULTS_MAX = 64, METRIC_NAME = 24 };

struct eval_args {
    const char *manifest, *model, *route, *metrics;
    struct ek_files data;
    bool data_open, spread, json;
    const char *fault[FAULTS_MAX];
    int fault_count;
    uint64_t seed;
    struct ek_evaluation evaluation;
    char name[EK_EVALUATE_METRICS_MAX][METRIC_NAME];
    struct ek_error e;
};

enum {
    OPT_MODEL = 256,
    OPT_DATA,
    OPT_ROUTE,
    OPT_SPREAD,
    OPT_PERTURB,
    OPT_METRIC,
    OPT_GAIN,
    OPT_EMPTY,
    OPT_SEED,
    OPT_JSON
};

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML)", 0},
    {"model", OPT_MODEL, "FILE", 0, "Model (.safetensors)", 0},
    {"data", OPT_DATA, "FILE...", 0, "LETOR files; several may follow", 0},
    {"route", OPT_ROUTE, "WHAT", 0, "Features to route: none, all, or FEATURE,... (none)", 0},
    {"spread", OPT_SPREAD, "HOW", 0,
     "auto: divide the logs of routed features by their spread ratio in this data; off (off)", 0},
    {"perturb", OPT_PERTURB, "SPEC", 0, "Break something, see below; may be given again", 0},
    {"metric", OPT_METRIC, "NAME,...", 0,
     "ndcg and err, with a cut-off or without, p@5 with one, map and mrr without (ndcg@5,ndcg@10)",
     0},
    {"gain", OPT_GAIN, "KIND", 0, "exp (2^y - 1) or linear (y), for NDCG (exp)", 0},
    {"empty", OPT_EMPTY, "RULE", 0, "Lists without a relevant item: skip, or count 0 or 1 (skip)",
     0},
    {"seed", OPT_SEED, "N", 0, "Chooses the queries hit by a fault with a share (0)", 0},
    {"json", OPT_JSON, NULL, 0, "Result as JSON", 0},
    {0}};

static void file(struct argp_state *state, struct eval_args *a, const char *arg)
{
    if (!a->data_open)
        argp_error(state, "'%s' stands alone; files follow --data", arg);
    else if (ek_files_add(&a->data, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void fault(struct argp_state *state, struct eval_args *a, const char *arg)
{
    if (a->fault_count == FAULTS_MAX)
        argp_error(state, "more than %d faults", FAULTS_MAX);
    a->fault[a->fault_count++] = arg;
}

static void metrics(struct argp_state *state, struct eval_args *a, const char *text)
{
    struct ek_evaluation *v = &a->evaluation;
    const char *piece;
    size_t length;
    for (const char *at = text; ek_next_piece(&at, &piece, &length);) {
        if (v->metric_count == EK_EVALUATE_METRICS_MAX)
            argp_error(state, "more than %d metrics", EK_EVALUATE_METRICS_MAX);
        char *name = a->name[v->metric_count];
        snprintf(name, METRIC_NAME, "%.*s", (int)length, piece);
        if (ek_metric_parse(name, &v->metric[v->metric_count++], &a->e))
            argp_error(state, "%s", a->e.message);
    }
}

static void finish(struct argp_state *state, struct eval_args *a)
{
    if (!a->manifest || !a->model || !a->data.count)
        argp_error(state, "--manifest, --model and --data are needed");
    metrics(state, a, a->metrics);
}

static error_t parse_measure(int key, const char *arg, struct argp_state *state,
                             struct eval_args *a)
{
    static const char *const gains[] = {"exp", "linear"}, *const rules[] = {"skip", "0", "1"};
    static const char *const spreads[] = {"off", "auto"};
    switch (key) {
    case OPT_SPREAD:
        a->spread = ek_one_of(state, "spread", arg, spreads, 2) == 1;
        return 0;
    case OPT_METRIC:
        a->metrics = arg;
        return 0;
    case OPT_GAIN:
        a->evaluation.gain = (enum ek_gain)ek_one_of(state, "gain", arg, gains, 2);
        return 0;
    case OPT_EMPTY:
        a->evaluation.empty = (enum ek_empty)ek_one_of(state, "empty", arg, rules, 3);
        return 0;
    case OPT_SEED:
        if (ek_parse_u64(arg, EK_WHOLE, &a->seed))
            argp_error(state, "--seed needs a whole number, not '%s'", arg);
        return 0;
    case OPT_JSON:
        a->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct eval_args *a = state->input;
    switch (key) {
    case 'm':
        a->manifest = arg;
        return 0;
    case OPT_MODEL:
        a->model = arg;
        return 0;
    case OPT_DATA:
        a->data_open = true;
        file(state, a, arg);
        return 0;
    case ARGP_KEY_ARG:
        file(state, a, arg);
        return 0;
    case OPT_ROUTE:
        a->route = arg;
        return 0;
    case OPT_PERTURB:
        fault(state, a, arg);
        return 0;
    case ARGP_KEY_END:
        finish(state, a);
        return 0;
    default:
        return parse_measure(key, arg, state, a);
    }
}

static int apply_fault(struct eval_args *a, const struct ek_manifest *m, const char *spec,
                       struct ek_dataset *d)
{
    struct ek_fault f;
    int rc = ek_fault_parse(&f, m, spec, &a->e);
    if (rc)
        return rc;
    if (f.dimension)
        rc = ek_fail(&a->e, EK_EUSAGE, "%s: LETOR lists have no segment '%s'", spec, f.dimension);
    else
        rc = ek_fault_fit(&f, d, &a->e);
    for (size_t i = 0; i < d->lists && !rc; i++) {
        struct ek_query q;
        ek_dataset_view(d, i, &q);
        ek_fault_apply(&f, &q, i, a->seed);
    }
    ek_fault_release(&f);
    return rc;
}

/* `t` has room for K treatments, all none. */
static int take_route(struct eval_args *a, const struct ek_manifest *m, struct ek_treatment *t,
                      int *routed)
{
    int count = 0, rc = EK_OK;
    if (!strcmp(a->route, "all"))
        for (; count < m->routable_count; count++)
            routed[count] = count;
    else if (strcmp(a->route, "none") != 0)
        rc = ek_routable_list(m, a->route, routed, &count, &a->e);
    for (int i = 0; i < count && !rc; i++)
        t[routed[i]].action = EK_ACT_ROUTE;
    return rc;
}

static void take_spread(const struct ek_model *model, const struct ek_dataset *d,
                        struct ek_treatment *t)
{
    for (int k = 0; k < model->routable_count; k++)
        if (t[k].action == EK_ACT_ROUTE)
            t[k] = (struct ek_treatment){EK_ACT_ROUTE_SPREAD, ek_spread_ratio(model, d, k)};
}

static void warn_of_routing(const struct eval_args *a, const struct ek_model *model,
                            const struct ek_treatment *t)
{
    char text[300];
    if (ek_model_routing_advice(model, t, text, sizeof text))
        fprintf(stderr, "evenkeel: %s: %s\n", a->model, text);
}

static void print_text(const struct eval_args *a, size_t queries)
{
    static const char *const rules[] = {"are skipped", "count 0", "count 1"};
    const struct ek_evaluation *v = &a->evaluation;
    printf("%zu lists; gain %s; lists without a relevant item %s; routed: %s%s\n", queries,
           v->gain == EK_GAIN_EXP ? "2^y - 1" : "y", rules[v->empty], a->route,
           a->spread ? ", logs divided by their spread ratio" : "");
    for (int i = 0; i < v->metric_count; i++)
        printf("%-10s %.4f  over %zu lists\n", a->name[i], ek_metric_result(&v->mean[i]),
               v->mean[i].count);
}

static int add_number(struct ek_buf *b, double x)
{
    return isnan(x) ? ek_buf_text(b, "null") : ek_buf_printf(b, "%.9g", x);
}

static int add_metrics(struct ek_buf *b, const struct eval_args *a)
{
    const struct ek_evaluation *v = &a->evaluation;
    int rc = ek_buf_text(b, "\"metrics\":{");
    for (int i = 0; i < v->metric_count && !rc; i++) {
        rc = ek_buf_printf(b, "%s\"%s\":", i ? "," : "", a->name[i]);
        if (!rc)
            rc = add_number(b, ek_metric_result(&v->mean[i]));
    }
    if (!rc)
        rc = ek_buf_text(b, "},\"counted\":{");
    for (int i = 0; i < v->metric_count && !rc; i++)
        rc = ek_buf_printf(b, "%s\"%s\":%zu", i ? "," : "", a->name[i], v->mean[i].count);
    return rc ? rc : ek_buf_text(b, "}");
}

/* {"price":1.02,...}: what is routed and its spread ratio (1 with --spread off). */
static int add_routed(struct ek_buf *b, const struct ek_model *m, const struct ek_treatment *t)
{
    bool first = true;
    int rc = ek_buf_text(b, ",\"routed\":{");
    for (int k = 0; k < m->routable_count && !rc; k++) {
        const char *name = m->item_names[m->routable[k]];
        if (t[k].action == EK_ACT_NONE)
            continue;
        rc = first ? EK_OK : ek_buf_text(b, ",");
        if (!rc)
            rc = ek_buf_json(b, name, strlen(name));
        if (!rc)
            rc = ek_buf_printf(b, ":%.9g", t[k].action == EK_ACT_ROUTE_SPREAD ? t[k].value : 1.0);
        first = false;
    }
    return rc ? rc : ek_buf_text(b, "}}\n");
}

static int print_json(struct eval_args *a, const struct ek_model *m, const struct ek_treatment *t,
                      size_t queries)
{
    static const char *const rules[] = {"skip", "0", "1"};
    const struct ek_evaluation *v = &a->evaluation;
    struct ek_buf b;
    ek_buf_init(&b, 0);
    int rc = ek_buf_printf(&b, "{\"queries\":%zu,", queries);
    if (!rc)
        rc = add_metrics(&b, a);
    if (!rc)
        rc = ek_buf_printf(&b, ",\"gain\":\"%s\",\"empty\":\"%s\"",
                           v->gain == EK_GAIN_EXP ? "exp" : "linear", rules[v->empty]);
    if (!rc)
        rc = add_routed(&b, m, t);
    if (rc)
        ek_fail(&a->e, (enum ek_code)rc, "no memory for the result");
    else
        fwrite(b.data, 1, b.length, stdout);
    ek_buf_release(&b);
    return rc;
}

static int measure(struct eval_args *a, const struct ek_model *model, const struct ek_manifest *m,
                   struct ek_dataset *d, struct ek_treatment *t)
{
    int rc = ek_files_read(&a->data, m, d, &a->e);
    for (int i = 0; i < a->fault_count && !rc; i++)
        rc = apply_fault(a, m, a->fault[i], d);
    if (rc)
        return rc;
    if (a->spread)
        take_spread(model, d, t);
    a->evaluation.treatment = t;
    rc = ek_evaluate(model, d, &a->evaluation, &a->e);
    if (rc)
        return rc;
    if (a->json)
        return print_json(a, model, t, d->lists);
    print_text(a, d->lists);
    return EK_OK;
}

static int with_model(struct eval_args *a, const struct ek_manifest *m,
                      const struct ek_model *model)
{
    struct ek_dataset d;
    struct ek_treatment *t = ek_calloc((size_t)m->routable_count, sizeof *t);
    int *routed = ek_calloc((size_t)m->routable_count, sizeof *routed);
    int rc = t && routed ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "no memory");
    ek_dataset_init(&d, m->item_count, m->query_count);
    if (!rc && (rc = ek_model_check(model, m, &a->e)))
        ek_error_place(&a->e, a->model, 0, 0);
    if (!rc)
        rc = take_route(a, m, t, routed);
    if (!rc)
        warn_of_routing(a, model, t);
    if (!rc)
        rc = measure(a, model, m, &d, t);
    ek_dataset_release(&d);
    ek_free(routed);
    ek_free(t);
    return rc;
}

static int with_manifest(struct eval_args *a)
{
    struct ek_manifest *m;
    struct ek_model *model;
    int rc = ek_manifest_load(&m, a->manifest, &a->e);
    if (rc)
        return ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e);
    rc = ek_model_load(&model, a->model, &a->e);
    if (rc) {
        ek_kind_explain(a->model, EK_KIND_MODEL, &a->e);
    } else {
        rc = with_model(a, m, model);
        ek_model_free(model);
    }
    ek_manifest_free(m);
    return rc;
}

int ek_cmd_eval(int argc, char **argv)
{
    static const char doc[] =
        "Measures how well a model ranks, on the data as it is or with faults put in, with or "
        "without routing."
        "\vA fault is written FEATURE[,FEATURE]=OPERATION[@SHARE]. Operations: x100, ^2, +50, "
        "+1median (of the feature), *QUERYFEATURE, neg, zero, nan, =7 (set).\n\n"
        "  --perturb price=x100@0.5 --route price";
    static const struct argp argp = {OPTIONS, parse, "", doc, NULL, NULL, NULL};
    struct eval_args a = {.route = "none", .metrics = "ndcg@5,ndcg@10"};
    argp_err_exit_status = EK_EXIT_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
    return with_manifest(&a) ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
