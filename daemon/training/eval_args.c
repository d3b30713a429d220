#include "daemon/training/eval_args.h"

#include "daemon/files/field_mapping.h"

#include "daemon/base/command.h"
#include "daemon/base/arguments.h"

#include "base/parse.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
    {"data", 'd', "FILE...", 0, "LETOR files; takes several", 0},
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

static void file(struct argp_state *state, struct ek_eval_args *a, const char *arg)
{
    if (!a->open)
        argp_error(state, "unexpected '%s'; files follow --model, --data or --reference", arg);
    else if (ek_files_add(a->open, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void fault(struct argp_state *state, struct ek_eval_args *a, const char *arg)
{
    if (a->fault_count == EK_EVAL_FAULTS_MAX)
        argp_error(state, "more than %d faults", EK_EVAL_FAULTS_MAX);
    a->fault[a->fault_count++] = arg;
}

static void metrics(struct argp_state *state, struct ek_eval_args *a, const char *text)
{
    struct ek_evaluation *v = &a->evaluation;
    const char *piece;
    size_t length;
    for (const char *at = text; ek_next_field(&at, &piece, &length);) {
        if (v->metric_count == EK_EVALUATE_METRICS_MAX)
            argp_error(state, "more than %d metrics", EK_EVALUATE_METRICS_MAX);
        char *name = a->name[v->metric_count];
        snprintf(name, EK_EVAL_METRIC_NAME, "%.*s", (int)length, piece);
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

static void finish(struct argp_state *state, struct ek_eval_args *a)
{
    if (((!a->manifest || !a->model.count) && !a->config) || !a->data.count)
        argp_error(state, "--manifest and --model, or --config, and --data are needed");
    if (!a->reference.count && has_fitted_repair(a->repair))
        argp_error(state, "--repair without a factor needs --reference with the training lists");
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
static error_t parse_action(int key, const char *arg, struct argp_state *state,
                            struct ek_eval_args *a)
{
    static const char *const spreads[] = {"off", "auto"}, *const groups[] = {"all", "arm"};
    switch (key) {
    case OPT_SPREAD:
        a->spread = ek_is_any_of(state, "normalize-spread", arg, spreads, 2) == 1;
        return 0;
    case OPT_REPAIR_BY:
        a->by_arm = ek_is_any_of(state, "repair-by", arg, groups, 2) == 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_measure(int key, const char *arg, struct argp_state *state,
                             struct ek_eval_args *a)
{
    static const char *const gains[] = {"exp", "linear"}, *const rules[] = {"skip", "0", "1"};
    a->labeled |= key == OPT_METRIC || key == OPT_GAIN || key == OPT_EMPTY;
    switch (key) {
    case OPT_GAIN:
        a->evaluation.gain = (enum ek_gain)ek_is_any_of(state, "gain", arg, gains, 2);
        return 0;
    case OPT_EMPTY:
        a->evaluation.empty = (enum ek_empty)ek_is_any_of(state, "empty-lists", arg, rules, 3);
        return 0;
    case 's':
        if (ek_parse_u64(arg, EK_WHOLE, &a->seed))
            argp_error(state, "--seed needs a whole number, not '%s'", arg);
        return 0;
    case OPT_TEACHER:
        a->has_teacher = !ek_is_any_of(state, "teacher", arg, (const char *const[]){"upstream"}, 1);
        return 0;
    default:
        return parse_action(key, arg, state, a);
    }
}

static const struct ek_cli_slot SLOTS[] = {
    {OPT_ROUTE, offsetof(struct ek_eval_args, route)},
    {OPT_ROUTE_SOURCE, offsetof(struct ek_eval_args, route_per_source)},
    {OPT_BLANK, offsetof(struct ek_eval_args, blank)},
    {OPT_REPAIR, offsetof(struct ek_eval_args, repair)},
    {OPT_IMPUTE, offsetof(struct ek_eval_args, impute)},
    {OPT_METRIC, offsetof(struct ek_eval_args, metrics)},
    {OPT_JSON, offsetof(struct ek_eval_args, json)},
    {'m', offsetof(struct ek_eval_args, manifest)},
    {'o', offsetof(struct ek_eval_args, output)},
    {'c', offsetof(struct ek_eval_args, config)},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct ek_eval_args *a = state->input;
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
        a->sources = ek_sources_number(state, arg);
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

void ek_eval_parse(struct ek_eval_args *a, int argc, char **argv)
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
