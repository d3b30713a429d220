/* Command `eval`: ranking quality of models on lists with faults, routes and other mitigations. */
#include "base/alloc.h"
#include "base/json.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/files/field_mapping.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/list_input.h"
#include "daemon/files/routing_warning.h"
#include "offline/train/evaluate.h"
#include "offline/train/rescale.h"
#include "offline/world/faults.h"
#include "offline/world/synthetic_lists.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { EK_EVAL_FAULTS_MAX = 64, EK_EVAL_ARMS_MAX = 4096, METRIC_NAME = 24 };

/* Strings are views of the arguments. */
struct eval_args {
    const char *manifest, *metrics, *config; /* config: mapping of messages, or NULL */
    const char
        *output; /* with `has_teacher`: output path of the model with its agreement; NULL: none */
    struct ek_files model, data, reference, *open; /* open: receives further file names */
    const char *route, *route_per_source, *blank, *repair, *impute; /* NULL: not given */
    bool spread, by_arm, json;
    bool has_teacher; /* the data are messages; measure the agreement with their scores */
    bool labeled;     /* an option was given that needs labels */
    const char *fault[EK_EVAL_FAULTS_MAX];
    int fault_count;
    int sources; /* number of sources drawn for items; 0: only those of the messages */
    uint64_t seed;
    struct ek_evaluation evaluation; /* metrics to compute */
    char name[EK_EVALUATE_METRICS_MAX][METRIC_NAME];
    struct ek_error e;
};

enum {
    OPT_REFERENCE = 256,
    OPT_ROUTE,
    OPT_ROUTE_SOURCE,
    OPT_SPREAD,
    OPT_BLANK,
    OPT_REPAIR,
    OPT_REPAIR_BY,
    OPT_IMPUTE,
    OPT_SOURCES,
    OPT_FAULT,
    OPT_METRIC,
    OPT_GAIN,
    OPT_EMPTY,
    OPT_TEACHER,
    OPT_JSON
};

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML)", 0},
    {"model", 'M', "FILE...", 0,
     "Models (.safetensors); for several, such as training seeds, print mean and deviation", 0},
    {"data", 'd', "FILE...", 0, "LETOR files, or messages with labels; takes several", 0},
    {"route", OPT_ROUTE, "WHAT", 0, "Features to route: none, all, or FEATURE,... (none)", 0},
    {"normalize-spread", OPT_SPREAD, "HOW", 0,
     "auto: divide logs of routed features by their spread ratio in these data; off (off)", 0},
    {"route-per-source", OPT_ROUTE_SOURCE, "FEATURE,...", 0,
     "Features to route with logs centered per source, as the action route_per_source does", 0},
    {"blank", OPT_BLANK, "FEATURE,...", 0, "Features to leave out, as the action blank does", 0},
    {"repair", OPT_REPAIR, "FACTORS", 0,
     "Features to divide by a known factor, as the action repair does: FEATURE=FACTOR,...; without "
     "a factor by the one that restores the median of their logs in --reference",
     0},
    {"repair-by", OPT_REPAIR_BY, "WHAT", 0,
     "all: one factor; arm: one factor for each arm of the injected faults (all)", 0},
    {"reference", OPT_REFERENCE, "FILE...", 0, "Training lists, LETOR files, for --repair", 0},
    {"impute", OPT_IMPUTE, "FEATURE,...", 0, "Features to set to their median in training", 0},
    {"sources", OPT_SOURCES, "N", 0, "Draw the source of each item from N numbers, from 0", 0},
    {"fault", OPT_FAULT, "SPEC", 0, "Fault to inject, see below; repeatable", 0},
    {"metric", OPT_METRIC, "NAME,...", 0,
     "Metrics: ndcg and err with or without a cutoff, p with one (p@5), map and mrr without "
     "(ndcg@5,ndcg@10)",
     0},
    {"gain", OPT_GAIN, "KIND", 0, "Gain of NDCG: exp (2^y - 1) or linear (y) (exp)", 0},
    {"empty-lists", OPT_EMPTY, "RULE", 0,
     "Lists without a relevant item: skip, or count as 0 or 1 (skip)", 0},
    {"seed", 's', "N", 0, "Random seed of sources, fractions of faults, and rates (0)", 0},
    {"teacher", OPT_TEACHER, "WHO", 0,
     "upstream: read messages, and measure the agreement of the model with their scores", 0},
    EK_FIELD_MAPPING_OPTION,
    {"output", 'o', "FILE", 0,
     "With --teacher: write the model with the agreement, which the guard compares with that of "
     "the traffic",
     0},
    {"json", OPT_JSON, NULL, 0, "Print the result as JSON", 0},
    {0}};

static void file(struct argp_state *state, struct eval_args *a, const char *arg)
{
    if (!a->open)
        argp_error(state, "unexpected '%s'; files follow --model, --data or --reference", arg);
    else if (ek_files_add(a->open, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void fault(struct argp_state *state, struct eval_args *a, const char *arg)
{
    if (a->fault_count == EK_EVAL_FAULTS_MAX)
        argp_error(state, "more than %d faults", EK_EVAL_FAULTS_MAX);
    a->fault[a->fault_count++] = arg;
}

static void metrics(struct argp_state *state, struct eval_args *a, const char *text)
{
    struct ek_evaluation *v = &a->evaluation;
    const char *piece;
    size_t length;
    for (const char *at = text; ek_next_field(&at, &piece, &length);) {
        if (v->metric_count == EK_EVALUATE_METRICS_MAX)
            argp_error(state, "more than %d metrics", EK_EVALUATE_METRICS_MAX);
        char *name = a->name[v->metric_count];
        snprintf(name, METRIC_NAME, "%.*s", (int)length, piece);
        if (ek_metric_parse(name, &v->metric[v->metric_count++], &a->e))
            argp_error(state, "%s", a->e.message);
    }
}

static bool has_fitted_repair(const char *repairs)
{
    const char *piece;
    size_t length;
    for (const char *at = repairs; ek_next_field(&at, &piece, &length);)
        if (!memchr(piece, '=', length))
            return true;
    return false;
}

static void finish(struct argp_state *state, struct eval_args *a)
{
    if (((!a->manifest || !a->model.count) && !a->config) || !a->data.count)
        argp_error(state, "--manifest and --model, or --config, and --data are needed");
    if (!a->reference.count && has_fitted_repair(a->repair))
        argp_error(state, "--repair without a factor needs --reference with the training lists");
    if (!has_fitted_repair(a->repair) && (a->reference.count || a->by_arm))
        argp_error(state, "--reference and --repair-by need --repair without a factor");
    if (a->spread && !a->route && !a->route_per_source)
        argp_error(state, "--normalize-spread needs --route or --route-per-source");
    if (a->route_per_source && !a->sources && !a->has_teacher)
        argp_error(state, "--route-per-source needs --sources, because LETOR items have no source");
    if (a->has_teacher && a->labeled)
        argp_error(state,
                   "--metric, --gain and --empty-lists need labels, so they exclude --teacher");
    if (a->output && !a->has_teacher)
        argp_error(state, "-o writes the model with its agreement; it needs --teacher");
    if (a->output &&
        (a->fault_count || a->route || a->route_per_source || a->blank || a->repair || a->impute))
        argp_error(state, "-o excludes faults and mitigations");
    if (a->has_teacher && a->model.count > 1)
        argp_error(state, "--teacher takes one model");
    metrics(state, a, a->metrics);
}

/* Parse an option that treats features. */
static error_t parse_action(int key, const char *arg, struct argp_state *state, struct eval_args *a)
{
    static const char *const spreads[] = {"off", "auto"}, *const groups[] = {"all", "arm"};
    switch (key) {
    case OPT_SPREAD:
        a->spread = ek_find_word(state, "normalize-spread", arg, spreads, 2) == 1;
        return 0;
    case OPT_REPAIR_BY:
        a->by_arm = ek_find_word(state, "repair-by", arg, groups, 2) == 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_measure(int key, const char *arg, struct argp_state *state,
                             struct eval_args *a)
{
    static const char *const gains[] = {"exp", "linear"}, *const rules[] = {"skip", "0", "1"};
    a->labeled |= key == OPT_METRIC || key == OPT_GAIN || key == OPT_EMPTY;
    switch (key) {
    case OPT_GAIN:
        a->evaluation.gain = (enum ek_gain)ek_find_word(state, "gain", arg, gains, 2);
        return 0;
    case OPT_EMPTY:
        a->evaluation.empty = (enum ek_empty)ek_find_word(state, "empty-lists", arg, rules, 3);
        return 0;
    case 's':
        if (ek_parse_u64(arg, EK_WHOLE, &a->seed))
            argp_error(state, "--seed needs a whole number, not '%s'", arg);
        return 0;
    case OPT_TEACHER:
        a->has_teacher = !ek_find_word(state, "teacher", arg, (const char *const[]){"upstream"}, 1);
        return 0;
    default:
        return parse_action(key, arg, state, a);
    }
}

static const struct ek_cli_slot SLOTS[] = {
    {OPT_ROUTE, offsetof(struct eval_args, route)},
    {OPT_ROUTE_SOURCE, offsetof(struct eval_args, route_per_source)},
    {OPT_BLANK, offsetof(struct eval_args, blank)},
    {OPT_REPAIR, offsetof(struct eval_args, repair)},
    {OPT_IMPUTE, offsetof(struct eval_args, impute)},
    {OPT_METRIC, offsetof(struct eval_args, metrics)},
    {OPT_JSON, offsetof(struct eval_args, json)},
    {'m', offsetof(struct eval_args, manifest)},
    {'o', offsetof(struct eval_args, output)},
    {'c', offsetof(struct eval_args, config)},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct eval_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case 'M':
    case 'd':
    case OPT_REFERENCE:
        a->open = key == 'M' ? &a->model : key == 'd' ? &a->data : &a->reference;
        file(state, a, arg);
        return 0;
    case ARGP_KEY_ARG:
        file(state, a, arg);
        return 0;
    case OPT_SOURCES:
        a->sources = ek_parse_sources(state, arg);
        return 0;
    case OPT_FAULT:
        fault(state, a, arg);
        return 0;
    case ARGP_KEY_END:
        finish(state, a);
        return 0;
    default:
        return parse_measure(key, arg, state, a);
    }
}

/* Ends the program on a usage error. */
static void eval_parse(struct eval_args *a, int argc, char **argv)
{
    static const char doc[] =
        "Measure the ranking quality of a model, optionally with injected faults, routes and other "
        "mitigations.\vA fault is FEATURE[,FEATURE]=OPERATION[@SHARE][,items=SHARE][,source=N]. "
        "Operations: x100, ^2, +50, +1median (of the feature), *QUERYFEATURE, neg, zero, nan, =7 "
        "(set), currency (one of seven rates for each list), recode (each code becomes the next "
        "one).\n\n  evenkeel eval -m features.yaml --model m.safetensors --data vali.txt\n  "
        "evenkeel eval -m m.yaml --model m.st --data v.txt --fault price=x100";
    static const struct argp argp = {OPTIONS, parse, "", doc, NULL, NULL, NULL};
    memset(a, 0, sizeof *a);
    a->metrics = "ndcg@5,ndcg@10";
    ek_cli_parse(&argp, argc, argv, ARGP_IN_ORDER, a);
}

/* Mitigations: treatments of the scorer, and changes of the data. Shapes: K routable features, Q
 * lists. Release with release_mitigation. */
struct mitigation {
    struct ek_treatment *treatment; /* [K] */
    int *repair, repair_count;      /* item indices */
    int *fill, fill_count;
    int *arm, arms; /* [Q]; NULL without a fault in arms; arms >= 1 */
};

enum { NAME_BYTES = 256 };

static void release_mitigation(struct mitigation *c)
{
    ek_free(c->treatment);
    ek_free(c->repair);
    ek_free(c->fill);
    ek_free(c->arm);
    memset(c, 0, sizeof *c);
}

static int treat(struct mitigation *c, const struct ek_manifest *m, int k,
                 struct ek_treatment treatment, struct eval_args *a)
{
    if (c->treatment[k].action != EK_ACT_NONE)
        return ek_fail(&a->e, EK_EUSAGE, "feature '%s' has two treatments, %s and %s",
                       m->item[m->routable[k]]->name, ek_action_name(c->treatment[k].action),
                       ek_action_name(treatment.action));
    c->treatment[k] = treatment;
    return EK_OK;
}

/* text: "FEATURE,...", "all" or "none"; NULL is "none". */
static int read_action(struct mitigation *c, const struct ek_manifest *m, const char *text,
                       enum ek_action action, struct eval_args *a)
{
    int count = 0, rc = EK_OK;
    if (!text || !strcmp(text, "none"))
        return EK_OK;
    int *k = ek_calloc((size_t)m->routable_count, sizeof *k);
    if (!k)
        return ek_fail(&a->e, EK_ENOMEM, "out of memory");
    if (!strcmp(text, "all"))
        for (; count < m->routable_count; count++)
            k[count] = count;
    else
        rc = ek_parse_routables(m, text, k, &count, &a->e);
    for (int i = 0; i < count && !rc; i++)
        rc = treat(c, m, k[i], (struct ek_treatment){action, 1}, a);
    ek_free(k);
    return rc;
}

/* Parse FEATURE=FACTOR. */
static int read_factor(struct mitigation *c, const struct ek_manifest *m, const char *piece,
                       size_t length, struct eval_args *a)
{
    char name[NAME_BYTES];
    int k, count;
    struct ek_treatment t = {EK_ACT_REPAIR, 0};
    size_t n = (size_t)((const char *)memchr(piece, '=', length) - piece);
    if (ek_parse_finite(piece + n + 1, length - n - 1, &t.value) || t.value <= 0)
        return ek_fail(&a->e, EK_EUSAGE, "--repair needs a factor above 0, not '%.*s'", (int)length,
                       piece);
    snprintf(name, sizeof name, "%.*s", (int)n, piece);
    int rc = ek_parse_routables(m, name, &k, &count, &a->e);
    return rc ? rc : treat(c, m, k, t, a);
}

struct items {
    int *number, count;
};

/* Append the index of an item feature, routable or not. Return 0 or EK_EUSAGE. */
static int add_item(const struct ek_manifest *m, const char *piece, size_t length,
                    struct items *out, struct ek_error *e)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)length, piece);
    int item, rc = ek_item_number(m, name, &item, e);
    if (rc)
        return rc;
    for (int i = 0; i < out->count; i++)
        if (out->number[i] == item)
            return ek_fail(e, EK_EUSAGE, "duplicate feature '%s'", name);
    out->number[out->count++] = item;
    return EK_OK;
}

static int read_repairs(struct mitigation *c, const struct ek_manifest *m, struct eval_args *a)
{
    struct items fitted = {c->repair, 0};
    const char *piece;
    size_t length;
    int rc = EK_OK;
    for (const char *at = a->repair; !rc && ek_next_field(&at, &piece, &length);)
        rc = memchr(piece, '=', length) ? read_factor(c, m, piece, length, a)
                                        : add_item(m, piece, length, &fitted, &a->e);
    c->repair_count = fitted.count;
    return rc;
}

static int read_imputed(struct mitigation *c, const struct ek_manifest *m, struct eval_args *a)
{
    struct items imputed = {c->fill, 0};
    const char *piece;
    size_t length;
    int rc = EK_OK;
    for (const char *at = a->impute; !rc && ek_next_field(&at, &piece, &length);)
        rc = add_item(m, piece, length, &imputed, &a->e);
    c->fill_count = imputed.count;
    return rc;
}

/* Parse the options. Return 0, EK_ENOMEM, or EK_EUSAGE for a feature that is unknown, a duplicate
 * or cannot be treated so. Release `c` in any case. */
static int parse_mitigation(struct mitigation *c, const struct ek_manifest *m, struct eval_args *a)
{
    memset(c, 0, sizeof *c);
    c->arms = 1;
    c->treatment = ek_calloc((size_t)m->routable_count, sizeof *c->treatment);
    c->repair = ek_calloc((size_t)m->item_count, sizeof *c->repair);
    c->fill = ek_calloc((size_t)m->item_count, sizeof *c->fill);
    if (!c->treatment || !c->repair || !c->fill)
        return ek_fail(&a->e, EK_ENOMEM, "out of memory");
    int rc = read_action(c, m, a->route, EK_ACT_ROUTE, a);
    if (!rc)
        rc = read_action(c, m, a->route_per_source, EK_ACT_ROUTE_PER_SOURCE, a);
    if (!rc)
        rc = read_action(c, m, a->blank, EK_ACT_BLANK, a);
    if (!rc)
        rc = read_repairs(c, m, a);
    if (!rc)
        rc = read_imputed(c, m, a);
    return rc;
}

/* Lists that differ in any fault belong to different arms. */
static int apply_fault(struct mitigation *c, const struct ek_fault *f, struct ek_dataset *d,
                       struct eval_args *a)
{
    int arms = f->op == EK_FAULT_CURRENCY ? 1 + EK_FAULT_RATES : 2;
    bool apart = f->share < 1 || f->op == EK_FAULT_CURRENCY;
    if (apart && c->arms > EK_EVAL_ARMS_MAX / arms)
        return ek_fail(&a->e, EK_EUSAGE, "the faults have more than %d arms", EK_EVAL_ARMS_MAX);
    for (size_t i = 0; i < d->lists; i++) {
        struct ek_list q;
        ek_dataset_view(d, i, &q);
        if (apart)
            c->arm[i] = c->arm[i] * arms + ek_fault_arm(f, &q, i, a->seed);
        ek_fault_apply(f, &q, i, a->seed);
    }
    if (apart)
        c->arms *= arms;
    return EK_OK;
}

static int break_once(struct mitigation *c, const struct ek_manifest *m, struct ek_dataset *d,
                      const char *spec, struct eval_args *a)
{
    struct ek_fault f;
    int rc = ek_fault_parse(&f, m, spec, &a->e);
    if (rc)
        return rc;
    if (f.dimension)
        rc = ek_fail(&a->e, EK_EUSAGE, "%s: LETOR lists have no segment '%s'", spec, f.dimension);
    else if (a->sources && f.source >= a->sources)
        rc = ek_fail(&a->e, EK_EUSAGE, "%s: invalid source %d; sources are 0 to %d", spec, f.source,
                     a->sources - 1);
    else if (f.source >= 0 && !a->sources && !a->has_teacher)
        rc = ek_fail(&a->e, EK_EUSAGE, "%s: LETOR items have no source; use --sources", spec);
    else
        rc = ek_fault_fit(&f, d, &a->e);
    if (!rc)
        rc = apply_fault(c, &f, d, a);
    ek_fault_release(&f);
    return rc;
}

static void draw_sources(struct ek_dataset *d, const struct eval_args *a)
{
    for (size_t i = 0; i < d->lists && a->sources; i++) {
        size_t first = d->offset[i];
        d->sources[i] = (uint8_t)a->sources;
        ek_sources_draw(d->source + first, (int)(d->offset[i + 1] - first), a->sources, i, a->seed);
    }
}

/* Draw the sources of items, apply the faults to the data, and set the arm of each list. */
static int apply_faults(struct mitigation *c, const struct ek_manifest *m, struct ek_dataset *d,
                        struct eval_args *a)
{
    c->arm = ek_calloc(d->lists, sizeof *c->arm);
    int rc = c->arm ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    draw_sources(d, a);
    for (int i = 0; i < a->fault_count && !rc; i++)
        rc = break_once(c, m, d, a->fault[i], a);
    return rc;
}

static int repair_one(const struct mitigation *c, const struct ek_dataset *reference, int item,
                      struct ek_dataset *d, struct eval_args *a)
{
    double median, *factor = ek_calloc((size_t)c->arms, sizeof *factor);
    int rc = factor ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = ek_ln_median(reference, item, &median, &a->e);
    if (!rc)
        rc = ek_rescale_fit(d, item, median, a->by_arm ? c->arm : NULL, a->by_arm ? c->arms : 1,
                            factor, &a->e);
    ek_free(factor);
    return rc;
}

/* Read the reference and repair; no effect without --repair. */
static int repair(const struct mitigation *c, const struct ek_manifest *m, struct ek_dataset *d,
                  struct eval_args *a)
{
    struct ek_dataset reference;
    if (!c->repair_count)
        return EK_OK;
    int rc = ek_files_read_labeled(&a->reference, m, a->config, &reference, &a->e);
    for (int i = 0; i < c->repair_count && !rc; i++)
        rc = repair_one(c, &reference, c->repair[i], d, a);
    ek_dataset_release(&reference);
    return rc;
}

/* Impute with the model's medians, and set treatment [K] with its spread ratios. */
static void set_treatments(const struct mitigation *c, const struct ek_model *model,
                           struct ek_dataset *d, bool spread, struct ek_treatment *treatment)
{
    for (int i = 0; i < c->fill_count; i++)
        ek_impute(d, c->fill[i], model->item_median[c->fill[i]]);
    for (int k = 0; k < model->routable_count; k++) {
        treatment[k] = c->treatment[k];
        if (spread && treatment[k].action == EK_ACT_ROUTE)
            treatment[k] =
                (struct ek_treatment){EK_ACT_ROUTE_NORMALIZED, ek_spread_ratio(model, d, k)};
    }
}

/* Shapes: V models, K routable features. */
struct eval_result {
    size_t lists;
    struct ek_evaluation *of;       /* [V] */
    struct ek_treatment *treatment; /* [V, K] */
};

/* Return the mean of a metric over the models, and its deviation (divisor V); NaN if a model has
 * none. */
static double eval_mean(const struct eval_args *a, const struct eval_result *r, int metric,
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

static void print_rules(const struct eval_args *a, const struct eval_result *r)
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

static void print_quality(const struct eval_args *a, const struct eval_result *r)
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

/* Add "metrics":{"ndcg@10":0.61,...} of a model; model < 0: the mean, or with `deviations` the
 * deviation. */
static void add_metrics(struct ek_json_writer *w, const struct eval_args *a,
                        const struct eval_result *r, const char *name, int model, bool deviations)
{
    ek_json_open(w, name, '{');
    for (int i = 0; i < a->evaluation.metric_count; i++) {
        double deviation, x = eval_mean(a, r, i, &deviation);
        if (model >= 0)
            x = ek_metric_result(&r->of[model].mean[i]);
        ek_json_add_number(w, a->name[i], deviations ? deviation : x);
    }
    ek_json_close(w, '}');
}

/* Add the spread ratios of routed features, 1 with --normalize-spread off. */
static void add_routed(struct ek_json_writer *w, const struct ek_manifest *m,
                       const struct ek_treatment *t)
{
    ek_json_open(w, "routed", '{');
    for (int k = 0; k < m->routable_count; k++)
        if (ek_action_routes(t[k].action))
            ek_json_add_number(w, m->item[m->routable[k]]->name, t[k].value);
    ek_json_close(w, '}');
}

static int print_json(struct eval_args *a, const struct ek_manifest *m, const struct eval_result *r)
{
    static const char *const rules[] = {"skip", "0", "1"};
    const struct ek_evaluation *v = &r->of[0];
    struct ek_buf line;
    struct ek_json_writer w;
    ek_json_begin_line(&w, &line);
    ek_json_add_count(&w, "lists", r->lists);
    add_metrics(&w, a, r, "metrics", -1, false);
    ek_json_open(&w, "counted", '{');
    for (int i = 0; i < a->evaluation.metric_count; i++)
        ek_json_add_count(&w, a->name[i], r->of[0].mean[i].count);
    ek_json_close(&w, '}');
    add_metrics(&w, a, r, "sd", -1, true);
    ek_json_add_text(&w, "gain", v->gain == EK_GAIN_EXP ? "exp" : "linear");
    ek_json_add_text(&w, "empty", rules[v->empty]);
    ek_json_add_text(&w, "ties", "input order");
    ek_json_add_rounded(&w, "max_label", v->max_label, 6);
    ek_json_open(&w, "models", '[');
    for (int i = 0; i < a->model.count; i++) {
        ek_json_open(&w, NULL, '{');
        ek_json_add_text(&w, "model", a->model.path[i]);
        add_metrics(&w, a, r, "metrics", i, false);
        add_routed(&w, m, r->treatment + (size_t)i * (size_t)m->routable_count);
        ek_json_close(&w, '}');
    }
    ek_json_close(&w, ']');
    return ek_json_end_line(&w, stdout, &a->e);
}

struct models {
    struct ek_model *model[EK_FILES_MAX];
    int count;
};

static int load_models(struct models *v, struct eval_args *a, const struct ek_manifest *m)
{
    for (v->count = 0; v->count < a->model.count; v->count++) {
        const char *path = a->model.path[v->count];
        int rc = ek_model_load(&v->model[v->count], path, &a->e);
        if (rc)
            return ek_kind_explain(path, EK_KIND_MODEL, &a->e);
        rc = a->impute ? ek_model_require_network(v->model[v->count], path,
                                                  "--impute needs the "
                                                  "medians of",
                                                  &a->e)
                       : EK_OK;
        if (!rc && a->output)
            rc = ek_model_require_network(v->model[v->count], path, "-o needs", &a->e);
        if (!rc)
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
static int prepare(struct eval_args *a, const struct ek_manifest *m, struct mitigation *c,
                   struct ek_dataset *d, struct ek_upstream_scores *upstream)
{
    int rc = a->has_teacher ? ek_files_read_relabeled(&a->data, m, a->config, d, upstream, &a->e)
                            : ek_files_read_labeled(&a->data, m, a->config, d, &a->e);
    if (!rc)
        rc = apply_faults(c, m, d, a);
    return rc ? rc : repair(c, m, d, a);
}

static int measure(struct eval_args *a, const struct models *v, const struct mitigation *c,
                   struct ek_dataset *d, struct eval_result *r)
{
    int rc = EK_OK;
    r->lists = d->lists;
    for (int i = 0; i < v->count && !rc; i++) {
        size_t routable = (size_t)v->model[i]->routable_count;
        struct ek_treatment *t = r->treatment + (size_t)i * routable;
        set_treatments(c, v->model[i], d, a->spread, t);
        r->of[i] = a->evaluation;
        r->of[i].treatment = t;
        rc = ek_evaluate(v->model[i], d, &r->of[i], &a->e);
    }
    return rc;
}

/* Save the model with this agreement in place of an earlier one. */
static int save_with(struct eval_args *a, struct ek_model *model,
                     const struct ek_model_agreement *f)
{
    if (!f->lists)
        return ek_fail(&a->e, EK_EFORMAT,
                       "no list has different upstream scores, so there is no agreement");
    model->agreement = *f;
    return ek_model_save(model, a->output, &a->e);
}

/* r: result of the only model. */
static int measure_agreement(struct eval_args *a, struct ek_model *model,
                             const struct mitigation *c, struct ek_dataset *d,
                             const struct ek_upstream_scores *upstream, struct eval_result *r)
{
    struct ek_model_agreement f;
    set_treatments(c, model, d, a->spread, r->treatment);
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

static int measure_quality(struct eval_args *a, const struct ek_manifest *m, const struct models *v,
                           const struct mitigation *c, struct ek_dataset *d, struct eval_result *r)
{
    int rc = measure(a, v, c, d, r);
    if (!rc && a->json)
        rc = print_json(a, m, r);
    else if (!rc)
        print_quality(a, r);
    return rc;
}

static int with_models(struct eval_args *a, const struct ek_manifest *m, const struct models *v)
{
    struct ek_dataset d;
    struct mitigation c;
    size_t count = (size_t)v->count;
    struct eval_result r = {
        .of = ek_calloc(count, sizeof *r.of),
        .treatment = ek_calloc(count, (size_t)m->routable_count * sizeof *r.treatment),
    };
    struct ek_upstream_scores upstream = {0};
    ek_dataset_init(&d, m->item_count, m->query_count);
    int rc = parse_mitigation(&c, m, a);
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
    release_mitigation(&c);
    ek_free(r.of);
    ek_free(r.treatment);
    return rc;
}

static int with_manifest(struct eval_args *a)
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

/* Set manifest and model from the configuration, if they were not given. */
static int with_config(struct eval_args *a)
{
    const char *model = a->model.count ? a->model.path[0] : NULL;
    const struct ek_asset_options options = {.manifest = &a->manifest, .model = &model};
    struct ek_config *owner;
    int rc = ek_asset_options_load(&owner, a->config, &options, &a->e);
    if (!rc && !model)
        rc = ek_fail(&a->e, EK_EUSAGE, "--model is needed; the configuration has none");
    if (!rc && !a->model.count)
        rc = ek_files_add(&a->model, model, &a->e);
    if (!rc)
        rc = with_manifest(a);
    ek_config_free(owner);
    return rc;
}

int ek_cmd_eval(int argc, char **argv)
{
    struct eval_args a;
    eval_parse(&a, argc, argv);
    return with_config(&a) ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
