/* Command `profile`: makes a profile of training data. */
#include "base/json.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/commands/profile_halves.h"
#include "daemon/files/field_mapping.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/list_input.h"
#include "detect/evalue_tests.h"
#include "lists/letor.h"
#include "offline/fit/profile_fit.h"
#include "offline/fit/stratum_fit.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Design effect of the level that is reported. */
static const float LARGE_DESIGN_EFFECT = 4;

enum { KEY_JSON = 1, KEY_MERGE, KEY_KEEP, KEY_STRATIFY_BY };

struct arguments {
    const char *manifest, *messages, *stratify_by, *output, *config;
    struct ek_field_mapping field_mapping;
    struct ek_files letor, merge;
    struct ek_files *open; /* option that takes further arguments; NULL before the first */
    bool keep, json;
};

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML); default: that of --config", 0},
    {"letor", 'l', "FILE...", 0, "Training lists as LETOR text; takes several files", 0},
    {"messages", 'i', "FILE", 0, "Training lists as messages or a capture, '-' for standard input",
     0},
    {"merge", KEY_MERGE, "PROFILE...", 0,
     "Profiles written with --keep-lists to merge; takes several files", 0},
    {"keep-lists", KEY_KEEP, NULL, 0,
     "Store statistics of each list, 16 bytes per feature, so that the profile can be merged", 0},
    {"stratify-by", KEY_STRATIFY_BY, "FIELD", 0,
     "Segment dimension or query feature with different normal levels", 0},
    {"output", 'o', "FILE", 0, "Profile to write (.ekp)", 0},
    EK_FIELD_MAPPING_OPTION,
    {"json", KEY_JSON, NULL, 0, "Print the number of lists and items as JSON", 0},
    {0}};

static const struct ek_cli_slot SLOTS[] = {
    {'m', offsetof(struct arguments, manifest)},
    {'i', offsetof(struct arguments, messages)},
    {KEY_STRATIFY_BY, offsetof(struct arguments, stratify_by)},
    {'o', offsetof(struct arguments, output)},
    {'c', offsetof(struct arguments, config)},
    {KEY_JSON, offsetof(struct arguments, json)},
    {KEY_KEEP, offsetof(struct arguments, keep)},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case 'l':
        a->open = &a->letor;
        break;
    case KEY_MERGE:
        a->open = &a->merge;
        break;
    case ARGP_KEY_ARG:
        if (!a->open)
            return ARGP_ERR_UNKNOWN;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    struct ek_error e;
    if (ek_files_add(a->open, arg, &e))
        argp_error(state, "%s", e.message);
    return 0;
}

static const char DOC[] =
    "Make a profile of training lists, with which a stream is compared: level, spread, fractions "
    "and a sketch of each item feature.\v  evenkeel profile -m features.yaml --letor train.txt -o "
    "profile.ekp\n  evenkeel profile -m features.yaml --merge one.ekp two.ekp -o profile.ekp";
static const struct argp ARGP = {OPTIONS, parse, NULL, DOC, NULL, NULL, NULL};

/* A pass over the training lists. */
struct pass {
    struct ek_profile_fit *fit;
    struct ek_profile_halves *halves; /* not NULL: adds the lists here */
    struct ek_progress *progress;
    uint64_t lists;
};

static int add_list(struct pass *p, const struct ek_list *q, struct ek_error *e)
{
    p->lists++;
    return p->halves ? ek_profile_halves_add(p->halves, q, e) : ek_profile_fit_add(p->fit, q, e);
}

static int add_letor(struct pass *pass, const struct ek_manifest *m, const char *path,
                     struct ek_list *q, struct ek_error *e)
{
    struct ek_letor *letor;
    bool more = true;
    uint64_t done, total;
    int rc = ek_letor_open(&letor, m, path, e);
    if (rc)
        return rc;
    while (!rc && !(rc = ek_letor_next(letor, q, &more, e)) && more) {
        rc = add_list(pass, q, e);
        ek_letor_position(letor, &done, &total);
        ek_progress_update(pass->progress, done, total, path);
    }
    ek_letor_close(letor);
    if (rc)
        ek_kind_explain(path, EK_KIND_LETOR, e);
    return rc;
}

static int add_message(void *context, struct ek_list *q, uint64_t number, struct ek_error *e)
{
    struct pass *pass = context;
    ek_progress_update(pass->progress, number, 0, pass->halves ? "lists compared" : "lists");
    return add_list(pass, q, e);
}

static bool too_few_lists(const struct ek_profile *p, int feature)
{
    return !p->category[feature].strata && p->baseline[feature].queries <= EK_LISTS_FOR_LEVEL;
}

/* Warn of features with too few lists; their level is not monitored. */
static void warn_of_few_lists(const struct ek_profile *p)
{
    const char *first = NULL;
    int count = 0;
    for (int f = 0; f < p->features; f++) {
        if (!too_few_lists(p, f))
            continue;
        first = first ? first : p->name[f];
        count++;
    }
    if (!count)
        return;
    fprintf(stderr, "evenkeel: the level of '%s'", first);
    if (count > 1)
        fprintf(stderr, " and %d other feature%s", count - 1, count > 2 ? "s" : "");
    fprintf(stderr, " is not monitored; more than %d lists with a value are needed\n",
            EK_LISTS_FOR_LEVEL);
}

/* Report a property of features by its first one. */
static void warn_of_features(const struct ek_profile *p,
                             bool (*has)(const struct ek_profile *p, int f), const char *text)
{
    int first = -1, count = 0;
    for (int f = 0; f < p->features; f++)
        if (has(p, f)) {
            first = first < 0 ? f : first;
            count++;
        }
    if (!count)
        return;
    fprintf(stderr, "evenkeel: '%s'", p->name[first]);
    if (count > 1)
        fprintf(stderr, " and %d other feature%s", count - 1, count > 2 ? "s" : "");
    fprintf(stderr, ": %s\n", text);
}

static bool is_dependent(const struct ek_profile *p, int f)
{
    return p->baseline[f].deff[EK_RESPECT_LEVEL] >= LARGE_DESIGN_EFFECT;
}

/* Return whether the level of a feature that has one is too unsteady to find x2. */
static bool is_unsteady(const struct ek_profile *p, int f)
{
    const struct ek_baseline *b = &p->baseline[f];
    return b->queries > EK_LISTS_FOR_LEVEL && !ek_bet_delay(b, 2);
}

static void warn_of_dependence(const struct ek_profile *p)
{
    warn_of_features(p, is_dependent,
                     "neighboring lists depend on each other, so faults are found later; "
                     "'evenkeel inspect' shows the delays");
    warn_of_features(p, is_unsteady,
                     "the level is unsteady in training, and x2 is not found; set 'watch: false', "
                     "or use a steadier feature");
}

/* Return the feature whose lists differ least from their segments, compared with all lists. */
static int find_gain(const struct ek_profile *p)
{
    const struct ek_baseline *one = p->by_segment.baseline, *all = p->baseline;
    int best = 0;
    for (int f = 1; f < p->features; f++)
        if (one[f].sd * all[best].sd < one[best].sd * all[f].sd)
            best = f;
    return best;
}

static void report_segments(const struct ek_profile *p)
{
    const struct ek_segment_levels *t = p->segment_levels;
    for (int d = 0; t && d < t->dimensions; d++) {
        int features = ek_segment_levels_features(t, d);
        fprintf(stderr, "%s%s (%d feature%s)",
                d ? ", " : "evenkeel: levels by segment: ", t->dimension[d], features,
                features == 1 ? "" : "s");
    }
    if (!t)
        return;
    int f = find_gain(p);
    double before = (double)p->baseline[f].sd, after = (double)p->by_segment.baseline[f].sd;
    fputs("; they are used if 'segments' of the rules has one of these", stderr);
    if (after < before)
        fprintf(stderr, ", and lower the spread between lists of '%s' from %.3g to %.3g (ln)",
                p->name[f], before, after);
    fputc('\n', stderr);
}

/* Print the result with the keys of `inspect --json`, and the features without a monitored level.
 * halves: NULL if they were not compared. */
static int print_result(const struct arguments *a, const struct ek_profile *p,
                        const struct ek_profile_halves *halves, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_text(&s, "output", a->output);
    ek_json_add_count(&s, "lists", p->queries);
    ek_json_add_count(&s, "items", p->items);
    ek_json_add_text(&s, "stratify_by", p->field);
    ek_json_add_count(&s, "strata", (uint64_t)(p->strata > 1 ? p->strata - 1 : 1));
    ek_json_open(&s, "level_not_watched", '[');
    for (int f = 0; f < p->features; f++)
        if (too_few_lists(p, f))
            ek_json_add_text(&s, NULL, p->name[f]);
    ek_json_close(&s, ']');
    if (halves) {
        ek_json_open(&s, "changed", '[');
        for (int f = 0; f < p->features; f++)
            if (ek_profile_halves_change(halves, f))
                ek_json_add_text(&s, NULL, p->name[f]);
        ek_json_close(&s, ']');
    }
    return ek_json_end_line(&s, stdout, e);
}

/* In LETOR text, query features can only be strata. */
static int check_stratum(const struct arguments *a, const struct ek_manifest *m, struct ek_error *e)
{
    if (!a->stratify_by || !a->letor.count || ek_manifest_query(m, a->stratify_by) >= 0)
        return EK_OK;
    const char *near = ek_manifest_suggest(m, EK_ROLE_QUERY, a->stratify_by);
    if (near)
        return ek_fail(e, EK_EUSAGE,
                       "--stratify-by: unknown query feature '%s', did you mean '%s'?",
                       a->stratify_by, near);
    return ek_fail(
        e, EK_EUSAGE,
        "--stratify-by: LETOR text has no segment '%s'; use a query feature or --messages",
        a->stratify_by);
}

static int load_part(struct ek_profile **out, const struct ek_manifest *m, const char *path,
                     struct ek_error *e)
{
    int rc = ek_profile_load_lists(out, path, e);
    if (rc) {
        ek_kind_explain(path, EK_KIND_PROFILE, e);
        return rc;
    }
    if (ek_profile_check(*out, m, e)) {
        ek_profile_free(*out);
        return ek_error_place(e, path, 0, 0);
    }
    return EK_OK;
}

/* Merge profiles. The first one defines the stratification unless an option does. */
static int add_profiles(const struct arguments *a, const struct ek_manifest *m,
                        struct ek_profile_fit **fit, struct ek_progress *progress,
                        struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < a->merge.count; i++) {
        struct ek_profile *part;
        if ((rc = load_part(&part, m, a->merge.path[i], e)))
            return rc;
        if (!*fit)
            rc = ek_profile_fit_new(fit, m, a->stratify_by ? a->stratify_by : part->field, e);
        if (!rc && (rc = ek_profile_fit_merge(*fit, part, e)))
            ek_error_place(e, a->merge.path[i], 0, 0);
        ek_progress_update(progress, (uint64_t)i + 1, (uint64_t)a->merge.count, "profiles");
        ek_profile_free(part);
    }
    return rc;
}

static int add_lists(const struct arguments *a, const struct ek_manifest *m, struct pass *pass,
                     struct ek_error *e)
{
    struct ek_list q;
    int rc = EK_OK;
    ek_list_init(&q);
    for (int i = 0; !rc && i < a->letor.count; i++)
        rc = add_letor(pass, m, a->letor.path[i], &q, e);
    if (!rc && a->messages)
        rc = ek_message_for_each(m, &a->field_mapping, a->messages, add_message, pass, e);
    if (rc && a->messages)
        ek_kind_explain(a->messages, EK_KIND_MESSAGES, e);
    ek_list_release(&q);
    return rc;
}

/* Return whether the lists can be read a second time and are enough. */
static bool can_compare(const struct arguments *a, uint64_t lists)
{
    bool again = !a->messages || ek_kind_can_reread(a->messages);
    for (int i = 0; i < a->letor.count; i++)
        again = again && ek_kind_can_reread(a->letor.path[i]);
    return again && !a->merge.count && lists >= EK_PROFILE_HALVES_LISTS_MIN;
}

/* Set *out to the comparison; NULL if the first half has no profile. */
static int compare_halves(const struct arguments *a, const struct ek_manifest *m, uint64_t lists,
                          struct ek_progress *progress, struct ek_profile_halves **out,
                          struct ek_error *e)
{
    struct pass pass = {.progress = progress};
    int rc = ek_profile_halves_new(&pass.halves, m, a->stratify_by, lists, e);
    if (!rc)
        rc = add_lists(a, m, &pass, e);
    if (!rc && !ek_profile_halves_compared(pass.halves)) {
        fprintf(stderr,
                "evenkeel: the halves of the lists were not compared: no list of the first "
                "has %s\n",
                a->stratify_by ? a->stratify_by : "items");
        ek_profile_halves_free(pass.halves);
        pass.halves = NULL;
    }
    *out = pass.halves;
    return rc;
}

static void report(const struct ek_profile *profile, const struct ek_profile_halves *halves)
{
    warn_of_few_lists(profile);
    warn_of_dependence(profile);
    if (halves)
        ek_profile_halves_print(halves, stderr);
    report_segments(profile);
}

static int finish(const struct arguments *a, const struct ek_manifest *m, struct pass *pass,
                  struct ek_error *e)
{
    struct ek_profile *profile;
    struct ek_profile_halves *halves = NULL;
    char note[100];
    if (a->keep)
        ek_profile_fit_retain_lists(pass->fit);
    int rc = ek_profile_fit_finish(pass->fit, &profile, e);
    if (rc)
        return rc;
    rc = ek_profile_save(profile, a->output, e);
    if (!rc && can_compare(a, pass->lists))
        rc = compare_halves(a, m, pass->lists, pass->progress, &halves, e);
    int strata = profile->strata > 1 ? profile->strata - 1 : 1;
    snprintf(note, sizeof note, "%llu lists, %llu items, %d %s",
             (unsigned long long)profile->queries, (unsigned long long)profile->items, strata,
             strata > 1 ? "strata" : "stratum");
    if (!rc)
        report(profile, halves);
    if (!rc && a->json)
        rc = print_result(a, profile, halves, e);
    ek_profile_halves_free(halves);
    ek_profile_free(profile);
    if (!rc)
        ek_progress_finish(pass->progress, note);
    return rc;
}

static int make(const struct arguments *a, const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_progress progress;
    struct pass pass = {.progress = &progress};
    int rc = check_stratum(a, m, e);
    if (rc)
        return rc;
    ek_progress_start(&progress, "profile");
    rc = add_profiles(a, m, &pass.fit, &progress, e);
    if (!rc && !pass.fit)
        rc = ek_profile_fit_new(&pass.fit, m, a->stratify_by, e);
    if (!rc)
        rc = add_lists(a, m, &pass, e);
    if (!rc)
        rc = finish(a, m, &pass, e);
    ek_profile_fit_free(pass.fit);
    return rc;
}

int ek_cmd_profile(int argc, char **argv)
{
    struct arguments a = {0};
    const struct ek_asset_options options = {.manifest = &a.manifest};
    struct ek_config *owner;
    struct ek_manifest *m;
    struct ek_error e;
    /* arguments belong to the preceding option */
    ek_cli_parse(&ARGP, argc, argv, ARGP_IN_ORDER, &a);
    bool has_manifest = a.manifest || a.config;
    if (!has_manifest || !a.output || (!a.letor.count && !a.messages && !a.merge.count))
        return ek_cli_usage("profile", "--manifest or --config, --letor, --messages or --merge, "
                                       "and -o are needed");
    if (a.json && ek_is_stdout(a.output))
        return ek_cli_usage("profile", "the profile goes to standard output; --json needs -o FILE");
    if (ek_asset_options_load(&owner, a.config, &options, &e))
        return ek_cli_fail(&e);
    if (ek_manifest_load(&m, a.manifest, &e)) {
        ek_kind_explain(a.manifest, EK_KIND_MANIFEST, &e);
        ek_config_free(owner);
        return ek_cli_fail(&e);
    }
    int rc = ek_field_mapping_load(&a.field_mapping, a.config, &e);
    if (!rc)
        rc = make(&a, m, &e);
    ek_field_mapping_release(&a.field_mapping);
    ek_manifest_free(m);
    ek_config_free(owner);
    return rc ? ek_cli_fail(&e) : EK_EXIT_OK;
}
