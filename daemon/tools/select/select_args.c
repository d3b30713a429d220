#include "daemon/tools/select/select_args.h"

#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/training/train_args.h"

#include <argp.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const char *const METHODS[EK_SELECT_METHODS] = {"nfs", "xgas", "hcas", "importance",
                                                       "random"};

const char *ek_select_method_name(enum ek_select_method m)
{
    return METHODS[m];
}

enum {
    KEY_TRAIN = 256,
    KEY_VALI,
    KEY_TEST,
    KEY_METHOD,
    KEY_SHARE,
    KEY_COUNT,
    KEY_CROSS_VALIDATE,
    KEY_SIMILARITY,
    KEY_CUTOFF,
    KEY_REPEATS,
    KEY_EPOCHS,
    KEY_SCATTER,
    KEY_DENDROGRAM,
    KEY_WATCH,
    KEY_PRIOR,
    KEY_THREADS,
    KEY_JSON
};

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML)", 0},
    {"train", KEY_TRAIN, "FILE...", 0, "LETOR files to select features with; takes several", 0},
    {"vali", KEY_VALI, "FILE...", 0, "LETOR files for validation; takes several", 0},
    {"test", KEY_TEST, "FILE...", 0, "LETOR files to test --cross-validate on (those of --vali)",
     0},
    {"method", KEY_METHOD, "NAME", 0,
     "Method: nfs, xgas, hcas, importance (needs --model), or random, for comparison (hcas)", 0},
    {"share", KEY_SHARE, "P,...", 0, "Sizes in percent of the item features (5,10,20,30,40)", 0},
    {"count", KEY_COUNT, "K", 0, "Size in item features, in place of --share", 0},
    {"model", 'M', "FILE", 0, "Trained model, for --method importance and --watch", 0},
    {"cross-validate", KEY_CROSS_VALIDATE, NULL, 0,
     "Train with each feature set and with all features, and print the NDCG of each", 0},
    {"output", 'o', "FILE", 0, "Reduced manifest, with --count or one --share; with --watch, rules",
     0},
    {"similarity", KEY_SIMILARITY, "OVER", 0,
     "Spearman's correlation over all items, or its mean over lists (items)", 0},
    {"cutoff", KEY_CUTOFF, "K", 0, "Cutoff of NDCG for relevance, importance and impact (10)", 0},
    {"repeats", KEY_REPEATS, "N", 0, "Shuffles per feature of --method importance (5)", 0},
    {"epochs", KEY_EPOCHS, "N", 0, "Epochs of each training (default: of the manifest; nfs: 15)",
     0},
    {"scatter", KEY_SCATTER, "FILE", 0, "Picture (SVG): relevance against redundancy", 0},
    {"dendrogram", KEY_DENDROGRAM, "FILE", 0, "Picture (SVG): clusters of the features", 0},
    {"watch", KEY_WATCH, NULL, 0,
     "Rank features by the impact of a unit change; needs --model and --data", 0},
    {"data", 'd', "FILE...", 0, "With --watch: LETOR files to measure the impact on", 0},
    {"prior", KEY_PRIOR, "NAME=P", 0,
     "With --watch: probability that the unit of a feature, or of a kind, changes within a year",
     0},
    {"seed", 's', "N", 0, "Random seed (0)", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads (number of CPUs); results do not depend on them", 0},
    {"json", KEY_JSON, NULL, 0, "Print the result as JSON", 0},
    {0}};

static void set_file(struct argp_state *state, struct ek_select_args *a, struct ek_files *to,
                     const char *arg)
{
    a->open = to;
    if (!to)
        argp_error(state, "unexpected '%s'; files follow --train, --vali, --test or --data", arg);
    else if (ek_files_add(to, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void set_shares(struct argp_state *state, struct ek_select_args *a, const char *arg)
{
    const char *piece;
    size_t length;
    a->share_count = 0;
    for (const char *at = arg; ek_next_field(&at, &piece, &length);) {
        double percent = 0;
        if (a->share_count == EK_SHARES_MAX)
            argp_error(state, "--share has at most %d numbers", EK_SHARES_MAX);
        if (ek_parse_finite(piece, length, &percent) || !(percent > 0 && percent <= 100))
            argp_error(state,
                       "--share needs percentages above 0 and up to 100 such as 5,10, not '%s'",
                       arg);
        if (a->share_count && percent <= a->share[a->share_count - 1])
            argp_error(state, "the numbers of --share must increase, unlike '%s'", arg);
        a->share[a->share_count++] = percent;
    }
}

static void set_prior(struct argp_state *state, struct ek_select_args *a, char *arg)
{
    const char *sign = strchr(arg, '=');
    double p = 0;
    if (!sign || sign == arg || ek_parse_finite(sign + 1, EK_WHOLE, &p) || p < 0 || p > 1)
        argp_error(
            state,
            "--prior needs a feature or kind and a number from 0 to 1 such as price=0.2, not '%s'",
            arg);
    if (a->prior_count == EK_PRIORS_MAX)
        argp_error(state, "more than %d times --prior", EK_PRIORS_MAX);
    a->chance[a->prior_count++] = arg;
}

static void set_method(struct argp_state *state, struct ek_select_args *a, const char *arg)
{
    a->method =
        (enum ek_select_method)ek_find_word(state, "method", arg, METHODS, EK_SELECT_METHODS);
    a->method_given = true;
}

static void set_similarity(struct argp_state *state, struct ek_select_args *a, const char *arg)
{
    static const char *const words[] = {"items", "lists"};
    a->likeness = (enum ek_spearman)ek_find_word(state, "similarity", arg, words, 2);
    a->similarity_given = true;
}

FILE *ek_select_table(const struct ek_select_args *a)
{
    bool stdout_used =
        ek_is_stdout(a->output) || ek_is_stdout(a->scatter) || ek_is_stdout(a->dendrogram);
    return stdout_used ? stderr : stdout;
}

/* Reject training options that the chosen method does not use. */
static void refuse_idle(struct argp_state *state, const struct ek_select_args *a)
{
    if (a->epochs && (a->watch || (a->method != EK_SELECT_NFS && !a->cross_validate)))
        argp_error(state, "--epochs needs --method nfs or --cross-validate");
    if (a->repeats && (a->watch || a->method != EK_SELECT_IMPORTANCE))
        argp_error(state, "--repeats needs --method importance");
    if (a->similarity_given && (a->watch || a->method == EK_SELECT_NFS))
        argp_error(state, "--similarity excludes --watch and --method nfs, which has its own");
}

/* Reject two outputs with the same path. */
static void refuse_same_files(struct argp_state *state, const struct ek_select_args *a)
{
    const char *path[] = {a->output, a->scatter, a->dendrogram};
    int out = a->json;
    for (int i = 0; i < 3; i++) {
        out += ek_is_stdout(path[i]);
        while (path[i] && !strncmp(path[i], "./", 2))
            path[i] += 2;
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            if (path[i] && path[k] && !ek_is_stdout(path[i]) && !strcmp(path[i], path[k]))
                argp_error(state, "duplicate output '%s'", path[i]);
    if (out > 1)
        argp_error(state, "only one output can use standard output");
}

static void finish_choice(struct argp_state *state, const struct ek_select_args *a)
{
    if (!a->manifest || !a->train.count || !a->vali.count)
        argp_error(state, "--manifest, --train and --vali are needed");
    if (a->data.count || a->prior_count)
        argp_error(state, "--%s needs --watch", a->data.count ? "data" : "prior");
    if (a->count && a->share_count)
        argp_error(state, "--count and --share exclude each other");
    if (a->output && !a->count && a->share_count != 1)
        argp_error(state, "writing '%s' needs --count or one --share", a->output);
    if (a->method == EK_SELECT_IMPORTANCE && !a->model)
        argp_error(state, "--method importance needs --model");
    if (a->model && a->method != EK_SELECT_IMPORTANCE)
        argp_error(state, "--model needs --method importance or --watch");
    if (a->test.count && !a->cross_validate)
        argp_error(state, "--test needs --cross-validate");
}

static void finish_watch(struct argp_state *state, const struct ek_select_args *a)
{
    if (!a->manifest || !a->model || !a->data.count)
        argp_error(state, "--watch needs --manifest, --model and --data");
    if (a->train.count || a->vali.count || a->test.count)
        argp_error(state, "--watch uses --data and excludes --train, --vali and --test");
    if (a->method_given || a->share_count || a->count || a->cross_validate || a->scatter ||
        a->dendrogram)
        argp_error(state,
                   "--watch excludes --method, --share, --count, --cross-validate and pictures");
}

static void finish(struct argp_state *state, struct ek_select_args *a)
{
    static const double shares[] = {5, 10, 20, 30, 40};
    if (a->watch)
        finish_watch(state, a);
    else
        finish_choice(state, a);
    refuse_idle(state, a);
    refuse_same_files(state, a);
    if (!a->repeats)
        a->repeats = 5;
    if (!a->count && !a->share_count) {
        memcpy(a->share, shares, sizeof shares);
        a->share_count = sizeof shares / sizeof *shares;
    }
}

static int parse_numbers(int key, char *arg, struct argp_state *state, struct ek_select_args *a)
{
    switch (key) {
    case KEY_COUNT:
        a->count = (int)ek_cli_parse_integer(state, "count", arg, 1, EK_FEATURES_MAX);
        return 0;
    case KEY_CUTOFF:
        a->cutoff = (int)ek_cli_parse_integer(state, "cutoff", arg, 1, 1000000);
        return 0;
    case KEY_REPEATS:
        a->repeats = (int)ek_cli_parse_integer(state, "repeats", arg, 1, 10000);
        return 0;
    case KEY_EPOCHS:
        a->epochs = (int)ek_cli_parse_integer(state, "epochs", arg, 1, 100000);
        return 0;
    case 's':
        a->seed = ek_cli_parse_integer(state, "seed", arg, 0, UINT64_MAX);
        return 0;
    case KEY_THREADS:
        a->threads = ek_cli_parse_integer(state, "threads", arg, 1, EK_POOL_THREADS_MAX);
        return 0;
    case KEY_SHARE:
        set_shares(state, a, arg);
        return 0;
    case KEY_PRIOR:
        set_prior(state, a, arg);
        return 0;
    case KEY_METHOD:
        set_method(state, a, arg);
        return 0;
    case KEY_SIMILARITY:
        set_similarity(state, a, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct ek_cli_slot SLOTS[] = {
    {KEY_CROSS_VALIDATE, offsetof(struct ek_select_args, cross_validate)},
    {KEY_WATCH, offsetof(struct ek_select_args, watch)},
    {KEY_JSON, offsetof(struct ek_select_args, json)},
    {'m', offsetof(struct ek_select_args, manifest)},
    {'M', offsetof(struct ek_select_args, model)},
    {'o', offsetof(struct ek_select_args, output)},
    {KEY_SCATTER, offsetof(struct ek_select_args, scatter)},
    {KEY_DENDROGRAM, offsetof(struct ek_select_args, dendrogram)},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct ek_select_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case KEY_TRAIN:
        set_file(state, a, &a->train, arg);
        return 0;
    case KEY_VALI:
        set_file(state, a, &a->vali, arg);
        return 0;
    case KEY_TEST:
        set_file(state, a, &a->test, arg);
        return 0;
    case 'd':
        set_file(state, a, &a->data, arg);
        return 0;
    case ARGP_KEY_ARG:
        set_file(state, a, a->open, arg);
        return 0;
    case ARGP_KEY_END:
        finish(state, a);
        return 0;
    default:
        return parse_numbers(key, arg, state, a);
    }
}

static const struct argp ARGP = {
    OPTIONS,
    parse,
    NULL,
    "Select features to train on, or to watch.\vQuery features are always kept.\n\n  evenkeel "
    "select -m f.yaml --train t.txt --vali v.txt --count 8 -o less.yaml\n  evenkeel select --watch "
    "-m features.yaml -M m.safetensors -d v.txt -o r.yaml",
    NULL,
    NULL,
    NULL};

static uint64_t processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > EK_POOL_THREADS_MAX ? EK_POOL_THREADS_MAX : (uint64_t)n;
}

void ek_select_args_parse(struct ek_select_args *a, int argc, char **argv)
{
    *a = (struct ek_select_args){.method = EK_SELECT_HCAS, .cutoff = 10, .threads = processors()};
    ek_cli_parse(&ARGP, argc, argv, ARGP_IN_ORDER, a);
}
