#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/files/file_kind.h"
#include "daemon/tools/normalize/normalize.h"
#include "lists/letor.h"

#include <stddef.h>
#include <string.h>

static int add_list(struct ek_dataset *d, const struct ek_list *q, struct ek_error *e)
{
    size_t width = (size_t)d->item_features;
    if ((d->items + (size_t)q->items) * width > EK_NORMALIZE_VALUES_MAX)
        return ek_fail(
            e, EK_ELIMIT,
            "more than %d values (items times %zu features); use fewer lists, or their --profile",
            EK_NORMALIZE_VALUES_MAX, width);
    return ek_dataset_add(d, q, e);
}

static int read_file(struct ek_dataset *d, const struct ek_manifest *m, const char *path,
                     struct ek_list *q, struct ek_progress *progress, struct ek_error *e)
{
    struct ek_letor *letor;
    bool more = true;
    uint64_t done, total;
    size_t before = d->lists;
    int rc = ek_letor_open(&letor, m, path, e);
    if (rc)
        return rc;
    while (!rc && !(rc = ek_letor_next(letor, q, &more, e)) && more) {
        rc = add_list(d, q, e);
        ek_letor_position(letor, &done, &total);
        ek_progress_update(progress, done, total, path);
    }
    ek_letor_close(letor);
    if (!rc && d->lists == before)
        return ek_fail_at(e, EK_EFORMAT, path, 0, 0, "the file has no lists");
    if (rc == EK_EFORMAT)
        ek_kind_explain(path, EK_KIND_LETOR, e);
    return rc;
}

int ek_normalize_read_parts(const struct ek_files *files, const struct ek_manifest *m,
                            struct ek_dataset *d, size_t *lists, struct ek_error *e)
{
    struct ek_progress progress;
    struct ek_list q;
    int rc = EK_OK;
    ek_dataset_init(d, m->item_count, m->query_count);
    ek_list_init(&q);
    ek_progress_start(&progress, "reading");
    for (int i = 0; i < files->count && !rc; i++) {
        size_t before = d->lists;
        rc = read_file(d, m, files->path[i], &q, &progress, e);
        if (lists)
            lists[i] = d->lists - before;
    }
    ek_list_release(&q);
    return rc;
}

int ek_normalize_read(const struct ek_files *files, const struct ek_manifest *m,
                      struct ek_dataset *d, struct ek_error *e)
{
    return ek_normalize_read_parts(files, m, d, NULL, e);
}

enum {
    KEY_JSON = 0x100,
    KEY_VALI,
    KEY_METHOD,
    KEY_REPORT,
    KEY_APPLY,
    KEY_DATA,
    KEY_DATA_MANIFEST,
    KEY_MISSING,
    KEY_EMPTY,
    KEY_CROSS_VALIDATE
};

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "Input:", 1},
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML)", 1},
    {"letor", 'l', "FILE...", 0, "Training lists as LETOR text; takes several files", 1},
    {"profile", 'p', "FILE", 0, "Profile (.ekp) in place of --letor, with values exact to 1.6%", 1},
    {"vali", KEY_VALI, "FILE...", 0,
     "Validation lists for osm; default: the last fifth of the training lists", 1},
    {NULL, 0, NULL, 0, "Method:", 2},
    {"method", KEY_METHOD, "NAME", 0,
     "fdm: by the distribution of each feature's values (default); osm: by trials; or one for all: "
     "minmax, log, arctan, zscore, cdf, log1p, merge",
     2},
    {"empty-lists", KEY_EMPTY, "RULE", 0,
     "With osm and --cross-validate: lists without a relevant item: skip (default), or count as 0 "
     "or 1",
     2},
    {"cross-validate", KEY_CROSS_VALIDATE, "NAMES", OPTION_ARG_OPTIONAL,
     "Only compare the ranking quality of a linear ranker with each of these methods (default: "
     "all) over five folds; five files of --letor are the five parts",
     2},
    {NULL, 0, NULL, 0, "Output:", 3},
    {"output", 'o', "FILE", 0, "Manifest with the choices and their reasons", 3},
    {"report", KEY_REPORT, "FILE", 0, "Histograms of each feature before and after (SVG)", 3},
    {"apply", KEY_APPLY, "FILE...", 0, "Lists to scale; several files may follow", 3},
    {"output-data", KEY_DATA, "FILE", 0, "Scaled lists of --apply (LETOR text)", 3},
    {"output-manifest", KEY_DATA_MANIFEST, "FILE", 0, "Manifest of --output-data", 3},
    {"missing", KEY_MISSING, "RULE", 0,
     "Missing values in --output-data: keep (nan, default) or zero", 3},
    {"json", KEY_JSON, NULL, 0, "Print the choices as JSON", 3},
    {0}};

static void set_file(struct argp_state *state, struct ek_normalize_args *a, const char *arg)
{
    if (!a->open)
        argp_error(state, "unexpected '%s'; files follow --letor, --vali or --apply", arg);
    else if (ek_files_add(a->open, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void set_files(struct argp_state *state, struct ek_normalize_args *a, struct ek_files *to,
                      const char *arg)
{
    a->open = to;
    set_file(state, a, arg);
}

static void check_outputs(struct argp_state *state, const struct ek_normalize_args *a)
{
    const char *const path[] = {a->output, a->report, a->output_data, a->output_manifest};
    static const char *const name[] = {"--output", "--report", "--output-data",
                                       "--output-manifest"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            if (path[i] && path[k] && !ek_is_stdout(path[i]) && !strcmp(path[i], path[k]))
                argp_error(state, "'%s' cannot be both %s and %s", path[i], name[k], name[i]);
    if (ek_is_stdout(a->output) + ek_is_stdout(a->output_data) + ek_is_stdout(a->output_manifest) +
            ek_is_stdout(a->report) + a->json >
        1)
        argp_error(state, "only one output can use standard output");
}

static void finish(struct argp_state *state, const struct ek_normalize_args *a)
{
    if (!a->manifest || (!a->letor.count && !a->profile))
        argp_error(state, "--manifest and --letor or --profile are needed");
    if (a->letor.count && a->profile)
        argp_error(state, "--letor and --profile exclude each other");
    if (a->profile && a->method == EK_METHOD_OSM)
        argp_error(state, "--method osm needs --letor");
    if (a->cross_validate && a->profile)
        argp_error(state, "--cross-validate needs --letor");
    if (a->cross_validate && (a->output || a->report || a->apply.count || a->vali.count ||
                              a->method_given || a->missing_given))
        argp_error(state, "--cross-validate allows only --letor, --empty-lists and --json");
    if (a->vali.count && a->method != EK_METHOD_OSM)
        argp_error(state, "--vali needs --method osm");
    if (!a->apply.count != !a->output_data)
        argp_error(state, "--apply and --output-data need each other");
    if (a->output_manifest && !a->output_data)
        argp_error(state, "--output-manifest needs --output-data");
    if (a->output_data && a->method == EK_METHOD_MERGE && !a->output_manifest)
        argp_error(state, "merge writes three columns for a feature; it needs --output-manifest");
    if (a->missing_given && !a->output_data)
        argp_error(state, "--missing needs --output-data");
    if (a->empty_given && !a->cross_validate && a->method != EK_METHOD_OSM)
        argp_error(state, "--empty-lists needs --method osm or --cross-validate");
    check_outputs(state, a);
}

static error_t parse_file(int key, char *arg, struct argp_state *state, struct ek_normalize_args *a)
{
    switch (key) {
    case 'l':
        set_files(state, a, &a->letor, arg);
        return 0;
    case KEY_VALI:
        set_files(state, a, &a->vali, arg);
        return 0;
    case KEY_APPLY:
        set_files(state, a, &a->apply, arg);
        return 0;
    case ARGP_KEY_ARG:
        set_file(state, a, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct ek_cli_slot SLOTS[] = {
    {'m', offsetof(struct ek_normalize_args, manifest)},
    {'o', offsetof(struct ek_normalize_args, output)},
    {'p', offsetof(struct ek_normalize_args, profile)},
    {KEY_REPORT, offsetof(struct ek_normalize_args, report)},
    {KEY_DATA, offsetof(struct ek_normalize_args, output_data)},
    {KEY_DATA_MANIFEST, offsetof(struct ek_normalize_args, output_manifest)},
    {KEY_JSON, offsetof(struct ek_normalize_args, json)},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const rules[] = {"skip", "0", "1"}, *const missing[] = {"keep", "zero"};
    struct ek_normalize_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case KEY_METHOD:
        a->method_given = true;
        a->method =
            (enum ek_method)ek_find_word(state, "method", arg, ek_method_names(), EK_METHOD_COUNT);
        return 0;
    case KEY_EMPTY:
        a->empty_given = true;
        a->empty = (enum ek_empty)ek_find_word(state, "empty-lists", arg, rules, 3);
        return 0;
    case KEY_MISSING:
        a->missing_given = true;
        a->missing_zero = ek_find_word(state, "missing", arg, missing, 2) == 1;
        return 0;
    case KEY_CROSS_VALIDATE:
        a->cross_validate = true;
        a->crossval_methods = arg;
        return 0;
    case ARGP_KEY_END:
        finish(state, a);
        return 0;
    default:
        return parse_file(key, arg, state, a);
    }
}

void ek_normalize_parse(struct ek_normalize_args *a, int argc, char **argv)
{
    static const char doc[] =
        "Select a transform for each item feature before training: by the distribution of its "
        "values, by trials, or one for all.\v  evenkeel normalize -m features.yaml --letor "
        "train.txt -o scaled.yaml\n  evenkeel normalize -m features.yaml --profile p.ekp --report "
        "p.svg\n  evenkeel normalize -m f.yaml -l a.txt --apply b.txt --output-data scaled.txt";
    static const struct argp argp = {OPTIONS, parse, NULL, doc, NULL, NULL, NULL};
    *a = (struct ek_normalize_args){.empty = EK_EMPTY_SKIP};
    ek_cli_parse(&argp, argc, argv, ARGP_IN_ORDER, a);
}
